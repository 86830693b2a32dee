//===- PlanAttention.cpp - A strategy and a layout for every attention ----===//
//
//   before   sp.attention(%q, %k, %v) ...
//   after    sp.attention(%q, %k, %v) ... plan <axis = "sp", inner = 4, ...>
//
// Gradients get the plan of their attention.
//
//===----------------------------------------------------------------------===//

#include "CheckBatches.h"
#include "CheckTurns.h"
#include "IdleRanks.h"
#include "JointChoice.h"
#include "RingChoice.h"
#include "sp/Plan/Passes.h"
#include "sp/Plan/Strategies.h"

#include "mlir/IR/Remarks.h"

#include <map>
#define DEBUG_TYPE "sp-plan-attention"

namespace mlir::sp {
#define GEN_PASS_DEF_PLANATTENTIONPASS
#include "sp/Plan/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct PlanAttentionPass
    : mlir::sp::impl::PlanAttentionPassBase<PlanAttentionPass> {
  using PlanAttentionPassBase::PlanAttentionPassBase;

  /// The strategy that is asked for; null for auto. Of those that deal batches
  /// there is nothing to choose.
  const Strategy *asked() {
    bool takesRing = strategy == "auto" && tokensPerRank != 0;
    return findStrategy(takesRing ? "ring" : StringRef(strategy));
  }
  int64_t ranks() { return meshOp.getAxisSize(meshOp.getSequence()); }
  PlanAttr makePlan(const AxisFactors &factors, LayoutKind kind,
                    int64_t groups = 1, int64_t split = 1);
  LogicalResult checkOptions(ArrayRef<PlannedAttention> attentions);
  FailureOr<AskedFactors> chooseFactors(ArrayRef<PlannedAttention> attentions);
  FailureOr<LayoutKind> chooseLayout(ArrayRef<PlannedAttention> attentions);
  /// What --strategy=auto chooses from.
  Candidates findCandidates(const PlannedAttention &op,
                            const SequenceLayouts &layouts);
  SmallVector<Candidates> findCandidates(ArrayRef<PlannedAttention> attentions,
                                         LayoutKind kind);
  RingChoice ringChoice() {
    return {{backward, bidirectional, turns, /*isFree=*/!asked()},
            meshOp.getAxisSize(meshOp.getBatch())};
  }
  int64_t gatheredGroups(const PlannedAttention &op);
  void placeProcesses(PlanAttr plan);

  void runOnOperation() override;

  MeshOp meshOp;
};

PlanAttr PlanAttentionPass::makePlan(const AxisFactors &factors,
                                     LayoutKind kind, int64_t groups,
                                     int64_t split) {
  auto [heads, outer, inner, gather, merge, isDirect] = factors;
  // One rank has all positions, in order.
  if (factors.product() == 1 && (turns > 1 || kind == LayoutKind::Batch))
    kind = LayoutKind::Contiguous;
  bool sharesRows = factors.heads > 1 && factors.ring() > 1;
  return PlanAttr::get(
      &getContext(),
      meshOp.getSequence().value_or(AxisAttr::get(&getContext(), "")), heads,
      outer, inner, gather, kind,
      placement == "context-first" ? Placement::ContextFirst
                                   : Placement::HeadFirst,
      heads > 1 || gather > 1 ? groups : 1, bidirectional && inner > 1,
      /*queriesTravel=*/false, turns,
      kind == LayoutKind::Batch ? tokensPerRank.getValue() : 0,
      sharesRows || factors.product() == 1 ? 1 : split, isDirect, merge);
}

int64_t leastKvHeads(ArrayRef<PlannedAttention> attentions) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const PlannedAttention &op : attentions)
    least = std::min(least, op.kvHeads);
  return least;
}

/// The groups in which heads are gathered.
int64_t PlanAttentionPass::gatheredGroups(const PlannedAttention &op) {
  if (headGroups > 1 || !op.hasEvenHeads())
    return headGroups;
  return std::min<int64_t>(gatherGroups, op.kvHeads);
}

