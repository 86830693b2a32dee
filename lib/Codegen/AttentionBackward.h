/// What the parts of the generator of gradient kernels share.
#ifndef SP_LIB_CODEGEN_ATTENTIONBACKWARD_H
#define SP_LIB_CODEGEN_ATTENTIONBACKWARD_H

#include "AttentionScore.h"
#include "sp/Codegen/AttentionBackwardKernel.h"

namespace mlir::sp::attention {

/// Sizes fixed when a kernel is generated.
///
/// All five products are of matrices that lie in scratch memory in planes of
/// one panel of columns, [column / panel][row][panel], so that rows are vectors
/// and a row's elements are a contraction's scalars:
///
///     S[key][query]  = K[key][d]  · Qᵀ[d][query]
///     dP[key][query] = V[key][d]  · dOᵀ[d][query]
///     dQ[query][d]   = (dS)ᵀ      · K[key][d]
///     dV[key][d]    += P          · dO[query][d]
///     dK[key][d]    += dS         · Q[query][d]
///
/// Scalars and vectors are words (see Registers). Where these are pairs, they
/// are pairs of what a product sums over, so matrices that meet in two sums lie
/// there twice.
struct BackwardShape : Registers {
  explicit BackwardShape(const AttentionBackwardConfig &config);

  int64_t headSize, valueSize;
  int64_t headPad, valuePad;     ///< to whole panels
  int64_t headWords, valueWords; ///< in words, to whole panels
  int64_t queryBlock, keyBlock, panels;

  /// Byte offsets in the scratch memory; matrices as [rows][columns], `q` and
  /// `k` for a block's queries and keys, `/` where rows or columns are words.
  ///   keyWords [k][head /], valueWordRows [k][value /]
  ///   keyRows [k /][head]               keyWords without pairs
  ///   keyGradients [k][head], valueGradients [k][value]  not of words
  ///   queryRows [q /][head], outputRows [q /][value]     of Q and dO
  ///   queryColumns [head /][q], outputColumns [value /][q]
  ///   powers [k][q]                     P in the compute type; with pairs of
  ///                                     one panel
  ///   powerFactors, scoreFactors [k][q /] P, dS; powerFactors is powers
  ///                                     without pairs
  ///   scoreColumns [k /][q]             dS of one panel; without pairs
  ///                                     scoreFactors
  ///   queryGradients [panel][head]      dQ of one panel; not of words
  /// with a score function, of one panel,
  ///   slopes [k][q]                     scores, then P ∘ e' · scale; powers
  ///                                     is only powerFactors then, of P ∘ w
  ///   weights [k][q]                    w, if there are such
  /// and of vectors of queries lse (or greatest exponents, and 1 / sum in
  /// inverse), delta, lower, upper; ranges as in Sight.
  int64_t keyWords, valueWordRows, keyRows, keyGradients, valueGradients,
      queryRows, outputRows, queryColumns, outputColumns, powers, powerFactors,
      scoreFactors, scoreColumns, queryGradients, slopes, weights, lse, inverse,
      delta, lower, upper, ranges, bytes;
  ScoreAreas scoreAreas;
};

class BackwardEmitter : public VectorEmitter {
public:
  BackwardEmitter(Location loc, const AttentionBackwardConfig &config);

  const BackwardShape shape;
  const ScoreFunction score;
  bool hasWeights() const { return score.results() == 3; }
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
  Value initialiseQueries; ///< i1
  Value initialiseKeys;
  Rows k, v, dk, dv;
  // In scratch memory:
  Matrix keyWords, valueWords, keyRows, keyGradients, valueGradients;
  Matrix queryRows, outputRows, queryColumns, outputColumns;
  Matrix powers, powerFactors, scoreFactors, scoreColumns, queryGradients;
  Matrix slopes, weights;
  Value lse, inverse, delta, lower, upper, ranges;
};

/// One query head.
struct QueryHead {
  Rows q, dO, lse, delta, dq;
  ScoreSite score; ///< with a score function
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
/// Copies lse and delta of the block's queries, with a score function as
/// BackwardShape says; lse is -inf beyond the valid ones.
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
/// The same added to memory. Where a scalar is 0 nothing is added, if its
/// vectors may hold elements that are not finite.
void addProduct(BackwardEmitter &e, Value isFinite, const Scalars &a, Value row,
                Value vectors, Value from, Value to, Value target);
SmallVector<Value> loadTile(BackwardEmitter &e, Value address);
void storeTile(BackwardEmitter &e, ValueRange tile, Value address);

/// Adds what the block's queries add to the gradients of the keys, and to their
/// own. The block's bounds are set, `seen` in keys.
void attendBlock(BackwardEmitter &e, const BackwardTile &tile,
                 const QueryHead &head, const QueryBlock &block,
                 const KeyBlock &keys, std::pair<Value, Value> seen);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONBACKWARD_H
