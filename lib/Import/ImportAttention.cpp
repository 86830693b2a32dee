//===- ImportAttention.cpp - Finds attention by meaning -------------------===//
//
//   %s = dot_general %q, %k
//   %m = ... iota, compare, select -inf ...
//   %p = ... exponential, sum, divide ...   ->  %o = sp.attention(%q, %k, %v)
//   %o = dot_general %p, %v                          bands [...] scale ...
//
// From each exponential back to the nearest contraction (the scores) and on to
// the contractions of what becomes of it. Whether what lies between is an
// attention is decided by its values, see AttentionMatcher; spelling does not
// matter. What is not taken stays as it is, and a remark says why.
//
//===----------------------------------------------------------------------===//

#include "Gradients/GradientCheck.h"
#include "Match/Reach.h"
#include "Normalize/Softmaxes.h"
#include "Rewrite/LogSumExp.h"
#include "Rewrite/Rewrite.h"

#include "sp/IR/SP.h"
#include "sp/IR/SourceLines.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "sp-import-attention"

namespace mlir::sp {
#define GEN_PASS_DEF_IMPORTATTENTIONPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// An attention and what makes its exponents.
struct Found {
  AttentionMatch match;
  ScoreFunction function;
};

class ImportAttentionPass
    : public sp::impl::ImportAttentionPassBase<ImportAttentionPass> {
public:
  void runOnOperation() override;

private:
  void visit(Operation *exponential);
  std::optional<Found> matchProduct(Operation *scores,
                                    std::pair<Operation *, unsigned> end,
                                    std::optional<Refusal> &refusal,
                                    bool keepsFills = false);
  void eraseUnused(ArrayRef<ScoreFunction> functions);
  void report(const GradientMatch &gradients, StringRef name);
  /// Of scores whose weights are not taken; `isWeighted`: something is
  /// multiplied with these.
  void report(Operation *exponential, Operation *scores, const Refusal &refusal,
              bool isWeighted);
  void report(const AttentionMatch &match, const ScoreFunction &function,
              StringRef name);

  unsigned found = 0;
  bool hasRefused = false;
  llvm::DenseSet<Operation *> done;
};

} // namespace

/// Whether a value is an argument or a constant, seen from another side: a
/// weight, where what it is multiplied with is computed.
static bool isGiven(Value value) {
  Operation *origin = originOf(value).getDefiningOp();
  return !origin || origin->getNumOperands() == 0;
}

void ImportAttentionPass::report(Operation *exponential, Operation *scores,
                                 const Refusal &refusal, bool isWeighted) {
  hasRefused = true;
  // Logits of a vocabulary or of experts are products with a weight.
  bool isLoss = isWeighted && isGiven(scores->getOperand(0)) ==
                                  isGiven(scores->getOperand(1));
  std::string where = describeSourceLine(refusal.location);
  Location loc = exponential->getLoc();
  auto name =
      remark::RemarkOpts::name("AttentionNotTaken").category(DEBUG_TYPE);
  remark::detail::InFlightRemark remark =
      isLoss ? remark::missed(loc, name) : remark::analysis(loc, name);
  remark << "softmax is not taken as attention: "
         << remark::metric("reason", refusal.reason);
  if (!where.empty())
    remark << ", at " << remark::metric("at", where);
}

void ImportAttentionPass::report(const AttentionMatch &match,
                                 const ScoreFunction &function,
                                 StringRef name) {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  int64_t queries = axes.queryLength(labels), keys = labels.size(axes.key);
  remark::detail::InFlightRemark remark = remark::passed(
      match.product->getLoc(),
      remark::RemarkOpts::name("AttentionFound").category(DEBUG_TYPE));
  remark << "attention " << remark::metric("name", name.str()) << ": "
         << remark::metric("queries", queries) << " queries, "
         << remark::metric("keys", keys) << " keys, mask "
         << remark::metric("mask",
                           std::string(match.bands.name(queries, keys)));
  if (function.function)
    remark << ", scores by a function of single pairs";
  else
    remark << ", scale "
           << remark::metric("scale", match.scale * function.factor);
}

void ImportAttentionPass::report(const GradientMatch &gradients,
                                 StringRef name) {
  remark::detail::InFlightRemark remark = remark::passed(
      gradients.results.front().value.getLoc(),
      remark::RemarkOpts::name("GradientsFound").category(DEBUG_TYPE));
  std::string operands;
  static constexpr std::pair<Gradient, StringLiteral> names[] = {
      {Gradient::Query, "queries"},
      {Gradient::Key, "keys"},
      {Gradient::Value, "values"},
      {Gradient::Sink, "sinks"},
      {Gradient::Term, "terms of scores"}};
  for (const auto &name : names)
    if (llvm::any_of(gradients.results, [&](const auto &result) {
          return result.of == name.first;
        }))
      operands += (operands.empty() ? "" : ", ") + name.second.str();
  remark << "attention " << remark::metric("name", name.str())
         << ": gradients with respect to "
         << remark::metric("operands", operands);
}

