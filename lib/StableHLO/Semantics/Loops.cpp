//===- Loops.cpp - What is known of a loop before it runs -----------------===//

#include "sp/StableHLO/Loops.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

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

/// The number that an integer of such a type holds where arithmetic gives
/// `number`; nothing for another type, or what no int64 is.
static std::optional<int64_t> wrapped(int64_t number, Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || integer.getWidth() == 1 || integer.getWidth() > 64)
    return std::nullopt;
  APInt held(64, static_cast<uint64_t>(number));
  held = held.trunc(integer.getWidth());
  if (!integer.isUnsigned())
    return held.getSExtValue();
  return held.getActiveBits() < 64 ? std::optional<int64_t>(held.getZExtValue())
                                   : std::nullopt;
}

std::optional<int64_t>
mlir::sp::evaluateScalar(Value value,
                         function_ref<std::optional<int64_t>(Value)> known) {
  if (std::optional<int64_t> number = known(value))
    return wrapped(*number, value.getType());
  if (std::optional<int64_t> constant = constantInteger(value))
    return wrapped(*constant, value.getType());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto operand = [&](unsigned number) {
    return evaluateScalar(op->getOperand(number), known);
  };
  if (isLayout(op) && countOf(shapeOf(op->getOperand(0))) == 1)
    return operand(0);
  auto isLess = [&](stablehlo::CompareOp compare) -> std::optional<bool> {
    auto lhs = evaluateScalar(compare.getLhs(), known),
         rhs = evaluateScalar(compare.getRhs(), known);
    bool isKnown =
        lhs && rhs &&
        compare.getComparisonDirection() == stablehlo::ComparisonDirection::LT;
    return isKnown ? std::optional(*lhs < *rhs) : std::nullopt;
  };
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp>(op)) {
    std::optional<int64_t> lhs = operand(0), rhs = operand(1);
    int64_t result = 0;
    bool isLost =
        !lhs || !rhs ||
        (isa<stablehlo::AddOp>(op) ? llvm::AddOverflow(*lhs, *rhs, result)
         : isa<stablehlo::SubtractOp>(op)
             ? llvm::SubOverflow(*lhs, *rhs, result)
             : llvm::MulOverflow(*lhs, *rhs, result));
    return isLost ? std::nullopt : wrapped(result, value.getType());
  }
  if (isa<stablehlo::ConvertOp>(op)) {
    std::optional<int64_t> from = operand(0);
    return from ? wrapped(*from, value.getType()) : std::nullopt;
  }
  auto select = dyn_cast<stablehlo::SelectOp>(op);
  auto compare = select ? select.getPred().getDefiningOp<stablehlo::CompareOp>()
                        : stablehlo::CompareOp();
  std::optional<bool> taken = compare ? isLess(compare) : std::nullopt;
  return taken ? operand(*taken ? 1 : 2) : std::nullopt;
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
