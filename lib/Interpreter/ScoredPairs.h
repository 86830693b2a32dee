//===- ScoredPairs.h - Exponents of an attention's pairs -------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_SCOREDPAIRS_H
#define SP_LIB_INTERPRETER_SCOREDPAIRS_H

#include "Evaluator.h"
#include "sp/IR/SP.h"

namespace mlir::interpreter {

/// The values of an operation's operands.
class OperandValues {
public:
  OperandValues(Operation *op, const Tensors &values)
      : op(op), values(values) {}
  /// Of an operand; no tensor for a null value.
  Tensor operator()(Value operand) const;

private:
  Operation *op;
  const Tensors &values;
};

/// [batch, row, head, feature] of a dense tensor; a missing last dimension is
/// one of size 1.
struct Place {
  int64_t batch, row, head, feature = 0;
};
int64_t offsetAt(const Tensor &tensor, const Place &place);

/// A visible pair of a query and a key, by local rows, and what it is given.
struct Pair {
  int64_t query, key;
  double exponent; ///< in base e
  double slope = 1, weight = 1;
  SmallVector<double, 0> derivatives{}; ///< by elements of terms
};

/// What `sp.attention`, `sp.attend` and their gradients mean by pairs: local
/// queries and keys at their positions, heads and the kv heads they read, and
/// what a score function makes of each pair that bands show.
///
///                 queries, keys      heads                  key row of a term
///     attention   all, in order      all                    position
///     attend      of a layout's      those a layout deals   local (per_key),
///                 owners             of a group             position (pair)
class ScoredPairs {
public:
  static FailureOr<ScoredPairs> of(sp::AttentionOp op, const Tensors &operands);
  static FailureOr<ScoredPairs> of(sp::AttentionBackwardOp op,
                                   const Tensors &operands);
  static FailureOr<ScoredPairs> of(sp::AttendOp op, const Tensors &operands,
                                   int64_t rank);
  static FailureOr<ScoredPairs> of(sp::AttendBackwardOp op,
                                   const Tensors &operands, int64_t rank);

  /// Valid rows; what lies behind them is padding.
  int64_t queryCount() const { return int64_t(queries.size()); }
  int64_t keyCount() const { return int64_t(keys.size()); }
  int64_t keyPosition(int64_t row) const { return keys[row]; }
  /// Heads that the rank holds.
  int64_t headCount() const { return int64_t(kvHeads.size()); }
  int64_t kvHeadCount() const {
    return kvHeads.empty() ? 0 : kvHeads.back() + 1;
  }
  /// The local kv head that a local head reads.
  int64_t kvHead(int64_t head) const { return kvHeads[head]; }
  /// The number of a local head in the whole attention.
  int64_t headNumber(int64_t head) const { return firstHead + head; }
  bool isScored() const { return bool(score); }
  double getScale() const { return scale; }

  /// The visible pairs of one batch element and local head, by query.
  FailureOr<std::vector<Pair>> scoresOf(int64_t batch, int64_t head,
                                        Evaluator &evaluator) const;

private:
  /// A term that a score function reads an element of; strides by batch, head,
  /// query and key, 0 where one element serves all.
  struct Term {
    Tensor values;
    int64_t strides[4];
    bool hasWholeHeads = false, hasKeyPositions = false;
  };

  template <typename OpT>
  static FailureOr<ScoredPairs> common(OpT op, const Tensors &operands);
  template <typename OpT>
  static FailureOr<ScoredPairs> whole(OpT op, const Tensors &operands);
  template <typename OpT>
  static FailureOr<ScoredPairs> local(OpT op, const Tensors &operands,
                                      int64_t rank);
  void addTerm(Tensor values, ArrayRef<int64_t> dims);
  /// The column of a term's elements for the pairs.
  Tensor columnOf(const Term &term, int64_t batch, int64_t head,
                  ArrayRef<Pair> pairs) const;
  LogicalResult applyScore(int64_t batch, int64_t head,
                           MutableArrayRef<Pair> pairs,
                           Evaluator &evaluator) const;

  Operation *op = nullptr;
  Tensor query, key;
  std::vector<int64_t> queries, keys, kvHeads;
  int64_t firstHead = 0;
  sprt::algebra::Bands bands;
  double scale = 1;
  FlatSymbolRefAttr score;
  /// Of the score function's results: whether the second is the slope, and how
  /// many are derivatives at the end.
  bool hasSlope = false;
  unsigned derivatives = 0;
  SmallVector<Term> terms;
  SmallVector<Tensor> tables;
};

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_SCOREDPAIRS_H