/// How to keep weights inside of the loop or branch that hands them on.
static std::string wayOut(Operation *user) {
  return isa<func::FuncOp>(user->getParentOp())
             ? ""
             : "; jax.checkpoint around a layer of a scan, or a branch of a "
               "cond, has gradients make them again";
}

/// A user of what the matches compute that would keep their scores alive.
static std::optional<Refusal>
findEscape(ArrayRef<AttentionMatch> matches,
           const std::optional<GradientMatch> &gradients) {
  llvm::SmallPtrSet<Operation *, 32> inside;
  llvm::SmallPtrSet<Operation *, 4> results;
  for (const AttentionMatch &match : matches) {
    for (Operation *op : operationsOf(match))
      inside.insert(op);
    results.insert(match.results.back().value.getDefiningOp());
  }
  if (gradients) {
    inside.insert_range(gradients->operations);
    for (const GradientMatch::Result &result : gradients->results)
      results.insert(result.value.getDefiningOp());
  }
  for (Operation &op : *matches.front().product->getBlock())
    for (Operation *user : op.getUsers())
      if (inside.contains(&op) && !results.contains(&op) &&
          !inside.contains(user) && !isa<LogSumExpOp>(user) &&
          !isOpTriviallyDead(user))
        return Refusal{"its scores or weights are used again by '" +
                           user->getName().getStringRef().str() + "'" +
                           wayOut(user),
                       user->getLoc()};
  for (const AttentionMatch &match : matches)
    if (std::optional<Refusal> refusal = refuseLogSumExps(match, gradients))
      return refusal;
  return std::nullopt;
}

std::optional<Found> ImportAttentionPass::matchProduct(
    Operation *scores, std::pair<Operation *, unsigned> end,
    std::optional<Refusal> &refusal, bool keepsFills) {
  auto [product, valueOperand] = end;
  // As a scaled product first, which kernels are fastest at.
  bool hasZeros = false;
  for (auto [inputs, keepsZeros] :
       {std::pair(Inputs::Operands, false), std::pair(Inputs::Any, false),
        std::pair(Inputs::Any, true)}) {
    if (keepsZeros && !hasZeros)
      break;
    AttentionMatcher matcher(scores, product, valueOperand, inputs);
    matcher.keepsZeros = keepsZeros;
    matcher.keepsFills = keepsFills;
    std::optional<AttentionMatch> match = matcher.run();
    hasZeros = matcher.hasZeros;
    ScoreFunction function;
    if (match && match->score) {
      Type element = chooseElement(*match);
      if (!element.isF64())
        element = Float32Type::get(&getContext());
      if (auto built = buildScoreFunction(*match, element)) {
        function = *built;
      } else {
        match.reset();
        matcher.refusal = {"its scores depend on pairs in another way than "
                           "element by element",
                           product->getLoc()};
      }
    }
    if (match)
      return Found{std::move(*match), function};
    if (inputs == Inputs::Any && !refusal)
      refusal = matcher.refusal;
  }
  return std::nullopt;
}

/// The function in the module, which has it already where another attention has
/// the same score function; null for none.
static func::FuncOp placeGradient(OwningOpRef<func::FuncOp> &function,
                                  Operation *module) {
  if (!function || !*function)
    return {};
  for (auto known : cast<ModuleOp>(module).getOps<func::FuncOp>())
    if (known.getName().starts_with(function->getName()) &&
        isSameFunction(known, *function))
      return known;
  SymbolTable symbols(module);
  func::FuncOp placed = function.release();
  symbols.insert(placed);
  return placed;
}

/// Erases score functions that no attention has.
void ImportAttentionPass::eraseUnused(ArrayRef<ScoreFunction> functions) {
  // Several may have the same one.
  llvm::SetVector<Operation *> unused;
  for (ScoreFunction made : functions)
    if (made.function &&
        SymbolTable::symbolKnownUseEmpty(made.function, getOperation()))
      unused.insert(made.function);
  for (Operation *function : unused)
    function->erase();
}

