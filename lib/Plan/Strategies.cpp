//===- Strategies.cpp - The table of strategies ---------------------------===//
//
//   name          factors of P ranks          published as
//   none          1                           whole on every rank
//   ring          inner = P                   Ring Attention, Megatron-CP
//   ulysses       heads = P                   DeepSpeed-Ulysses
//   allgather     gather = P                  Llama 3's context parallelism
//   2d            heads = H, ring of P / H    LoongTrain, USP
//   double-ring   windows of W, P / W of them LoongTrain
//   halo          inner = P, direct           halos of stencils
//   split-kv      merge = P                   Flash-Decoding, vLLM's decode
//
//===----------------------------------------------------------------------===//

#include "sp/Plan/Strategies.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sp;

/// A ring of windows; a window of one rank is no window: the outer ring is the
/// ring.
static AxisFactors ringOf(int64_t heads, int64_t ring, int64_t window) {
  int64_t inner = window > 1 ? window : ring;
  return {.heads = heads, .outer = ring / inner, .inner = inner};
}

/// The ranks of a window where nobody says: of what divides the ring the least
/// that makes no more windows than a window has ranks.
static int64_t windowOf(int64_t ring) {
  int64_t window = 1;
  while (ring % window != 0 || ring / window > window)
    ++window;
  return window;
}

static constexpr Strategy kStrategies[] = {
    {.name = "none",
     .factors = [](int64_t, const AskedFactors &) { return AxisFactors(); },
     .isOf = [](const AxisFactors &) { return false; }},
    {.name = "ring",
     .factors = [](int64_t ranks,
                   const AskedFactors &) { return ringOf(1, ranks, 0); },
     .isOf =
         [](const AxisFactors &factors) {
           return factors.heads == 1 && factors.outer == 1 &&
                  factors.inner > 1 && !factors.isDirect;
         },
     .hasRing = true,
     .dealsBatches = true,
     .isTried = true},
    {.name = "ulysses",
     .factors =
         [](int64_t ranks, const AskedFactors &) {
           return AxisFactors{.heads = ranks};
         },
     .isOf =
         [](const AxisFactors &factors) {
           return factors.heads > 1 && factors.ring() == 1;
         },
     .takesGroups = true,
     .isTried = true},
    {.name = "allgather",
     .factors =
         [](int64_t ranks, const AskedFactors &) {
           return AxisFactors{.gather = ranks};
         },
     .isOf = [](const AxisFactors &factors) { return factors.gather > 1; },
     .takesGroups = true,
     .gathersKeys = true,
     .isTried = true},
    {.name = "double-ring",
     .factors =
         [](int64_t ranks, const AskedFactors &asked) {
           return ringOf(1, ranks,
                         asked.inner > 0 ? asked.inner : windowOf(ranks));
         },
     .isOf =
         [](const AxisFactors &factors) {
           return factors.heads == 1 && factors.outer > 1;
         },
     .takesInner = true,
     .hasRing = true},
    {.name = "halo",
     .factors =
         [](int64_t ranks, const AskedFactors &) {
           AxisFactors factors = ringOf(1, ranks, 0);
           factors.isDirect = ranks > 1;
           return factors;
         },
     .isOf =
         [](const AxisFactors &factors) {
           return factors.heads == 1 && factors.isDirect;
         }},
    {.name = "2d",
     .factors =
         [](int64_t ranks, const AskedFactors &asked) {
           int64_t heads = std::max<int64_t>(asked.heads, 1);
           return ringOf(heads, ranks / heads, asked.inner);
         },
     .isOf =
         [](const AxisFactors &factors) {
           return factors.heads > 1 && factors.ring() > 1;
         },
     .takesHeads = true,
     .takesInner = true,
     .takesGroups = true,
     .hasRing = true,
     .dealsBatches = true,
     .isTriedByHeads = true},
    {.name = "split-kv",
     .factors =
         [](int64_t ranks, const AskedFactors &) {
           return AxisFactors{.merge = ranks};
         },
     .isOf = [](const AxisFactors &factors) { return factors.merge > 1; },
     .gathersQueries = true,
     .isTried = true},
};

ArrayRef<Strategy> mlir::sp::strategies() { return kStrategies; }

const Strategy *mlir::sp::findStrategy(StringRef name) {
  const Strategy *found = llvm::find_if(
      kStrategies, [&](const Strategy &one) { return one.name == name; });
  return found == std::end(kStrategies) ? nullptr : found;
}

const Strategy &mlir::sp::strategyOf(PlanAttr plan) {
  AxisFactors factors{plan.getHeads(),  plan.getOuter(), plan.getInner(),
                      plan.getGather(), plan.getMerge(), plan.getDirect()};
  const Strategy *found = llvm::find_if(
      kStrategies, [&](const Strategy &one) { return one.isOf(factors); });
  return found == std::end(kStrategies) ? kStrategies[0] : *found;
}

static std::string dealtBy(PlanAttr plan) {
  if (plan.getLayout() != LayoutKind::Batch)
    return stringifyLayoutKind(plan.getLayout()).str();
  return "each document on as few as hold it, at most " +
         std::to_string(plan.getHolds()) + " tokens a rank";
}

std::string mlir::sp::textOf(PlanAttr plan) {
  std::string text = strategyOf(plan).name.str() + ": whole on every rank";
  if (plan.getRanks() > 1)
    text = strategyOf(plan).name.str() + " over " +
           std::to_string(plan.getRanks()) + " ranks, " + dealtBy(plan) +
           (plan.getBidirectional() ? ", both ways at once" : "") +
           (plan.getDirect() ? ", straight to ranks that see them" : "") +
           (plan.getGroups() > 1
                ? ", " + std::to_string(plan.getGroups()) + " groups of heads"
                : "");
  if (plan.getTurns() > 1)
    text += ", queries in " + std::to_string(plan.getTurns()) + " turns";
  return text;
}

std::string mlir::sp::listStrategies(function_ref<bool(const Strategy &)> takes,
                                     StringRef last) {
  SmallVector<StringRef> names;
  for (const Strategy &one : kStrategies)
    if (takes(one))
      names.push_back(one.name);
  std::string text;
  for (auto [number, name] : llvm::enumerate(names)) {
    if (number > 0)
      text += number + 1 == names.size() ? last.str() : ", ";
    text += name;
  }
  return text;
}
