/// What operations of attention are made of.
#ifndef SP_IR_ATTENTIONPARTS_H
#define SP_IR_ATTENTIONPARTS_H

namespace mlir::sp {

/// First number and count of those of a kind, where kinds ascend.
std::pair<size_t, size_t> findKind(ArrayRef<TermKind> kinds, TermKind kind);

/// Values that a score function reads beside the score, in the order of its
/// arguments, which is that of their kinds; shapes are those of `sp.attention`
/// or, on a rank, `sp.attend`.
struct AttentionTerms {
  SmallVector<Value> values;
  SmallVector<TermKind> kinds;

  ArrayRef<Value> of(TermKind kind) const;
  MutableArrayRef<Value> of(TermKind kind);
  /// Behind the others of its kind.
  void add(TermKind kind, Value value);
  /// As many others of a kind.
  void replace(TermKind kind, ArrayRef<Value> others);
};

/// Which pairs count, and how they are scored: what attention, its gradients
/// and their parts say alike.
struct PairScores {
  ArrayAttr bands;
  FloatAttr scale;
  /// Null without a score function.
  FlatSymbolRefAttr function;
  StringAttr name;
  /// Null where pairs are not of documents.
  DocumentsAttr documents = {};

  template <typename OpT> static PairScores of(OpT op) {
    return {op.getBands(), op.getScaleAttr(), op.getScoreAttr(),
            op.getNameAttr(), op.getDocumentsAttr()};
  }
};

/// Queries, keys and values on a rank with the terms that they read, how rows
/// and heads are dealt, and whose they are.
struct AttendBlocks {
  Value query, key, value;
  AttentionTerms terms;
  LayoutAttr queries, keys;
  /// Null where all heads of the group are here, as `kvHeads` then is.
  LayoutAttr heads = {};
  IntegerAttr kvHeads = {};
  /// Number of the group's first query head.
  int64_t firstHead = 0;
  /// Null where no tensor axis deals heads.
  HeadPartAttr headPart = {};
  /// Owners of queries and of keys; null for this rank.
  Value querySource = {}, source = {};
};

/// A softmax state as `sp.attend` has it, or null before any key.
struct SoftmaxState {
  Value output, lse;
};

/// What gradients of attention read of the forward's queries.
struct BackwardRows {
  Value cotangent, lse, delta;
};

/// Gradients of queries, keys, values and terms; values may be null where
/// nothing has come together.
struct AttentionGradients {
  Value query, key, value;
  SmallVector<Value> terms = {};
};

} // namespace mlir::sp

#endif // SP_IR_ATTENTIONPARTS_H