/// Which options go with which strategies.
LogicalResult
PlanAttentionPass::checkOptions(ArrayRef<PlannedAttention> attentions) {
  Location loc = attentions.front().getLoc();
  if (placement != "head-first" && placement != "context-first")
    return emitError(loc)
           << "expected --placement to be head-first or context-first but "
              "got \""
           << placement << "\"";
  if (!backward.empty() && backward != "kv" && backward != "q")
    return emitError(loc) << "expected --backward to be kv or q but got \""
                          << backward << "\"";
  using Takes = bool (*)(const Strategy &);
  Takes takesHeads = [](const Strategy &one) { return one.takesHeads; },
        takesInner = [](const Strategy &one) { return one.takesInner; },
        takesGroups = [](const Strategy &one) { return one.takesGroups; },
        hasRing = [](const Strategy &one) { return one.hasRing; };
  auto check = [&](bool isGiven, StringRef option, Takes takes,
                   bool withAuto) -> LogicalResult {
    if (!isGiven || (asked() ? takes(*asked()) : withAuto))
      return success();
    return emitError(loc) << "expected " << option
                          << " with --strategy=" << (withAuto ? "auto, " : "")
                          << listStrategies(takes) << " only but got \""
                          << strategy << "\"";
  };
  return success(
      succeeded(check(heads != 0, "--heads", takesHeads, false)) &&
      succeeded(check(inner != 0, "--inner", takesInner, false)) &&
      succeeded(check(bidirectional, "--bidirectional", hasRing, false)) &&
      succeeded(check(!backward.empty(), "--backward", hasRing, true)) &&
      succeeded(check(headGroups != 1, "--head-groups", takesGroups, false)));
}

FailureOr<AskedFactors>
PlanAttentionPass::chooseFactors(ArrayRef<PlannedAttention> attentions) {
  if (failed(checkOptions(attentions)))
    return failure();
  AskedFactors factors{heads, inner, headGroups};
  if (!asked())
    return factors;
  auto refuse = [&](const Twine &text) {
    emitError(attentions.front().getLoc()) << text;
    return failure();
  };
  if (heads < 0 || (heads != 0 && ranks() % heads != 0))
    return refuse("expected --heads to divide the " + Twine(ranks()) +
                  " ranks of the sequence but got " + Twine(heads));
  if (asked()->takesHeads && heads == 0)
    for (factors.heads = std::min(ranks(), leastKvHeads(attentions));
         ranks() % factors.heads != 0;)
      --factors.heads;
  AskedFactors ofHeads{factors.heads, 0, 1};
  int64_t sharing = asked()->factors(ranks(), ofHeads).heads,
          ring = ranks() / sharing;
  if (inner < 0 || (inner != 0 && ring % inner != 0))
    return refuse("expected --inner to divide the " + Twine(ring) +
                  " ranks of the ring but got " + Twine(inner));
  int64_t most = std::max<int64_t>(1, leastKvHeads(attentions) / sharing);
  if (headGroups < 1 || headGroups > most)
    return refuse("expected --head-groups to be at most " + Twine(most) +
                  ", the kv heads of a rank, but got " + Twine(headGroups));
  for (const PlannedAttention &op : attentions)
    if (headGroups > 1 && !op.hasEvenHeads())
      return refuse("expected --head-groups where each kv head serves as many "
                    "query heads but " +
                    op.getName() + " has " + Twine(op.heads) +
                    " query heads for " + Twine(op.kvHeads) +
                    " kv heads; leave it out");
  return factors;
}

