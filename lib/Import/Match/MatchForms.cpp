//===- MatchForms.cpp - Which values hold the result ----------------------===//
//
//   %0 = dot_general %weights, %v       equal to the attention: a form
//   %1 = transpose %0                   another form of it
//   %2 = convert %1                     the last one, which is replaced
//   %3 = multiply %2, %gain             none
//
//===----------------------------------------------------------------------===//

#include "Match/Match.h"
#include "Match/ReferenceCheck.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

/// Whether an operation gives another form of its operand, on elements or
/// layout in the same block.
static bool isForm(Operation *user, Value value) {
  bool follows = isElementwise(user) || isIdentity(user) || isLayout(user) ||
                 reducesBy<stablehlo::AddOp>(user);
  return follows && user->getNumResults() == 1 &&
         user->getBlock() == value.getParentBlock();
}

Operation *mlir::sp::nextForm(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  return isForm(user, value) ? user : nullptr;
}

/// Names what is neither analytic nor a part of the scores, if there is such.
LogicalResult AttentionMatcher::refuseDifference() {
  StringRef reason = "its result differs from an attention over the same "
                     "queries, keys and values";
  const Node *node = requestBoth(product->getResult(0));
  Readings readings(*match.component, match.axes.key, {});
  const Node *any =
      node ? readings.findAny(match.component->weights()) : nullptr;
  if (!any)
    return refuse(reason, product->getLoc());
  return refuse(reason + " where '" + any->op->getName().getStringRef() +
                    "' acts, which no function of single scores has",
                any->op->getLoc());
}

LogicalResult AttentionMatcher::verifyResults(const MaskAnalysis &mask) {
  samplePositions(match, mask);
  ReferenceCheck check(match);
  SmallVector<Value> open = {product->getResult(0)};
  for (unsigned step = 0; step < maxResultSteps && !open.empty(); ++step) {
    Value value = open.pop_back_val();
    Component::Snapshot before = match.component->save();
    const Node *node = requestBoth(value);
    bool isKnown =
        node && isWhole(match) && hasKnownPositions(match, node, inputs);
    EmptyRow empty = match.empty;
    bool isEqual = isKnown && check.equals(node, empty);
    if (isEqual) {
      match.empty = empty;
      match.results.push_back({value, node->labels});
      open.clear();
      if (Operation *next = nextForm(value))
        open = {next->getResult(0)};
      continue;
    }
    if (!isKnown || !match.results.empty()) {
      match.component->restore(before);
      continue;
    }
    // Gradients may read what is not normalised yet too.
    for (Operation *user : value.getUsers())
      if (isForm(user, value))
        open.push_back(user->getResult(0));
  }
  if (match.results.empty())
    return refuseDifference();
  // The graph of the last form that matched.
  requestBoth(match.results.back().value);
  return success();
}
