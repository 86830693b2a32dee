/// Sizes of a gradient kernel, and where it keeps what in scratch memory.
#ifndef SP_LIB_CODEGEN_ATTENTIONBACKWARDSHAPE_H
#define SP_LIB_CODEGEN_ATTENTIONBACKWARDSHAPE_H

#include "CPU/Attention/AttentionScore.h"
#include "CPU/Attention/Backward/AttentionBackwardKernel.h"

namespace mlir::sp::attention {

/// A gradient of a term: what its elements are sums over, and where in scratch
/// memory that is made.
struct TermShape {
  bool perQuery, perKey;
  unsigned derivative; ///< number among the score function's results
  /// Where P ∘ e_t is: with what else it is, or in an area of its own.
  enum class Factors { slopes, powers, own } kind;
  int64_t factors; ///< of one panel, [k][q]
  /// Of each pair    [lanes of k][q] of one panel, then [q][lanes of k]
  /// of each query   [q] of one panel
  /// of each key     [k][lane], sums over some queries
  /// of each head    nothing
  int64_t parts;

  bool isOfPairs() const { return perQuery && perKey; }
  bool isOfKeys() const { return !perQuery && perKey; }
};

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
  ///   slopes [k][q]                     scores, then P ∘ e'; powers is only
  ///                                     powerFactors then, of P ∘ w
  ///   weights [k][q]                    w, if there are such
  /// and of vectors of queries lse in base 2, with what it rounds off in
  /// lseRest (or greatest exponents, and 1 / sum in inverse), delta, lower,
  /// upper; ranges as in Sight.
  int64_t keyWords, valueWordRows, keyRows, keyGradients, valueGradients,
      queryRows, outputRows, queryColumns, outputColumns, powers, powerFactors,
      scoreFactors, scoreColumns, queryGradients, slopes, weights, lse, lseRest,
      inverse, delta, lower, upper, ranges, bytes;
  ScoreAreas scoreAreas;
  bool hasWeights;
  SmallVector<TermShape> terms; ///< that have gradients

private:
  void placeTerms(const AttentionBackwardConfig &config,
                  function_ref<int64_t(int64_t elements)> reserve);
};

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONBACKWARDSHAPE_H
