//===- CarriedValues.cpp - Values that loops and states go on with --------===//

#include "sp/IR/CarriedValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

Value Carried::init() const {
  if (auto loopOp = dyn_cast<scf::ForOp>(loop))
    return loopOp.getInitArgs()[index];
  return loop->getOperand(index);
}

Value Carried::argument() const {
  if (auto loopOp = dyn_cast<scf::ForOp>(loop))
    return loopOp.getRegionIterArg(index);
  return cast<stablehlo::WhileOp>(loop).getBody().getArgument(index);
}

OpOperand &Carried::yielded() const {
  return loop->getRegions().back().front().getTerminator()->getOpOperand(index);
}

bool mlir::sp::isLoop(Operation *op) {
  return isa_and_present<scf::ForOp, stablehlo::WhileOp>(op);
}

std::optional<int64_t> mlir::sp::mostTrips(scf::ForOp loop) {
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  if (!first || getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    return trips->getSExtValue();
  auto size = loop.getUpperBound().getDefiningOp<GroupSizeOp>();
  if (!size)
    return std::nullopt;
  return std::max<int64_t>(size.getLayout().getRanks() - *first, 0);
}

std::optional<Carried> mlir::sp::startedBy(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (!isLoop(op))
    return std::nullopt;
  unsigned first = op->getNumOperands() - op->getNumResults();
  if (operand.getOperandNumber() < first)
    return std::nullopt;
  return Carried{op, operand.getOperandNumber() - first};
}

std::optional<Carried> mlir::sp::carriedBy(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    if (isLoop(result.getOwner()))
      return Carried{result.getOwner(), result.getResultNumber()};
    return std::nullopt;
  }
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (!isLoop(parent))
    return std::nullopt;
  unsigned counters = isa<scf::ForOp>(parent) ? 1 : 0;
  if (argument.getArgNumber() < counters)
    return std::nullopt;
  return Carried{parent, argument.getArgNumber() - counters};
}

bool mlir::sp::changesCarried(OpOperand &yielded) {
  Operation *loop = yielded.getOwner()->getParentOp();
  return !Carried{loop, yielded.getOperandNumber()}.isUnchanged();
}

SmallVector<Continued, 3> mlir::sp::continuedBy(Operation *op) {
  auto continuation = dyn_cast<ContinuationOpInterface>(op);
  return continuation ? continuation.getContinued()
                      : SmallVector<Continued, 3>();
}

bool mlir::sp::isOverwritten(OpOperand &operand) {
  if (!isTensor(operand.get()))
    return false;
  for (const Continued &continued : continuedBy(operand.getOwner()))
    if (continued.operand == &operand)
      return true;
  std::optional<Carried> carried = startedBy(operand);
  return carried && !carried->isUnchanged();
}
