//===- LinearScores.cpp - Weights that are powers of scaled scores --------===//
//
//   exp(select(%mask, %scores * c, -inf) - %max) / %sum       linear
//   exp(%scores / (1 + exp(%scores - 57)))                    not, though equal
//                                                             on many samples
//   exp(%scores) / sqrt(%sum * %sum)                          neither
//
//===----------------------------------------------------------------------===//

#include "Scores/WeightStructure.h"

#include "Samples/Readings.h"

#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/PointerIntPair.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

class LinearScores {
public:
  LinearScores(const Component &component, AxisId keys, bool asFunction)
      : component(component), readings(component, keys, {}),
        asFunction(asFunction) {}

  /// An operation that is none of a scaled softmax; null without one.
  const Node *find();

private:
  /// What is read of pairs: weights, or the exponents of their exponentials.
  using Place = llvm::PointerIntPair<const Node *, 1, bool>;

  bool isOfPairs(const Node *node) {
    return node->scored && !readings.isOfRow(node);
  }
  bool addOperands(const Node *node, bool isExponent);
  bool isBoundedByFill(const Node *node);
  bool isOfSums(const Node *node);
  bool keepsSums(const Node *node);

  const Component &component;
  Readings readings;
  bool asFunction; ///< whatever is made of scores is a score function
  SmallVector<Place> open;
  DenseMap<const Node *, bool> ofSums;
};

} // namespace

bool LinearScores::isBoundedByFill(const Node *node) {
  return llvm::any_of(node->operands, [&](const Node *operand) {
    std::optional<double> number = readings.number(operand);
    return number && *number <= largestFill;
  });
}

/// False for an operation that is none of a scaled softmax over pairs.
bool LinearScores::addOperands(const Node *node, bool isExponent) {
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  if (isa<stablehlo::ExpOp>(op)) {
    if (isExponent)
      return false;
    if (!asFunction)
      open.push_back(Place(operands[0], true));
    return true;
  }
  if (isa<stablehlo::SelectOp>(op))
    operands = operands.drop_front();
  unsigned ofPairs = llvm::count_if(
      operands, [&](const Node *operand) { return isOfPairs(operand); });
  bool isProduct = isa<stablehlo::MulOp>(op) && ofPairs == 1;
  bool isQuotient = isa<stablehlo::DivOp>(op) && !isOfPairs(operands[1]);
  bool isLinear = isProduct || isQuotient || isMove(op) || isIdentity(op) ||
                  isAdditive(op) ||
                  (isa<stablehlo::MaxOp>(op) && isBoundedByFill(node)) ||
                  isa<stablehlo::ReduceOp>(op);
  for (const Node *operand : operands)
    open.push_back(Place(operand, isExponent));
  return isLinear;
}

/// Whether a row's value is made of its sum, but for the sum's logarithm.
bool LinearScores::isOfSums(const Node *node) {
  auto [entry, isNew] = ofSums.try_emplace(node, false);
  if (!isNew || !node->op || !node->scored || isa<stablehlo::LogOp>(node->op))
    return entry->second;
  bool sums = reducesBy<stablehlo::AddOp>(node->op);
  bool result = sums || llvm::any_of(node->operands, [&](const Node *operand) {
                  return !isOfPairs(operand) && isOfSums(operand);
                });
  return ofSums[node] = result;
}

/// False for an operation on sums of rows that is none of a softmax.
bool LinearScores::keepsSums(const Node *node) {
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  if (isa<stablehlo::SelectOp>(op))
    operands = operands.drop_front();
  auto count = llvm::count_if(
      operands, [&](const Node *operand) { return isOfSums(operand); });
  if (count == 0 || node->hasTruths())
    return true;
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return count == 1;
  return isMove(op) || isIdentity(op) || isAdditive(op) ||
         isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::LogOp,
             stablehlo::ReduceOp>(op);
}

const Node *LinearScores::find() {
  DenseSet<Place> seen;
  open.push_back(Place(component.weights(), false));
  while (!open.empty()) {
    Place place = open.pop_back_val();
    const Node *node = place.getPointer();
    if (!node->scored || node == component.scoresNode() || !node->op ||
        node->role != Role::None || !seen.insert(place).second)
      continue;
    if (isOfPairs(node)) {
      if (!addOperands(node, place.getInt()))
        return node;
    } else if (!place.getInt()) {
      if (!keepsSums(node))
        return node;
      bool isSum = reducesBy<stablehlo::AddOp>(node->op);
      for (const Node *operand : node->operands)
        if (isSum || !isOfPairs(operand))
          open.push_back(Place(operand, false));
    }
  }
  return nullptr;
}

const Node *mlir::sp::findNonlinear(const Component &component, AxisId keys,
                                    bool asFunction) {
  // The weight of a single key is 1.
  if (component.labels.size(keys) == 1)
    return nullptr;
  return LinearScores(component, keys, asFunction).find();
}
