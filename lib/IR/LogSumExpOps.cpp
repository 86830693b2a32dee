//===- LogSumExpOps.cpp - Sums of exponentials while importing ------------===//

#include "sp/IR/SP.h"

using namespace mlir;
using namespace mlir::sp;

/// (C1)
static LogicalResult verifyRows(Operation *op, RankedTensorType scores,
                                RankedTensorType rows, int64_t dim) {
  SmallVector<int64_t> shape(scores.getShape());
  if (dim < int64_t(shape.size())) {
    shape.erase(shape.begin() + dim);
    if (rows == scores.clone(shape))
      return success();
  }
  return op->emitOpError() << "expected one number for each sum over dimension "
                           << dim << " of " << scores << " but got " << rows;
}

LogicalResult LogSumExpOp::verify() {
  return verifyRows(*this, cast<RankedTensorType>(getScores().getType()),
                    cast<RankedTensorType>(getResult().getType()), getDim());
}

LogicalResult AddLogSumExpGradientOp::verify() {
  return verifyRows(*this, cast<RankedTensorType>(getScores().getType()),
                    cast<RankedTensorType>(getCotangent().getType()), getDim());
}
