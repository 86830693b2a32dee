//===- MatrixProduct.h - Batches of matrix products ------------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_MATRIXPRODUCT_H
#define SP_LIB_INTERPRETER_MATRIXPRODUCT_H

#include "sp/Interpreter/Interpreter.h"

namespace mlir::interpreter {

/// c[i] = a[i] * b[i] for a of shape B x M x K and b of shape B x K x N, as a
/// tensor of shape B x M x N. Floats accumulate in f64, or in f32 where the
/// program's precision is asked for and the result is narrower than f64. Not
/// rounded to `elementType`. Both operands have the result's storage.
Tensor multiplyMatrices(const Tensor &a, const Tensor &b, Type elementType,
                        Precision precision);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_MATRIXPRODUCT_H
