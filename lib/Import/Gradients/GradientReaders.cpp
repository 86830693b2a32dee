//===- GradientReaders.cpp - What else is made of an attention's pairs ----===//
//
// Besides the gradients of queries, keys and values a program makes those of
// sinks of the sums of rows, and those of what its scores read of the pairs:
//
//   %ds = multiply %p, ...              %dq, %dk, %dv, %db =
//   %db = reduce(%ds) add over batch ->    sp.attention_backward(...)
//   %t  = transpose %db                 scatter(..., transpose %db)
//   scatter(..., %t)
//
// They are looked for where something outside of what was matched reads from
// it: as late as possible, so that little is kept, but before what one
// attention has no part in.
//
//===----------------------------------------------------------------------===//

#include "Expression/Rearranger.h"
#include "Gradients/GradientCheck.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::sp;

/// How many readers are looked at.
static constexpr size_t maxReaders = 64;

SmallVector<TermSum> GradientMatch::sums() const {
  SmallVector<TermSum> sums;
  for (const Result &result : results)
    if (result.of == Gradient::Term && !llvm::is_contained(sums, result.sum))
      sums.push_back(result.sum);
  return sums;
}

bool GradientMatcher::isResult(Operation *op) const {
  return op == match.results.back().value.getDefiningOp() ||
         llvm::any_of(gradients.results, [&](const auto &result) {
           return result.value.getDefiningOp() == op;
         });
}

/// The nodes of what exponents read as a term: one, or several lookups.
static SmallVector<const Node *, 1> findTerm(const AttentionMatch &match,
                                             const ScoreTerm &term) {
  const Component &component = *match.component;
  const AxisLabels &labels = component.labels;
  SmallVector<const Node *, 1> found;
  std::optional<Exponential> exponential =
      findExponential(component, match.axes.key);
  if (!exponential)
    return found;
  Labels over = labels.resolveDims(term.labels);
  for (const Node *node : below(exponential->exponent())) {
    auto lookup = dyn_cast_or_null<stablehlo::GatherOp>(node->op);
    bool isTerm =
        term.kind == ScoreTerm::Kind::Table
            ? lookup && lookThroughLoops(lookup.getOperand()) == term.value
            : node->value == term.value &&
                  labels.resolveDims(node->labels) == over;
    if (isTerm)
      found.push_back(node);
  }
  return found;
}

std::optional<GradientMatch::Result>
GradientMatcher::readTerm(const Node *node) {
  if (!hasFunction || !isOver(match, node, Gradient::Term))
    return std::nullopt;
  Axes over = component.labels.resolve(flatten(node->labels));
  SmallVector<SmallVector<const Node *, 1>> nodes;
  for (const ScoreTerm &term : terms)
    nodes.push_back(findTerm(match, term));
  auto readBy = [&](const Node *by, unsigned number) {
    SmallVector<const Node *> others;
    for (ArrayRef<const Node *> some : nodes)
      if (some != ArrayRef(by))
        llvm::append_range(others, some);
    std::optional<GradientMatch::Result> result;
    std::optional<double> emptySlope = slopeOfEmptyRows(match, by, others);
    bool hasEmptyRows = emptySlope != 0.0;
    if (!emptySlope || (hasEmptyRows && match.empty != EmptyRow::Nan))
      return result;
    if (std::optional<double> factor =
            gradientFactor(match, node, Gradient::Term, by,
                           component.anchor(pairs), cotangentOperand, others))
      result = {Gradient::Term,
                node->value,
                node->labels,
                *factor,
                TermSum{number, llvm::is_contained(over, *match.axes.query),
                        llvm::is_contained(over, match.axes.key)},
                hasEmptyRows};
    return result;
  };
  for (auto [number, term] : llvm::enumerate(terms))
    if (nodes[number].size() == 1 && isa<FloatType>(elementOf(term.value)))
      if (auto result = readBy(nodes[number].front(), number))
        return result;
  // Of several lookups in a table no term tells which is which.
  std::optional<Exponential> exponential =
      findExponential(component, match.axes.key);
  if (auto result = readBy(component.scoresNode(), scoreTerm))
    return result;
  return readBy(exponential->exponent(), exponentTerm);
}

