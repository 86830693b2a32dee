/// One attention, or its gradients, on the rows and heads of a rank.
#ifndef SP_LIB_PARTITION_LOCALATTENTION_H
#define SP_LIB_PARTITION_LOCALATTENTION_H

#include "Attention/AttentionState.h"

namespace mlir::sp {

/// Local operands of an attention and how their rows are dealt, with the heads
/// that the tensor axis gives the rank, or all. The sink has those; terms over
/// pairs are dealt as `dimsOfPair` says.
struct LocalAttention {
  AttentionOp op;
  HeadPartAttr headPart;
  Value query, key, value;
  LayoutAttr queries, keys;
  AttentionTerms terms;
  Value sink, mean;
};

/// Emits an attention as its plan says; result and lse, where it is asked for,
/// are dealt as the queries are.
SoftmaxState emitAttention(OpBuilder &builder, const LocalAttention &attention);

/// Local operands of the gradients of an attention.
struct LocalBackward {
  AttentionBackwardOp op;
  HeadPartAttr headPart;
  Value query, key, value, output, lse, cotangent;
  /// Null where lse has none.
  Value lseCotangent;
  LayoutAttr queries, keys;
  AttentionTerms terms;
};

/// Emits the gradients of an attention as their plan says, dealt as queries and
/// keys are.
AttentionGradients emitAttentionBackward(OpBuilder &builder,
                                         const LocalBackward &backward);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALATTENTION_H
