/// Rewrites one function from global to local shapes.
///
/// For every global value the localizer keeps the local value and how it is
/// dealt. An operation asks for its operands as it needs them; `require`
/// gathers, takes or recomputes where they are dealt otherwise.
#ifndef SP_LIB_PARTITION_LOCALIZER_H
#define SP_LIB_PARTITION_LOCALIZER_H

#include "Resharding.h"

namespace mlir::sp {

struct LocalValue {
  Value value;
  SmallVector<DimAttr> dims;
};

class Localizer {
public:
  Localizer(OpBuilder &builder) : builder(builder) {}

  void define(Value global, LocalValue local) {
    locals[global] = std::move(local);
  }
  const LocalValue &lookup(Value global) const { return locals.at(global); }

  /// Localizes the operations of a block, without its terminator.
  LogicalResult localizeBody(Block &block);

  /// The local form of `global` dealt as `dims`; `user` is named where bytes
  /// move.
  Value require(Value global, ArrayRef<DimAttr> dims, Operation *user);

private:
  LogicalResult localize(Operation *op);
  /// Emits a single-result operation so that its result is dealt as `dims`.
  FailureOr<Value> emit(Operation *op, ArrayRef<DimAttr> dims);
  FailureOr<Value> emitReshape(Operation *op, ArrayRef<DimAttr> dims);
  Value emitConstant(Operation *op, ArrayRef<DimAttr> dims);
  Value emitIota(Operation *op, ArrayRef<DimAttr> dims);
  FailureOr<SmallVector<Value>>
  emitByFactors(Operation *op, ArrayRef<SmallVector<DimAttr>> resultDims);
  LogicalResult localizeRegions(Operation *op);
  void localizeAttention(AttentionOp op);

  SmallVector<DimAttr> wholeDims(Value global) const;
  SmallVector<DimAttr> assignedDims(Operation *op, unsigned result) const;
  void remarkMove(Operation *user, Value value, ArrayRef<DimAttr> dims,
                  unsigned index);

  OpBuilder &builder;
  DenseMap<Value, LocalValue> locals;
  /// Values already dealt otherwise in the block at hand.
  DenseMap<std::pair<Value, Attribute>, Value> resharded;
};

/// Local operands of an attention and how their rows are dealt.
struct LocalAttention {
  AttentionOp op;
  Value query, key, value;
  LayoutAttr queries, keys;
};

/// Emits an attention as its plan says; the result is dealt as the queries are.
Value emitAttention(OpBuilder &builder, const LocalAttention &attention);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALIZER_H
