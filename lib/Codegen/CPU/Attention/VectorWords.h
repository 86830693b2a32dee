/// Words, which products of q and k multiply: a lane's element in the compute
/// type or, where the machine multiplies them at once, a pair of bf16 in its
/// place (Registers::pair).
#ifndef SP_LIB_CODEGEN_VECTORWORDS_H
#define SP_LIB_CODEGEN_VECTORWORDS_H

#include "CPU/Attention/VectorEmitter.h"

namespace mlir::sp::attention {

/// A vector of words of q or k; the mask is of elements.
Value loadWords(VectorEmitter &e, Value address, Value mask);
/// a · b + c for words a and b.
Value multiplyAdd(VectorEmitter &e, Value a, Value b, Value c);
/// The steps of a contraction over `elements`.
Value stepsOf(VectorEmitter &e, Value elements);
/// The elements of words in the compute type: one vector, or of pairs the
/// first ones and the second ones.
SmallVector<Value> elementsOf(VectorEmitter &e, Value words);
/// Flips the bits of the words that are set in `signs`, a vector of laneType.
Value flipSigns(VectorEmitter &e, Value words, Value signs);

// Where words are pairs.
/// Words of pairs from 16-bit integers.
Value joinHalves(VectorEmitter &e, Value even, Value odd);
/// Words of pairs from two vectors, rounded to bf16.
Value roundToPairs(VectorEmitter &e, Value even, Value odd);
/// Words of pairs whose elements, one after the other, are those of `low`
/// and then those of `high`, rounded to bf16.
Value roundToRow(VectorEmitter &e, Value low, Value high);
/// Words of pairs of what two rows of words hold at each column: of the
/// first `lanes` columns for half 0, of the next for half 1.
Value pairRows(VectorEmitter &e, Value even, Value odd, int64_t half);
/// A vector of bf16 pairs of 1, as words.
Value pairsOfOne(VectorEmitter &e);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_VECTORWORDS_H
