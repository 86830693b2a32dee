/// What the parts of the generator of gradient kernels share.
#ifndef SP_LIB_CODEGEN_ATTENTIONBACKWARD_H
#define SP_LIB_CODEGEN_ATTENTIONBACKWARD_H

#include "CPU/Attention/Backward/AttentionBackwardShape.h"

namespace mlir::sp::attention {

class BackwardEmitter : public VectorEmitter {
public:
  BackwardEmitter(Location loc, const AttentionBackwardConfig &config);

  const BackwardShape shape;
  const ScoreFunction score;
};

/// A matrix in scratch memory: planes of `rows` rows of one panel.
struct Matrix {
  Value base;
  int64_t rows;

  Value plane(VectorEmitter &e, Value number) const;
  /// A row of a plane.
  Value row(VectorEmitter &e, Value planeNumber, Value number) const;
};

/// What a kv head's tile works on.
struct BackwardTile {
  Value queries, keys;     ///< valid rows in all
  Value scale;             ///< a vector
  Value exponentScale;     ///< scale · log₂e, a vector
  Value initialiseQueries; ///< i1
  Value initialiseKeys;
  Rows k, v, dk, dv;
  // In scratch memory:
  Matrix keyWords, valueWords, keyRows, keyGradients, valueGradients;
  Matrix queryRows, outputRows, queryColumns, outputColumns;
  Matrix powers, powerFactors, scoreFactors, scoreColumns, queryGradients;
  Matrix slopes, weights;
  Value lse, lseRest, inverse, delta, lower, upper, ranges;
  /// Of each gradient of a term.
  struct Term {
    Matrix factors;
    Value parts;
  };
  SmallVector<Term> terms;
};

/// One head's share of a gradient of a term; strides of query rows and key
/// positions.
struct TermRows {
  Value base, query, key;
};

/// One query head.
struct QueryHead {
  Rows q, dO, lse, delta, dq;
  ScoreSite score; ///< with a score function
  SmallVector<TermRows> terms;
};

/// A block of keys: rows [first, first + valid), `count` with padding; whether
/// all their elements are finite.
struct KeyBlock {
  Value first, valid, count, isFinite;
};

/// Copies rows [first, first + valid) of `size` columns to `words`, with zeros
/// up to row `count`, and where words are pairs also to `pairs`, unless that is
/// null, in words of two rows. Returns a vector of zeros, or of NaN where an
/// element is not finite.
Value packKeys(BackwardEmitter &e, const Rows &rows, Value first, Value valid,
               Value count, int64_t size, const Matrix &words,
               const Matrix *pairs);
/// Copies the block's rows of Q or dO, in words of successive rows, and
/// transposed in words of successive columns. Rows beyond the last valid one
/// repeat it. Returns as packKeys does.
Value packQueries(BackwardEmitter &e, const Rows &rows, const QueryBlock &block,
                  int64_t size, const Matrix &to, const Matrix &columns);
/// Asks for a panel's rows from `first` on, which need not be valid.
void prefetchRows(BackwardEmitter &e, const Rows &rows, Value first,
                  int64_t size);
/// Makes lse as BackwardShape says and copies delta of the block's queries; lse
/// is -inf beyond the valid ones.
void packNumbers(BackwardEmitter &e, const BackwardTile &tile,
                 const QueryHead &head, const QueryBlock &block);
/// i1: all lanes of what packing returned are 0.
Value allFinite(BackwardEmitter &e, Value packed);
/// Zeros in rows [0, count) of all planes of `size` columns.
void clearMatrix(BackwardEmitter &e, const Matrix &matrix, Value count,
                 int64_t size);
/// Adds the matrix to rows [first, first + count), or replaces them by it where
/// `replaces`.
void addMatrix(BackwardEmitter &e, const Matrix &matrix, const Rows &rows,
               Value first, Value count, int64_t size, Value replaces);
/// Zeros in rows [0, count).
void clearRows(BackwardEmitter &e, const Rows &rows, Value count, int64_t size);

/// Scalars of a product: element (row, step) of it is that of the matrix, or
/// with `isTransposed` element (step, row).
struct Scalars {
  Matrix matrix;
  bool isTransposed = false;

  Value at(BackwardEmitter &e, Value row, Value step) const;
};

/// Sums of the tile of rows at `row` over steps [from, to), added to `sums`.
/// Meanwhile `prefetch` may ask for what comes next, as in contract.
SmallVector<Value> multiply(
    BackwardEmitter &e, const Scalars &a, Value row, Value vectors, Value from,
    Value to, ValueRange sums,
    function_ref<void(Value)> prefetch = [](Value) {});
/// Whether the pair is there, i1, that row `i` of a tile and element `index` of
/// the contraction make.
using IsThere = function_ref<Value(Value i, Value index)>;
/// The same added to memory; nothing of pairs that are not there, if vectors
/// may hold elements that are not finite.
void addProduct(BackwardEmitter &e, Value isFinite, const Scalars &a, Value row,
                Value vectors, Value from, Value to, Value target,
                IsThere isThere);
/// Stores rows of keys, two vectors each, as scalars of a product over queries
/// for a panel and a key.
void storeFactors(BackwardEmitter &e, const Matrix &factors, Value panel,
                  Value row, ValueRange values);
/// Stores a tile of rows of keys as scalars of a product over keys.
void storeColumns(BackwardEmitter &e, const Matrix &columns, Value row,
                  ValueRange values);
SmallVector<Value> loadTile(BackwardEmitter &e, Value address);
void storeTile(BackwardEmitter &e, ValueRange tile, Value address);
/// Elements of a tile times factors; 0, whatever the element is, where a factor
/// has the bits of `none`.
SmallVector<Value> timesFactors(BackwardEmitter &e, ValueRange factors,
                                ValueRange tile, Value none);

/// Adds what the block's queries add to the gradients of the keys, and to their
/// own. The block's bounds are set, `seen` in keys.
void attendBlock(BackwardEmitter &e, const BackwardTile &tile,
                 const QueryHead &head, const QueryBlock &block,
                 const KeyBlock &keys, std::pair<Value, Value> seen);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONBACKWARD_H
