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

#include "Gradient.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::sp;

/// How many readers are looked at.
static constexpr size_t maxReaders = 64;

bool GradientMatcher::isResult(Operation *op) const {
  return op == match.results.back().value.getDefiningOp() ||
         llvm::any_of(gradients.results, [&](const auto &result) {
           return result.value.getDefiningOp() == op;
         });
}

/// The node of what the exponents read, or null where it is not one node.
const Node *GradientMatcher::findTerm(const ScoreTerm &term) const {
  bool isTable = term.kind == ScoreTerm::Kind::Table;
  if (!isa<FloatType>(
          cast<RankedTensorType>(term.value.getType()).getElementType()))
    return nullptr;
  const Node *found = nullptr;
  Labels over = component.labels.resolveDims(term.labels);
  for (const std::unique_ptr<Node> &node : component.all()) {
    if (node->scored)
      continue;
    auto lookup = dyn_cast_or_null<stablehlo::GatherOp>(node->op);
    bool isTerm =
        isTable ? lookup && lookThroughLoops(lookup.getOperand()) == term.value
                : node->value == term.value &&
                      component.labels.resolveDims(node->labels) == over;
    if (isTerm && found)
      return nullptr;
    if (isTerm)
      found = node.get();
  }
  return found;
}

std::optional<GradientMatch::Result>
GradientMatcher::readTerm(const Node *node) {
  if (!isOver(node, Gradient::Term))
    return std::nullopt;
  Axes over = component.labels.resolve(flatten(node->labels));
  for (auto [number, term] : llvm::enumerate(terms)) {
    const Node *by = findTerm(term);
    std::optional<double> factor;
    if (by && slopeOfEmptyRows(match, by) == 0.0)
      factor = gradientFactor(match, node, Gradient::Term, by,
                              component.anchor(pairs), cotangentOperand);
    if (!factor)
      continue;
    GradientMatch::TermSum sum = {unsigned(number),
                                  llvm::is_contained(over, *match.axes.query),
                                  llvm::is_contained(over, match.axes.key)};
    const auto *known = llvm::find(gradients.sums, sum);
    unsigned index = known - gradients.sums.begin();
    if (known == gradients.sums.end())
      gradients.sums.push_back(sum);
    return GradientMatch::Result{Gradient::Term, node->value, node->labels,
                                 *factor, index};
  }
  return std::nullopt;
}

/// What a value is the gradient of; rows' parts in that of a sink, if it is the
/// first that may be.
std::optional<GradientMatch::Result> GradientMatcher::readAs(Value value,
                                                             bool isFirst) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  Component::Snapshot before = component.save();
  const Node *node = requestForm(match, value);
  // The formulas are of cotangents and values.
  bool isKnown = node && (component.anchor(pairs)->node ||
                          component.request(pairs->getResult(0)));
  isKnown =
      isKnown && isWhole(match) && hasKnownPositions(match, node, Inputs::Any);
  std::optional<GradientMatch::Result> result;
  if (isKnown && isFirst && hasSink && isOver(node, Gradient::Sink))
    if (std::optional<double> factor =
            gradientFactor(match, node, Gradient::Sink, nullptr,
                           component.anchor(pairs), cotangentOperand))
      result = {Gradient::Sink, value, node->labels, *factor};
  if (isKnown && !result)
    result = readTerm(node);
  if (!result)
    component.restore(before);
  return result;
}

bool GradientMatcher::matchReader(Value value) {
  SmallVector<GradientMatch::TermSum> sums = gradients.sums;
  std::optional<GradientMatch::Result> found = readAs(value, /*isFirst=*/true);
  if (!found)
    return false;
  for (unsigned step = 0; step < maxResultSteps && found->of == Gradient::Term;
       ++step) {
    Operation *next = nextForm(found->value);
    std::optional<GradientMatch::Result> later;
    // Only the last form's sum is asked for.
    SmallVector<GradientMatch::TermSum> own = std::move(gradients.sums);
    gradients.sums = sums;
    if (next)
      later = readAs(next->getResult(0), /*isFirst=*/false);
    if (!later) {
      gradients.sums = std::move(own);
      break;
    }
    found = later;
  }
  requestForm(match, found->value);
  gradients.results.push_back(*found);
  noteOperations();
  return true;
}

/// Whether all that becomes of an operation outside of the match are gradients.
bool GradientMatcher::explain(Operation *reader) {
  auto [entry, isNew] = explained.try_emplace(reader, false);
  if (!isNew)
    return entry->second;
  bool canFollow = reader->getBlock() == scores->getBlock() &&
                   reader->getNumResults() == 1 && !contracts(reader) &&
                   !reader->hasTrait<OpTrait::IsTerminator>() &&
                   explained.size() <= maxReaders;
  bool isExplained = canFollow && (matchReader(reader->getResult(0)) ||
                                   explainReaders(reader));
  return explained[reader] = isExplained;
}

bool GradientMatcher::explainReaders(Operation *op) {
  return llvm::all_of(llvm::to_vector(op->getUsers()), [&](Operation *user) {
    return isInside(user) || isOpTriviallyDead(user) || explain(user);
  });
}

void GradientMatcher::matchReaders() {
  if (!pairs || (!hasSink && terms.empty()))
    return;
  for (Operation &op : *scores->getBlock()) {
    if (!isInside(&op) || isResult(&op))
      continue;
    GradientMatch before = gradients;
    if (explainReaders(&op))
      continue;
    // What it is read by may belong to others too.
    GradientMatch after = std::move(gradients);
    gradients = std::move(before);
    if (op.getNumResults() == 1 && matchReader(op.getResult(0)))
      continue;
    gradients = std::move(after);
    for (Operation *user : op.getUsers())
      if (!isInside(user) && !isOpTriviallyDead(user) && !explain(user) &&
          !user->hasTrait<OpTrait::IsTerminator>())
        (void)refuse(hasSink ? "what is made of its sums is not the gradient "
                               "of its sink"
                             : "what is made of its pairs is the gradient of "
                               "nothing that its scores read",
                     user->getLoc());
  }
}
