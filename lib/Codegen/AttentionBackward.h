/// What the parts of the generator of gradient kernels share.
#ifndef SP_LIB_CODEGEN_ATTENTIONBACKWARD_H
#define SP_LIB_CODEGEN_ATTENTIONBACKWARD_H

#include "AttentionPieces.h"
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
struct BackwardShape : Registers {
  explicit BackwardShape(const AttentionBackwardConfig &config);

  int64_t headSize, valueSize;
  int64_t headPad, valuePad; ///< to whole panels
  int64_t queryBlock, keyBlock, panels;

  /// Byte offsets in the scratch memory of matrices of so many rows:
  ///   keys, values, keyGradients, valueGradients   keyBlock
  ///   queries, outputs                             queryBlock; outputs: dO
  ///   queryColumns, outputColumns                  headPad, valuePad;
  ///                                                transposed
  ///   powers, scores                               keyBlock; P and dS
  ///   queryGradients                               panel: of one panel
  /// and of vectors of queries:
  ///   lse, delta, lower, upper; ranges as in Sight
  int64_t keys, values, keyGradients, valueGradients, queries, outputs,
      queryColumns, outputColumns, powers, scores, queryGradients, lse, delta,
      lower, upper, ranges, bytes;
};

class BackwardEmitter : public VectorEmitter {
public:
  BackwardEmitter(Location loc, const AttentionBackwardConfig &config);

  const BackwardShape shape;
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
  Matrix packedKeys, packedValues, keyGradients, valueGradients;
  Matrix packedQueries, outputs, queryColumns, outputColumns;
  Matrix powers, scores, queryGradients;
  Value lse, delta, lower, upper, ranges;
};

/// One query head.
struct QueryHead {
  Rows q, dO, lse, delta, dq;
};

/// A block of keys: rows [first, first + valid), `count` with padding; whether
/// all their elements are finite.
struct KeyBlock {
  Value first, valid, count, isFinite;
};

/// Copies rows [first, first + valid) of `size` columns in the compute type,
/// then zeros up to row `count`. Returns a vector of zeros, or of NaN where an
/// element is not finite.
Value packMatrix(BackwardEmitter &e, const Rows &rows, Value first, Value valid,
                 Value count, int64_t size, const Matrix &to);
/// Copies the block's rows of queries (or dO), also transposed. Rows beyond the
/// last valid one repeat it. Returns as packMatrix does.
Value packBoth(BackwardEmitter &e, const Rows &rows, const QueryBlock &block,
               int64_t size, const Matrix &to, const Matrix &columns);
/// Copies lse and delta of the block's queries; lse is -inf beyond the valid
/// ones.
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

/// Adds what the block's queries add to the gradients of the keys, and to their
/// own. The block's bounds are set, `seen` in keys.
void attendBlock(BackwardEmitter &e, const BackwardTile &tile,
                 const QueryHead &head, const QueryBlock &block,
                 const KeyBlock &keys, std::pair<Value, Value> seen);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONBACKWARD_H
