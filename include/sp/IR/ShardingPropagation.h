/// A fixed point of shardings over the factors of every operation.
///
/// Where one dimension of a factor is dealt, the others follow, unless their
/// value already uses the axis. Values that the user decided neither change nor
/// spread until `releasePinned`, so that attentions come first.
///
///   seed      %o = attention(%q, ...)      o: [B, S by L, H, d]
///   back      %q = reshape(%p)             p: [B, S by L, D]
///             %p = dot_general(%x, %w)     x: [B, S by L, D], w: whole
///   on        %y = add(%o', %x)            y: [B, S by L, D]
#ifndef SP_IR_SHARDINGPROPAGATION_H
#define SP_IR_SHARDINGPROPAGATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/RowsOfBatch.h"
#include "sp/IR/ShardingRules.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

class ShardingPropagation {
public:
  explicit ShardingPropagation(func::FuncOp func);

  /// The dimensions of a value, whole as long as nothing is known.
  MutableArrayRef<DimAttr> dimsOf(Value value);

  /// Deals a dimension unless it is dealt, the value is pinned, the axis deals
  /// another dimension, or documents of rows deal it that the value is not of.
  void deal(Value value, unsigned index, DimAttr dim);

  /// Keeps a value as the user decided.
  void pin(Value value, ArrayRef<DimAttr> decided);
  /// Lets what the user decided spread.
  void releasePinned();

  /// Values that agree although no operation connects them.
  void tie(Value a, Value b) { ties.emplace_back(a, b); }
  ArrayRef<std::pair<Value, Value>> tied() const { return ties; }

  /// Runs to the fixed point.
  void run();

  /// Whether the documents of a row may deal the value, if they do.
  bool isDealtByItsRow(Value value);

  /// The operations whose results have shardings, in program order.
  ArrayRef<Operation *> operations() const { return ops; }

private:
  void visit(Operation *op);
  void visitReshape(stablehlo::ReshapeOp op);
  void visitRegions(Operation *op);
  /// Makes two values agree.
  void unify(Value a, Value b);

  MLIRContext *context;
  SmallVector<Operation *> ops;
  SmallVector<std::pair<Value, Value>> ties;
  DenseMap<Value, SmallVector<DimAttr>> dims;
  DenseMap<Value, SmallVector<DimAttr>> pinned;
  RowsOfBatch rows;
  bool changed = false;
};

} // namespace mlir::sp

#endif // SP_IR_SHARDINGPROPAGATION_H