FailureOr<LayoutKind>
PlanAttentionPass::chooseLayout(ArrayRef<PlannedAttention> attentions) {
  if (tokensPerRank != 0)
    return LayoutKind::Batch;
  if (layout != "auto") {
    std::optional<LayoutKind> kind = symbolizeLayoutKind(layout);
    if (!kind || *kind == LayoutKind::Batch)
      return getOperation().emitError()
             << "expected --layout to be auto, contiguous, zigzag or striped "
                "but got \""
             << layout << "\"";
    return *kind;
  }
  // What the user planned in the IR decides for all.
  for (const PlannedAttention &op : attentions)
    if (op.plan && op.plan.getRanks() > 1)
      return op.plan.getLayout();
  // Neighbouring positions need the fewest transfers; zigzag where they would
  // leave one rank much more to do of an attention than the others.
  auto heaviest = [&](const PlannedAttention &op, LayoutKind kind) {
    return static_cast<double>(
        op.estimateArea(makePlan({.gather = ranks()}, kind)));
  };
  constexpr double tolerated = 1.1;
  bool isUneven = llvm::any_of(attentions, [&](const PlannedAttention &op) {
    return meshOp.getSequence() &&
           heaviest(op, LayoutKind::Contiguous) >
               tolerated * heaviest(op, LayoutKind::Zigzag);
  });
  return isUneven ? LayoutKind::Zigzag : LayoutKind::Contiguous;
}

Candidates PlanAttentionPass::findCandidates(const PlannedAttention &op,
                                             const SequenceLayouts &layouts) {
  RingChoice ring = ringChoice();
  if (op.plan)
    return {{op.plan, ring.bytesOf(op, op.plan), 0}};
  Candidates candidates;
  auto consider = [&](const Strategy &tried, const AskedFactors &asked) {
    AxisFactors factors = tried.factors(ranks(), asked);
    for (LayoutKind kind : layouts.kinds)
      for (int64_t split : layouts.splits) {
        PlanAttr plan = makePlan(factors, kind, asked.groups, split);
        // With a ring beside them heads have a split of their own.
        bool isFirst = split == layouts.splits.front();
        if (plan.sharesRingRows() && !isFirst)
          continue;
        plan = ring.choose(op, plan);
        candidates.push_back({plan, ring.bytesOf(op, plan), op.workOf(plan)});
        if (!isFirst || kind != layouts.kinds.front())
          continue;
        std::string text = tried.name.str();
        if (asked.heads)
          text += " with " + std::to_string(asked.heads) + " heads";
        remark::analysis(
            op.getLoc(),
            remark::RemarkOpts::name("Alternative").category(DEBUG_TYPE))
            << remark::metric("name", op.getName()) << ": "
            << remark::metric("strategy", text) << " would send "
            << remark::metric("bytes", candidates.back().bytes)
            << " bytes a rank";
      }
  };
  for (const Strategy &tried : strategies()) {
    if (!tried.takesTurns() && turns > 1)
      continue;
    if (tried.isTried && (!tried.gathersQueries || !op.dealsPairs(ranks())))
      consider(tried, {0, 0, tried.gathersKeys ? gatheredGroups(op) : 1});
    if (tried.isTriedByHeads)
      for (int64_t factor : headFactors(op.heads, ranks()))
        consider(tried, {factor, 0, 1});
  }
  return candidates;
}

SmallVector<Candidates>
PlanAttentionPass::findCandidates(ArrayRef<PlannedAttention> attentions,
                                  LayoutKind kind) {
  SequenceLayouts layouts = findLayouts(
      attentions, kind, /*isKindOpen=*/layout == "auto", ranks(), turns);
  SmallVector<Candidates> candidates;
  // Layers are alike, as a rule.
  std::map<SmallVector<int64_t>, size_t> first;
  for (auto [i, op] : llvm::enumerate(attentions)) {
    auto [known, isNew] = first.try_emplace(op.key(), i);
    candidates.push_back(isNew ? findCandidates(op, layouts)
                               : candidates[known->second]);
  }
  return candidates;
}

/// Neighbouring processes are neighbours in the ring, which then varies faster
/// than the heads.
void PlanAttentionPass::placeProcesses(PlanAttr plan) {
  if (plan.getPlacement() == Placement::HeadFirst || plan.getHeads() == 1 ||
      plan.getRing() == 1)
    return;
  SmallVector<AxisAttr> factors;
  for (MeshAxisAttr axis : meshOp.getMesh().getAxes()) {
    if (axis.getName() == plan.getAxis().getName())
      llvm::append_values(factors, plan.getHeadsAxis(), plan.getRingAxis());
    else
      factors.push_back(AxisAttr::get(&getContext(), axis.getName()));
  }
  meshOp.setProcessesAttr(AxisListAttr::get(&getContext(), factors));
}

