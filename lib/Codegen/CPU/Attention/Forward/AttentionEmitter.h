/// What the parts of the attention generator share: the compile-time shape of a
/// kernel and its emitter.
#ifndef SP_LIB_CODEGEN_ATTENTIONEMITTER_H
#define SP_LIB_CODEGEN_ATTENTIONEMITTER_H

#include "CPU/Attention/AttentionScore.h"
#include "CPU/Attention/Forward/AttentionKernel.h"

namespace mlir::sp::attention {

/// Sizes fixed when a kernel is generated. A panel is two vectors of queries, a
/// register tile has a row for each of `tile` keys (or value columns).
/// Inner sizes are padded with zeros, which add nothing to a dot product.
///
/// What contractions read is packed in words of the compute type's width: an
/// element, or where the machine multiplies pairs of bf16, a pair that
/// successive steps would take: of the head size in queries and keys, of keys
/// in values and powers.
struct Shape : Registers {
  explicit Shape(const AttentionKernelConfig &config);
  /// Steps of a contraction over the head size.
  int64_t headSteps() const;

  int64_t headSize, valueSize;
  int64_t signs;     ///< bits of a word that are signs
  int64_t headWords; ///< headSize in words, to whole vectors
  int64_t valuePad;  ///< valueSize, to whole vectors
  int64_t queryBlock, keyBlock, panels;
  bool hasOwnBlock; ///< another queryBlock than a long launch would have
  int64_t stripe;   ///< words from a stripe of values to the next

  /// Byte offsets in the scratch memory.
  ///   queries [panel][headWords][lane] Q with the scale's sign, transposed
  ///   output  [panel][valuePad][lane] O, transposed, not normalised
  ///   rowMax, rowSum, rowState [panel][lane]  m (see power), l, the lse on
  ///   entry weightSum [panel][lane]         l of the rounded P that values
  ///   meet, where
  ///                                   P is rounded to pairs; else rowSum
  ///   lower, upper [panel][lane]      keys [lower, upper) that a query sees
  ///   ranges  [panel][4]              least and greatest lower, upper
  ///   keys    [key][headWords]
  ///   values  [valuePad / tile][key / pair][tile], `stripe` words apart
  ///   scores  [key][lane]             S of one panel
  ///           [key / pair][lane]      then P
  ///   weights [key][lane]             what a score function multiplies P by
  int64_t queries, output, rowMax, rowSum, weightSum, rowState, lower, upper,
      ranges, keys, values, scores, weights, bytes;
  ScoreAreas scoreAreas;
};

class Emitter : public VectorEmitter {
public:
  Emitter(Location loc, const AttentionKernelConfig &config);

  const Shape shape;
  const ScoreFunction score;
  const bool keepsSums; ///< instead of a mean and the logarithm of a sum

  /// e^x of the differences of a kernel's exponents, which are in base 2 or,
  /// where a score function makes them, in base e: scaled ones would be rounded
  /// where they are large, equal ones differ by nothing.
  Value power(Value difference);
};

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_ATTENTIONEMITTER_H
