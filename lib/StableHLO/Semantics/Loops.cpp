//===- Loops.cpp - What is known of a loop before it runs -----------------===//

#include "sp/StableHLO/Loops.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sp;

static std::optional<int64_t> constantOf(Value value) {
  DenseIntElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || attr.getNumElements() != 1 ||
      attr.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  APInt number = *attr.value_begin<APInt>();
  if (!attr.getElementType().isUnsignedInteger())
    return number.getSExtValue();
  return number.getActiveBits() < 64
             ? std::optional<int64_t>(number.getZExtValue())
             : std::nullopt;
}

std::optional<CountedLoop> mlir::sp::countLoop(stablehlo::WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto compare =
      cond.getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &cond)
    return std::nullopt;
  unsigned index = counter.getArgNumber();
  auto add =
      body.getTerminator()->getOperand(index).getDefiningOp<stablehlo::AddOp>();
  if (!add)
    return std::nullopt;
  Value own = body.getArgument(index);
  Value step = add.getLhs() == own ? add.getRhs() : add.getLhs();
  if ((add.getLhs() != own && add.getRhs() != own) || constantOf(step) != 1)
    return std::nullopt;
  std::optional<int64_t> first = constantOf(loop->getOperand(index)),
                         last = constantOf(compare.getRhs());
  // The bound may be carried unchanged.
  if (auto bound = dyn_cast<BlockArgument>(compare.getRhs());
      bound && bound.getOwner() == &cond)
    if (body.getTerminator()->getOperand(bound.getArgNumber()) ==
        body.getArgument(bound.getArgNumber()))
      last = constantOf(loop->getOperand(bound.getArgNumber()));
  int64_t trips = 0;
  if (!first || !last || llvm::SubOverflow(*last, *first, trips))
    return std::nullopt;
  return CountedLoop{index, *first, std::max<int64_t>(trips, 0)};
}

std::optional<int64_t> mlir::sp::countTrips(stablehlo::WhileOp loop) {
  std::optional<CountedLoop> counted = countLoop(loop);
  return counted ? std::optional(counted->trips) : std::nullopt;
}

std::optional<int64_t>
mlir::sp::evaluateScalar(Value value,
                         function_ref<std::optional<int64_t>(Value)> known) {
  if (std::optional<int64_t> number = known(value))
    return number;
  if (std::optional<int64_t> constant = constantOf(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  SmallVector<int64_t, 3> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = evaluateScalar(operand, known);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  if (isa<stablehlo::AddOp>(op))
    return operands[0] + operands[1];
  if (isa<stablehlo::SubtractOp>(op))
    return operands[0] - operands[1];
  if (isa<stablehlo::ConvertOp>(op))
    return operands[0];
  if (isa<stablehlo::SelectOp>(op))
    return operands[0] != 0 ? operands[1] : operands[2];
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  if (compare &&
      compare.getComparisonDirection() == stablehlo::ComparisonDirection::LT)
    return operands[0] < operands[1];
  return std::nullopt;
}

std::optional<Induction> mlir::sp::findInduction(stablehlo::WhileOp loop,
                                                 unsigned number) {
  Block &body = loop.getBody().front();
  Value own = body.getArgument(number);
  auto add = body.getTerminator()
                 ->getOperand(number)
                 .getDefiningOp<stablehlo::AddOp>();
  if (!add || (add.getLhs() != own && add.getRhs() != own))
    return std::nullopt;
  std::optional<int64_t> first = constantOf(loop->getOperand(number)),
                         step = constantOf(add.getLhs() == own ? add.getRhs()
                                                               : add.getLhs());
  if (!first || !step)
    return std::nullopt;
  return Induction{*first, *step};
}
