/// The softmax state of one attention: what it starts with, and its result.
#ifndef SP_LIB_PARTITION_ATTENTIONSTATE_H
#define SP_LIB_PARTITION_ATTENTIONSTATE_H

#include "Attention/AttentionMoves.h"

namespace mlir::sp {

/// delta = rowsum(cotangent * output) - ofLse, which may be null, in numbers of
/// `element`: what gradients read of a state beside its lse, one for a query
/// and head.
Value deltaOf(OpBuilder &builder, Location loc, Value output, Value cotangent,
              Value ofLse, Type element);

/// Where a state is carried from step to step or merged with those of other
/// ranks, or a score function's result needs them, it is sums.
class AttentionState {
public:
  /// `sink` and `mean` are local values with all heads, or null.
  AttentionState(OpBuilder &builder, AttentionOp op, bool isCarried, Value sink,
                 Value mean)
      : builder(builder), op(op), loc(op.getLoc()),
        plan(op.getPlan().value_or(PlanAttr())),
        keepsSums(isCarried || (op.getScore() && (sink || readsSums()))),
        sink(sink), mean(mean) {}

  SoftmaxForm form() {
    if (!keepsSums)
      return SoftmaxForm::Mean;
    return op.getScore() ? SoftmaxForm::SumsBaseE : SoftmaxForm::SumsBase2;
  }
  /// Types of the state of local queries: [batch, rows, heads, dv] and without
  /// dv.
  std::pair<RankedTensorType, RankedTensorType> types(Value query);
  /// The state before any key: none, or a sink's exponent without a value. Of
  /// states that are merged the first rank's alone counts it.
  SoftmaxState begin(Value query, const HeadRange &heads);
  /// What all ranks have attended together, of states of all queries: of those
  /// that `rows` gives a rank.
  SoftmaxState merge(SoftmaxState state, const AttentionMoves &moves,
                     LayoutAttr rows);
  /// The result, in the attention's element type, and lse as the attention has
  /// it.
  SoftmaxState finalize(SoftmaxState state, const HeadRange &heads);

private:
  /// Whether the sums of a score function are more than a divisor of which no
  /// row has less than the model's.
  bool readsSums();
  bool isMerged() const { return plan && plan.getMerge() > 1; }
  /// 1 for each row of a sink that counts here, else 0.
  Value sinkCount(RankedTensorType type);
  Value joinSums(Value greatest, Value sum);
  /// A power of the sums' base.
  Value power(Value exponent);
  Value greatest(Value sums) { return numberOf(sums, 0); }
  Value sum(Value sums) { return numberOf(sums, 1); }
  Value numberOf(Value sums, int64_t index);
  Value notEmpty(Value sums);
  Value nan(RankedTensorType type);
  /// i1 of each element.
  Value isEqual(Value value, double number);
  Value sawNothing(Value greatest);
  Value dividedBySum(SoftmaxState state);
  Value logarithm(Value sums);
  bool hasEmptyRows();
  Value emptyRow(RankedTensorType type, const HeadRange &heads);
  /// Of what has all heads in dimension `index`, those that are here.
  Value takeHeads(Value whole, unsigned index, const HeadRange &heads);

  OpBuilder &builder;
  AttentionOp op;
  Location loc;
  PlanAttr plan;
  bool keepsSums;
  Value sink, mean;
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_ATTENTIONSTATE_H
