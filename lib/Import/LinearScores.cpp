//===- LinearScores.cpp - Weights that are powers of scaled scores --------===//
//
//   exp(select(%mask, %scores * c, -inf) - %max) / %sum       linear
//   exp(%scores / (1 + exp(%scores - 57)))                    not, though equal
//                                                             on many samples
//
//===----------------------------------------------------------------------===//

#include "Match.h"
#include "Readings.h"

#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/PointerIntPair.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

class LinearScores {
public:
  LinearScores(const Component &component, AxisId keys)
      : component(component), readings(component, keys, {}) {}

  bool holds();

private:
  /// What is read of pairs: weights, or the exponents of their exponentials.
  using Place = llvm::PointerIntPair<const Node *, 1, bool>;

  bool isOfPairs(const Node *node) {
    return node->scored && !readings.isOfRow(node);
  }
  bool addOperands(const Node *node, bool isExponent);
  bool isBoundedByFill(const Node *node);

  const Component &component;
  Readings readings;
  SmallVector<Place> open;
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
                  isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::NegOp,
                      stablehlo::SelectOp, stablehlo::ConvertOp>(op) ||
                  (isa<stablehlo::MaxOp>(op) && isBoundedByFill(node)) ||
                  isa<stablehlo::ReduceOp>(op);
  for (const Node *operand : operands)
    open.push_back(Place(operand, isExponent));
  return isLinear;
}

bool LinearScores::holds() {
  DenseSet<Place> seen;
  open.push_back(Place(component.weights(), false));
  while (!open.empty()) {
    Place place = open.pop_back_val();
    const Node *node = place.getPointer();
    if (!isOfPairs(node) || node == component.scoresNode() ||
        node->role != Role::None || !seen.insert(place).second)
      continue;
    if (!addOperands(node, place.getInt()))
      return false;
  }
  return true;
}

bool mlir::sp::areScoresLinear(const Component &component, AxisId keys) {
  return LinearScores(component, keys).holds();
}
