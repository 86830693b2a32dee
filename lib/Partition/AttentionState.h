/// The softmax state of one attention: what it starts with, and its result.
#ifndef SP_LIB_PARTITION_ATTENTIONSTATE_H
#define SP_LIB_PARTITION_ATTENTIONSTATE_H

#include "AttentionMoves.h"

namespace mlir::sp {

/// As in `sp.attend`; null before any key.
struct SoftmaxState {
  Value output, lse;
};

class AttentionState {
public:
  /// `sink` and `mean` are local values with all heads, or null.
  AttentionState(OpBuilder &builder, AttentionOp op, Value sink, Value mean)
      : builder(builder), op(op), loc(op.getLoc()), sink(sink), mean(mean) {}

  /// Types of the state of local queries: [batch, rows, heads, dv] and without
  /// dv.
  std::pair<RankedTensorType, RankedTensorType> types(Value query);
  /// The state before any key: none, or a sink's exponent without a value.
  SoftmaxState begin(Value query, const HeadRange &heads);
  /// The result, in the attention's element type.
  Value finalize(SoftmaxState state, const HeadRange &heads);

private:
  Value emptyRow(RankedTensorType type, const HeadRange &heads);
  /// Of what has all heads in dimension `index`, those that are here.
  Value takeHeads(Value whole, unsigned index, const HeadRange &heads);

  OpBuilder &builder;
  AttentionOp op;
  Location loc;
  Value sink, mean;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_ATTENTIONSTATE_H
