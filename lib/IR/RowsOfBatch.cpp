#include "sp/IR/RowsOfBatch.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/Program.h"

using namespace mlir;
using namespace mlir::sp;

RowsOfBatch::RowsOfBatch(func::FuncOp func) {
  func.walk([&](Operation *op) { haveLoops |= op->hasAttr(kRowsOfBatch); });
  Operation *terminator = func.getBody().front().getTerminator();
  for (BlockArgument argument : func.getArguments())
    if (std::optional<unsigned> result =
            donatedTo(func, argument.getArgNumber())) {
      kept.insert(argument);
      kept.insert(terminator->getOperand(*result));
    }
}

Operation *mlir::sp::rowsLoopOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(kRowsOfBatch))
      return op;
  return nullptr;
}

Operation *RowsOfBatch::loopAround(Value value) const {
  return rowsLoopOf(value.getParentBlock()->getParentOp());
}

bool RowsOfBatch::mayBeDealt(Value value) {
  if (kept.contains(value))
    return false;
  if (!haveLoops)
    return true;
  Operation *loop = loopAround(value);
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner()->getParentOp() == loop && loop)
    return isStackOf(cast<stablehlo::WhileOp>(loop), argument.getArgNumber());
  if (loop)
    return true;
  if (auto result = dyn_cast<OpResult>(value))
    if (auto own = dyn_cast<stablehlo::WhileOp>(result.getOwner());
        own && own->hasAttr(kRowsOfBatch))
      return isStackOf(own, result.getResultNumber()) && isStack(value);
  return isStack(value);
}

/// Whether the slice, or update, of a stack is the row that its loop's turn
/// has.
static bool isOwnRow(Operation *op, ArrayRef<int64_t> whole,
                     ArrayRef<int64_t> part, ValueRange starts) {
  Operation *loop = rowsLoopOf(op);
  if (!loop)
    return false;
  Value turn = cast<stablehlo::WhileOp>(loop).getBody().front().getArgument(0);
  bool isRow = false;
  for (auto [size, own, start] : llvm::zip_equal(whole, part, starts)) {
    if (start == turn) {
      if (isRow || own != 1)
        return false;
      isRow = true;
      continue;
    }
    // Rows come first; all else is there whole.
    if (size != own || (!isRow && size != 1))
      return false;
  }
  return isRow;
}

bool RowsOfBatch::isUsedByRow(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<func::ReturnOp>(op))
    return true;
  if (isa<stablehlo::ReshapeOp>(op))
    return isStack(op->getResult(0));
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
    return use.getOperandNumber() == 0 &&
           isOwnRow(op, shapeOf(slice.getOperand()), shapeOf(slice.getResult()),
                    slice.getStartIndices());
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return use.getOperandNumber() == 0 &&
           isOwnRow(op, shapeOf(update.getOperand()),
                    shapeOf(update.getUpdate()), update.getStartIndices()) &&
           isStack(update.getResult());
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return loop->hasAttr(kRowsOfBatch) &&
           isStackOf(loop, use.getOperandNumber()) &&
           isStack(loop->getResult(use.getOperandNumber()));
  // What a turn leaves; the loop says whether it is a stack.
  auto loop = dyn_cast_or_null<stablehlo::WhileOp>(op->getParentOp());
  return loop && loop->hasAttr(kRowsOfBatch) && isa<stablehlo::ReturnOp>(op) &&
         op->getBlock() == &loop.getBody().front();
}

bool RowsOfBatch::isStack(Value value) {
  auto [known, isNew] = stacks.try_emplace(value, true);
  if (!isNew)
    return known->second;
  bool isOne = llvm::all_of(value.getUses(),
                            [&](OpOperand &use) { return isUsedByRow(use); });
  stacks[value] = isOne;
  return isOne;
}

bool RowsOfBatch::isStackOf(stablehlo::WhileOp loop, unsigned carried) {
  Block &body = loop.getBody().front();
  Value argument = body.getArgument(carried),
        next = body.getTerminator()->getOperand(carried);
  if (!loop.getCond().getArgument(carried).use_empty())
    return false;
  auto update = next.getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  bool isPut = update && update.getOperand() == argument;
  return (next == argument || isPut) && isStack(argument);
}
