/// Vectors of the compute type by the bits of their elements.
#ifndef SP_LIB_CODEGEN_VECTORBITS_H
#define SP_LIB_CODEGEN_VECTORBITS_H

#include "CPU/Attention/VectorEmitter.h"

namespace mlir::sp::attention {

/// Bits of a non-negative number of the compute type.
int64_t bitsOf(const VectorEmitter &e, double number);
/// What marks a pair that is not there: a signalling NaN, which no arithmetic
/// yields. `isMark` compares bits.
Value mark(VectorEmitter &e);
Value isMark(VectorEmitter &e, Value x);
/// x as integers of its width, without the sign: ordered as magnitudes, where
/// NaN is beyond infinity.
Value magnitudes(VectorEmitter &e, Value x);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_VECTORBITS_H