/// What a value is the gradient of: that of a sink before that of scores, of
/// which rows sum up to the same.
std::optional<GradientMatch::Result> GradientMatcher::readAs(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  Component::Snapshot before = component.save();
  const Node *node = requestForm(match, value);
  // The formulas are of cotangents and values, over the axes of the forward.
  bool isKnown = node && (component.anchor(pairs)->node ||
                          component.request(pairs->getResult(0)));
  std::optional<SourceChain::Link> known = cotangent;
  if (isKnown && !arePairsTied())
    isKnown = succeeded(tiePairs()) && (node = requestForm(match, value));
  isKnown = isKnown && arePairsTied() && isWhole(match) &&
            hasKnownPositions(match, node, Inputs::Any);
  std::optional<GradientMatch::Result> result;
  if (isKnown && hasSink && isOver(match, node, Gradient::Sink))
    if (std::optional<double> factor =
            gradientFactor(match, node, Gradient::Sink, nullptr,
                           component.anchor(pairs), cotangentOperand))
      result = {Gradient::Sink, value, node->labels, *factor};
  if (isKnown && !result)
    result = readTerm(node);
  if (result)
    return result;
  component.restore(before);
  cotangent = known;
  return std::nullopt;
}

/// Takes a gradient in its last form.
void GradientMatcher::accept(GradientMatch::Result result) {
  for (unsigned step = 0; step < maxResultSteps && result.of == Gradient::Term;
       ++step) {
    Operation *next = nextForm(result.value);
    std::optional<GradientMatch::Result> later;
    if (next && !isa<sdy::ShardingConstraintOp>(next) && !narrows(next))
      later = readAs(next->getResult(0));
    if (!later)
      break;
    result = *later;
  }
  requestForm(match, result.value);
  gradients.results.push_back(result);
  noteOperations();
}

/// Whether all that becomes of an operation outside of the match are gradients.
/// Values over all pairs are taken only where not all that reads them is one.
bool GradientMatcher::explain(Operation *reader) {
  auto known = explained.find(reader);
  if (known != explained.end())
    return known->second;
  bool canFollow = reader->getBlock() == scores->getBlock() &&
                   reader->getNumResults() == 1 && !contracts(reader) &&
                   !reader->hasTrait<OpTrait::IsTerminator>() &&
                   explained.size() < maxReaders;
  explained[reader] = false;
  std::optional<GradientMatch::Result> found;
  // A constraint of the program stays.
  if (canFollow && !isa<sdy::ShardingConstraintOp>(reader))
    found = readAs(reader->getResult(0));
  bool isSmall = found && !(found->sum.perQuery && found->sum.perKey);
  if (isSmall)
    accept(*found);
  bool isExplained = isSmall || (canFollow && explainReaders(reader, found));
  if (!isExplained && !unexplained &&
      !reader->hasTrait<OpTrait::IsTerminator>())
    unexplained = reader;
  return explained[reader] = isExplained;
}

/// Whether all that reads an operation are gradients, or else it itself is.
bool GradientMatcher::explainReaders(
    Operation *op, const std::optional<GradientMatch::Result> &itself) {
  Progress before = progress();
  bool isExplained =
      llvm::all_of(llvm::to_vector(op->getUsers()), [&](Operation *user) {
        return isInside(user) || isOpTriviallyDead(user) || explain(user);
      });
  if (isExplained || !itself)
    return isExplained;
  progress() = std::move(before);
  accept(*itself);
  return true;
}

void GradientMatcher::matchReaders() {
  if (!pairs || (!hasSink && terms.empty()))
    return;
  for (Operation &op : *scores->getBlock()) {
    if (!isInside(&op) || isResult(&op))
      continue;
    unexplained = nullptr;
    Progress before = progress();
    if (explainReaders(&op, std::nullopt))
      continue;
    progress() = std::move(before);
    std::optional<GradientMatch::Result> itself;
    if (op.getNumResults() == 1)
      itself = readAs(op.getResult(0));
    if (itself) {
      accept(*itself);
    } else if (unexplained) {
      (void)refuse(hasSink ? "what is made of its sums is not the gradient of "
                             "its sink"
                           : "what is made of its pairs is the gradient of "
                             "nothing that its scores read",
                   unexplained->getLoc());
      // Its attention is not taken, whatever else is read.
      return;
    }
  }
}
