//===- Rows.h - Which rows of a stack are read and written ----*- C++ -*-===//
#ifndef SP_LIB_VERIFY_ROWS_H
#define SP_LIB_VERIFY_ROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// That `sp.take` and `sp.put` stay within their stacks at every turn of the
/// loops around them.
LogicalResult checkRows(func::FuncOp func);

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_ROWS_H
