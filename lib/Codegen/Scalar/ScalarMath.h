/// Elementary functions. In f32 they are branch-free polynomials, so that loops
/// around them vectorise, with errors of 1 to 3 units in the last place; in f64
/// they are calls of libm. No step assumes the absence of NaN or infinity, and
/// none lets the compiler contract products whose rounding it relies on.
#ifndef SP_LIB_CODEGEN_SCALARMATH_H
#define SP_LIB_CODEGEN_SCALARMATH_H

#include "Scalar/NumberEmitter.h"

namespace mlir::sp {

Value exp(NumberEmitter &s, Value x);
Value expm1(NumberEmitter &s, Value x);
Value log(NumberEmitter &s, Value x);
Value log1p(NumberEmitter &s, Value x);
Value logistic(NumberEmitter &s, Value x);
/// On vectors with errors up to 5 units in the last place.
Value tanh(NumberEmitter &s, Value x);
Value erf(NumberEmitter &s, Value x);
Value erfc(NumberEmitter &s, Value x);
Value erfInv(NumberEmitter &s, Value x);

enum class Trig { Sine, Cosine, Tangent };
Value trigonometric(NumberEmitter &s, Value x, Trig which);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_SCALARMATH_H
