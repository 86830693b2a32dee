/// Rows without a visible key that a program gives the mean of all values, by
/// large finite fills, or NaN, and what they add to its gradients.
#ifndef SP_LIB_IMPORT_EMPTYROWS_H
#define SP_LIB_IMPORT_EMPTYROWS_H

#include "sp/IR/SP.h"

#include "sprt/algebra/Ranges.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// The mean of values [batch, keys, kvHeads, dv] over keys, for every query
/// head: [batch, 1, heads, dv].
Value meanOfValues(OpBuilder &builder, Location location, Value values,
                   int64_t heads, Type element);

/// What such rows add to gradients, in the type of lse: with a score function
/// those where its lse begins with -inf, without one those that bands hide from
/// all keys. With a mean each of the K pairs of a row i has P = 1 / K:
///
///     dV_k = sum_i dO_i / K
///
/// Fills that are added to scores leave their derivative, `slope`, so that
/// dS_ik = slope * dO_i . c_k / K with c_k = v_k - mean(v), and
///
///     dQ_i = slope * dO_i M / K     M = sum_k c_k^T k_k     (dv x d)
///     dK_k = slope * c_k N / K      N = sum_i dO_i^T q_i    (dv x d)
///
/// NaN makes all these gradients of its row and head NaN, dQ and dK too unless
/// `slope` is 0.
class EmptyRowGradients {
public:
  /// The cotangent is [batch, queries, heads, dv]; bands hide `rows`.
  EmptyRowGradients(OpBuilder &builder, Location location,
                    AttentionOp attention, Value cotangent,
                    ArrayRef<sprt::algebra::Interval> rows);

  Value ofValues();
  Value ofQueries(double slope);
  Value ofKeys(double slope);
  /// NaN where rows are empty and 0 elsewhere in a gradient of that shape,
  /// [batch, queries or any, heads or kvHeads, any].
  Value notNumbers(ArrayRef<int64_t> shape, bool perQuery);

private:
  Value inSums(Value operand, AttentionOp attention);
  Value withoutSums(AttentionOp attention);
  Value inside(ArrayRef<sprt::algebra::Interval> rows, ArrayRef<int64_t> shape);
  Value grouped(Value ofQueries, AttentionOp attention);
  Value centred();

  OpBuilder &builder;
  Location location;
  bool isMean;
  Value query, key, value;
  Value isEmpty;   ///< [batch, queries, kvHeads, group]
  Value cotangent; ///< 0 in all other rows
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_EMPTYROWS_H
