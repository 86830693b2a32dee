//===- ScalarProgram.h - Programs on scalars, run on many ------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_SCALARPROGRAM_H
#define SP_LIB_INTERPRETER_SCALARPROGRAM_H

#include "Evaluator.h"

namespace mlir::interpreter {

/// Runs a region that takes and returns scalars (the body of a reduce, sort,
/// scatter, map) on each element of `columns`: tensors of rank 1 and one size,
/// one per argument. All elements at once where the body is element-wise.
FailureOr<Tensors> runOnColumns(Region &region, Tensors columns,
                                Evaluator &evaluator);

/// Whether each operation of a block treats elements alike and gives scalars.
bool isElementwise(Block &block);

/// Element `i` of a tensor of rank 1, as rank 0.
Tensor scalarAt(const Tensor &column, int64_t i);
/// The elements of a tensor at row-major `places`, as rank 1.
Tensor collect(const Tensor &tensor, ArrayRef<int64_t> places);
/// Rows [row, row + rows) of a tensor of rank 2, step apart, as rank 1.
Tensor rowsOf(const Tensor &tensor, int64_t row, int64_t rows,
              int64_t step = 1);
/// `count` times the value of a tensor of rank 0.
Tensor repeatScalar(const Tensor &scalar, int64_t count);

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_SCALARPROGRAM_H
