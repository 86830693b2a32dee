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
