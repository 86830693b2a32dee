//===- RoundingErrors.h - How far rounding moves results -------*- C++ -*-===//
//
// Beside each float x of an evaluation in the program's own types goes an error
// e: about the root mean square of what rounding does to x, in whatever order
// and with whatever fusions a program computes the same thing. Errors of
// operands count as independent, also those of one value that is used twice: a
// kernel may well compute it twice, each time otherwise.
//
//   f(x, y), element by element   e² = (f_x e_x)² + (f_y e_y)² + (c u f)²
//   sums of n terms t
//                e² = Σ e_t² + (max(1, √n/4) a Σ|t|)² + (u Σt)²
//   moved elements take their errors along
//   floor, sign and the like err by how far they jump within 8 e of x
//
// u is the unit roundoff of the result's type, a that of the type sums are made
// in (f32 where the result is narrower). c is 0 for what is exact, 1 for
// arithmetic and 4 for functions. √n/4: a rounding errs by 0.4 u in the root
// mean square, and the partial sums of n like terms are on average √(1/3) of
// the whole. What underflows may become zero. A function's derivative is taken
// from a small step.
//
// In attention (products in batches) a side in f32 beside one of bf16 is
// rounded to bf16 too, as kernels do on machines that multiply bf16, and so are
// the terms of what comes out in bf16: where dO·V is subtracted from its mean
// over weights, kernels take for the latter dO·O, whose O was rounded.
//
//===----------------------------------------------------------------------===//
#ifndef SP_LIB_INTERPRETER_ROUNDINGERRORS_H
#define SP_LIB_INTERPRETER_ROUNDINGERRORS_H

#include "Evaluator.h"

namespace mlir::interpreter {

/// Results of an operation with their errors; the operands have theirs.
FailureOr<Tensors> evaluateWithErrors(const Handler &handler, Operation *op,
                                      Tensors operands, Evaluator &evaluator);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_ROUNDINGERRORS_H
