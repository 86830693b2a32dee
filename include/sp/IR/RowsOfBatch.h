/// Which values may be dealt by the documents of a row.
///
/// Where a loop goes through the rows of the batch, each row is dealt by its
/// own documents: position 5 of one row and of another are with different
/// ranks. What has positions of one row is in that loop. Outside are stacks of
/// rows, of which a turn reads or writes its own; any other value there is
/// whole. So is what one step leaves for the next, whose documents are others.
#ifndef SP_IR_ROWSOFBATCH_H
#define SP_IR_ROWSOFBATCH_H

#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

/// The innermost loop over the rows of the batch that is the operation or holds
/// it; null where there is none.
Operation *rowsLoopOf(Operation *op);

class RowsOfBatch {
public:
  explicit RowsOfBatch(func::FuncOp func);

  /// Whether a dimension of the value may be dealt by batches.
  bool mayBeDealt(Value value);

private:
  /// The loop over rows that a value is in, or null.
  Operation *loopAround(Value value) const;
  /// Of a value with the rows of all turns: whether turns take theirs, and it
  /// is otherwise only returned. Rows are its first dimension, but for ones.
  bool isStack(Value value);
  bool isStackOf(stablehlo::WhileOp loop, unsigned carried);
  bool isUsedByRow(OpOperand &use);

  bool haveLoops = false;
  DenseSet<Value> kept; ///< from step to step
  DenseMap<Value, bool> stacks;
};

} // namespace mlir::sp

#endif // SP_IR_ROWSOFBATCH_H
