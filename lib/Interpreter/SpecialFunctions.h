//===- SpecialFunctions.h - Functions the C library lacks ------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_SPECIALFUNCTIONS_H
#define SP_LIB_INTERPRETER_SPECIALFUNCTIONS_H

#include "Evaluator.h"

namespace mlir::interpreter {

/// x with erf(x) = y.
double inverseErf(double y);

/// erf of the only operand, for every spelling of the operation.
FailureOr<Tensors> evaluateErf(Operation *op, Tensors &operands,
                               Evaluator &evaluator);
/// The largest elements of the last dimension and their places; how many, the
/// result's shape says.
FailureOr<Tensors> evaluateTopK(Operation *op, Tensors &operands);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_SPECIALFUNCTIONS_H