void PlanAttentionPass::runOnOperation() {
  meshOp = getMesh(getOperation());
  if (!meshOp) {
    getOperation().emitError() << "expected a mesh; run sp-assign-mesh first";
    return signalPassFailure();
  }
  if (strategy != "auto" && !asked()) {
    getOperation().emitError()
        << "expected --strategy to be auto, "
        << listStrategies([](const Strategy &) { return true; })
        << " but got \"" << strategy << "\"";
    return signalPassFailure();
  }
  std::vector<PlannedAttention> attentions = findAttentions(getOperation());
  bool isExplicit = asked() && asked()->spreads();
  if (attentions.empty()) {
    if (isExplicit || turns > 1) {
      InFlightDiagnostic error = getOperation().emitError()
                                 << "expected an attention for ";
      if (tokensPerRank != 0)
        error << "--tokens-per-rank";
      else if (isExplicit)
        error << "strategy \"" << strategy << "\"";
      else
        error << "--chunks";
      error << " but the model has none that could be taken; --explain says "
               "why, --strategy=none compiles it for every rank to do whole";
      return signalPassFailure();
    }
    explainNoAttention(getOperation(), strategy == "auto" ? meshOp : MeshOp());
    return;
  }
  if (isExplicit && !meshOp.getSequence()) {
    getOperation().emitError()
        << "expected an axis that shards the sequence for strategy \""
        << strategy << "\" but mesh " << meshOp.getMesh().getText()
        << " has none; name it with --seq-axis";
    return signalPassFailure();
  }
  if (failed(checkTurns(turns, asked(), backward,
                        meshOp.getSequence() ? ranks() : 1, tokensPerRank,
                        attentions)))
    return signalPassFailure();
  FailureOr<LayoutKind> kind = chooseLayout(attentions);
  if (failed(kind))
    return signalPassFailure();
  FailureOr<AskedFactors> factors = chooseFactors(attentions);
  if (failed(factors))
    return signalPassFailure();
  if (tokensPerRank != 0 &&
      failed(checkBatches(
          {tokensPerRank, asked(), asked()->factors(ranks(), *factors), layout,
           turns, bidirectional, meshOp.getAxisSize(meshOp.getBatch())},
          ranks(), attentions)))
    return signalPassFailure();
  bool counts = !asked() && meshOp.getSequence();
  const Strategy &wanted = asked() ? *asked() : strategies().front();
  SmallVector<Candidates> candidates;
  if (counts)
    candidates = findCandidates(attentions, *kind);
  SmallVector<PlanAttr> chosen =
      counts ? choosePlans(attentions, candidates) : SmallVector<PlanAttr>();
  for (auto [i, op] : llvm::enumerate(attentions)) {
    if (op.plan) {
      op.setPlan(op.plan);
      continue;
    }
    if (wanted.gathersKeys)
      factors->groups = gatheredGroups(op);
    PlanAttr plan = counts ? chosen[i]
                           : ringChoice().choose(
                                 op, makePlan(wanted.factors(ranks(), *factors),
                                              *kind, factors->groups));
    op.setPlan(plan);
    placeProcesses(plan);
    remark::passed(op.getLoc(),
                   remark::RemarkOpts::name("Planned").category(DEBUG_TYPE))
        << remark::metric("name", op.getName()) << ": "
        << remark::metric("plan", textOf(plan)) << ", "
        << remark::metric("choice", !counts ? "as asked for"
                                    : plan == cheapest(candidates[i]).plan
                                        ? "chosen by counted bytes"
                                        : "chosen by bytes of all attentions");
    explainIdleRanks(op, plan, meshOp);
    if (failed(ringChoice().explain(op, plan)))
      return signalPassFailure();
  }
}

} // namespace
#undef DEBUG_TYPE
