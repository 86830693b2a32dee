/// Rows of stacks, near and far.
#ifndef SP_LIB_INTERPRETER_STACKROWS_H
#define SP_LIB_INTERPRETER_STACKROWS_H

#include "Ranks.h"

namespace mlir::interpreter {

/// The first row, or a diagnostic where these are none of the stack's.
template <typename OpT>
FailureOr<int64_t> firstRow(OpT op, int64_t rows, const Tensor &at) {
  int64_t first = at.at<int64_t>(),
          all = op.getWhole().getType().getDimSize(op.getDim());
  if (first < 0 || first + rows > all)
    return op.emitOpError() << "cannot be evaluated: expected rows of " << all
                            << " but got " << rows << " from " << first;
  return first;
}

/// Of an operation on a stack and an index.
template <typename OpT>
FailureOr<Tensor> takeRows(OpT op, const Tensors &operands) {
  RankedTensorType type = op.getResult().getType();
  int64_t dim = op.getDim(), rows = type.getDimSize(dim);
  FailureOr<int64_t> first = firstRow(op, rows, operands[1]);
  if (failed(first))
    return failure();
  Tensor result(type);
  copyRows(operands[0], result, {dim, *first, 0, rows});
  return result;
}

/// Of an operation on a block, a stack and an index.
template <typename OpT>
FailureOr<Tensor> putRows(OpT op, const Tensors &operands) {
  int64_t dim = op.getDim(), rows = op.getBlock().getType().getDimSize(dim);
  FailureOr<int64_t> first = firstRow(op, rows, operands[2]);
  if (failed(first))
    return failure();
  Tensor result = operands[1];
  copyRows(operands[0], result, {dim, 0, *first, rows});
  return result;
}

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_STACKROWS_H
