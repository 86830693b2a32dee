/// Operations for a batch of what they were written for.
#ifndef SP_STABLEHLO_BATCHING_H
#define SP_STABLEHLO_BATCHING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// Emits operations for all of a batch at once: values that vary in it have its
/// dimension in front, what does not depend on any of these is shared. The idea
/// is that of JAX's `vmap`.
class Batcher {
public:
  Batcher(OpBuilder &builder, int64_t size) : builder(builder), size(size) {}

  /// What a value is, of which each of the batch has its own: [size, ...].
  void vary(Value value, Value batched);
  /// What a value is for all.
  void share(Value value, Value shared) { mapping.map(value, shared); }
  bool varies(Value value) const { return varying.contains(value); }

  /// Emits what an operation is for the batch; fails, having emitted nothing
  /// that is used, where no one operation is that.
  LogicalResult emit(Operation *op);

  /// The type of a batch of values.
  RankedTensorType typeOf(Type each) const;
  /// The value for all of the batch, [size, ...], repeated where they share it.
  Value batched(Value value);
  /// The one value that all of them share.
  Value shared(Value value) const { return mapping.lookupOrDefault(value); }

private:
  /// A copy of `op` whose results have the batch's dimension in front.
  Operation *copy(Operation *op, ValueRange operands);
  SmallVector<Value> allBatched(ValueRange values);
  LogicalResult emitElementwise(Operation *op);
  LogicalResult emitMove(Operation *op);
  LogicalResult emitProduct(stablehlo::DotGeneralOp op);
  LogicalResult emitReduce(stablehlo::ReduceOp op);
  LogicalResult emitGather(stablehlo::GatherOp op);
  LogicalResult emitBarrier(Operation *op);
  LogicalResult emitScatter(stablehlo::ScatterOp op);

  OpBuilder &builder;
  int64_t size;
  IRMapping mapping;
  DenseSet<Value> varying;
};

} // namespace mlir::sp

#endif // SP_STABLEHLO_BATCHING_H