void ImportAttentionPass::visit(Operation *exponential) {
  if (done.contains(exponential))
    return;
  Operation *scores = findScores(exponential);
  if (!scores)
    return;
  Reach reach(exponential, scores);
  if (!reach.isSummed || !isStatic(scores))
    return;
  std::vector<AttentionMatch> matches;
  std::optional<Refusal> refusal;
  SmallVector<ScoreFunction> functions;
  PairProducts others;
  auto take = [&](std::pair<Operation *, unsigned> end) {
    if (std::optional<Found> found = matchProduct(scores, end, refusal)) {
      matches.push_back(std::move(found->match));
      functions.push_back(found->function);
    } else {
      others.push_back(end);
    }
  };
  llvm::for_each(reach.products, take);
  llvm::append_range(others, reach.closed);
  // A program of gradients alone leaves the result out.
  if (matches.empty())
    if (Operation *product = spellOutProduct(scores, exponential, others))
      take({product, 1});
  GradientSearch search;
  OwningOpRef<func::FuncOp> slopes;
  auto differentiate = [&](AttentionMatch &match, ScoreFunction &function) {
    // Rows that no sample of the result was.
    if (match.empty == EmptyRow::Never && meetsEmptyRows(match))
      match.empty = EmptyRow::Nan;
    search = findGradients(match, others, function);
    if (search.gradients && function.function) {
      slopes = differentiateScore(
          function.function,
          llvm::map_to_vector(search.gradients->sums(),
                              [](const auto &sum) { return sum.term; }));
      if (!*slopes) {
        search.refusal = {"its score function has no derivative that is known",
                          match.product->getLoc()};
        search.gradients.reset();
      }
    }
    requestForm(match, match.results.back().value);
  };
  if (matches.size() == 1 && (!others.empty() || !functions[0].terms.empty()))
    differentiate(matches[0], functions[0]);
  if (search.hidesGradients) {
    std::pair<Operation *, unsigned> end = {matches[0].product,
                                            matches[0].valueOperand};
    if (auto again = matchProduct(scores, end, refusal, /*keepsFills=*/true)) {
      ScoreFunction before = std::exchange(functions[0], again->function);
      matches[0] = std::move(again->match);
      differentiate(matches[0], functions[0]);
      if (before.function != functions[0].function)
        eraseUnused(before);
    }
  }
  if (!matches.empty()) {
    refusal = findEscape(matches, search.gradients);
    if (refusal && search.refusal)
      refusal = search.refusal;
  } else if (!refusal) {
    refusal = Refusal{"no contraction sums values with its weights",
                      exponential->getLoc()};
  }
  if (refusal) {
    eraseUnused(functions);
    // A gate, or another exponential that nothing is divided by a sum of.
    if (matches.empty() && !isNormalized(exponential))
      return;
    bool isWeighted = !matches.empty() || !others.empty();
    return report(exponential, scores, *refusal, isWeighted);
  }

  bool readsSums = false;
  for (auto [match, function] : llvm::zip_equal(matches, functions)) {
    std::string name = "layer" + std::to_string(found++);
    for (Operation *op : operationsOf(match))
      done.insert(op);
    report(match, function, name);
    bool isRead = !logSumExpsOf(match).empty();
    bool leavesSums = search.gradients || isRead;
    readsSums |= isRead;
    if (search.gradients)
      readsSums |=
          llvm::any_of(search.gradients->operations, [](Operation *op) {
            return isa<AddLogSumExpGradientOp>(op);
          });
    AttentionOp attention = replaceAttention(match, name, function, leavesSums);
    replaceLogSumExps(match, attention);
    if (!search.gradients)
      continue;
    done.insert_range(search.gradients->operations);
    report(*search.gradients, name);
    replaceGradients(match, *search.gradients, attention,
                     placeGradient(slopes, getOperation()));
  }
  if (readsSums)
    sortBlock(*scores->getBlock());
}

/// Writes exp(-m), which a sink of 0 adds to the sum of exp(s - m), as
/// exp(0 - m).
static void spellOutSinks(Operation *root) {
  root->walk([](stablehlo::ExpOp op) {
    auto negated = op.getOperand().getDefiningOp<stablehlo::NegOp>();
    Operation *shift = negated ? negated.getOperand().getDefiningOp() : nullptr;
    if (!isa_and_nonnull<stablehlo::MaxOp, stablehlo::ReduceOp,
                         stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(
            shift))
      return;
    OpBuilder builder(negated);
    RankedTensorType type = negated.getType();
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value zero = stablehlo::ConstantOp::create(
        builder, op.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(scalar)));
    zero = stablehlo::BroadcastInDimOp::create(builder, op.getLoc(), type, zero,
                                               ArrayRef<int64_t>());
    Value difference = stablehlo::SubtractOp::create(
        builder, op.getLoc(), type, zero, negated.getOperand());
    op->setOperand(0, difference);
  });
}

void ImportAttentionPass::runOnOperation() {
  spellOutSinks(getOperation());
  eraseDead(getOperation());
  SmallVector<Operation *> exponentials;
  getOperation()->walk(
      [&](stablehlo::ExpOp op) { exponentials.push_back(op); });
  found = 0;
  hasRefused = false;
  done.clear();
  for (Operation *exponential : exponentials)
    visit(exponential);
  if (found == 0 && !hasRefused)
    remark::analysis(getOperation().getLoc(),
                     remark::RemarkOpts::name("NoSoftmax").category(DEBUG_TYPE))
        << "there is no softmax: exponentials of products of two tensors, "
           "divided by their own sums";
  eraseDead(getOperation());
  lowerLogSumExps(getOperation());
}

#undef DEBUG_TYPE
