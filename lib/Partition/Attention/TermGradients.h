/// Gradients of the terms of a score function.
#ifndef SP_LIB_PARTITION_TERMGRADIENTS_H
#define SP_LIB_PARTITION_TERMGRADIENTS_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// Where the gradients of terms begin. Some have rows of queries; others are
/// sums over queries, which go on from one group of heads, or one turn, to the
/// next.
class TermGradients {
public:
  /// Of the heads that `part` gives a rank, or of all where it is null.
  TermGradients(OpBuilder &builder, AttentionBackwardOp op, HeadPartAttr part)
      : builder(builder), op(op), part(part), sums(op.getDTerms().size()) {}

  bool isSum(unsigned number) const;
  /// What gradients are added to first, for queries of this shape: zeros, or
  /// the sums so far.
  SmallVector<Value> first(ArrayRef<int64_t> query) const;
  /// The sums so far alone, of so many elements of the batch, and others.
  SmallVector<Value> soFar(int64_t batch) const;
  void set(ValueRange others);
  /// Takes up the sums among the gradients of all terms.
  void goOn(ArrayRef<Value> gradients);
  /// The gradients of all terms, of which these have rows.
  SmallVector<Value> joined(ArrayRef<Value> ofRows) const;
  /// Makes the sums among `gradients` those over the ranks that queries and
  /// heads are dealt to.
  void reduce(MutableArrayRef<Value> gradients, LayoutAttr queries) const;

private:
  Value sum(Value gradient, LayoutAttr dealt) const;
  Value zeros(unsigned number, ArrayRef<int64_t> first) const;
  Value soFar(unsigned number, int64_t batch) const;

  OpBuilder &builder;
  mutable AttentionBackwardOp op;
  HeadPartAttr part;
  SmallVector<Value> sums; ///< null before the first, and for those with rows
};

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_TERMGRADIENTS_H
