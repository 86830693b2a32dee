/// Elementary functions on vectors, to about an ulp of the compute type.
#ifndef SP_LIB_CODEGEN_VECTORMATH_H
#define SP_LIB_CODEGEN_VECTORMATH_H

#include "CPU/Attention/VectorEmitter.h"

namespace mlir::sp::attention {

/// 2^x for x <= 0; 2^0 is exactly 1, 2^-inf exactly 0.
Value exp2(VectorEmitter &e, Value x);
/// ln(2^exponent * x) for positive normal x; NaN where x is NaN.
Value log(VectorEmitter &e, Value exponent, Value x);

} // namespace mlir::sp::attention

#endif // SP_LIB_CODEGEN_VECTORMATH_H
