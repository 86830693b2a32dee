//===- SpecialFunctions.h - Functions the C library lacks ------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_SPECIALFUNCTIONS_H
#define SP_LIB_INTERPRETER_SPECIALFUNCTIONS_H

#include "Evaluator.h"

namespace mlir::interpreter {

/// x with erf(x) = y.
double inverseErf(double y);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_SPECIALFUNCTIONS_H
