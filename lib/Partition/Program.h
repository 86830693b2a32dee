/// The function that Partition rewrites, as far as it can be.
#ifndef SP_LIB_PARTITION_PROGRAM_H
#define SP_LIB_PARTITION_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// `@main`, of one block, or a diagnostic.
FailureOr<func::FuncOp> findProgram(ModuleOp module);

/// Checks that a program is over tensors of static shape, and without calls and
/// partitioning by hand.
LogicalResult checkInput(func::FuncOp func);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_PROGRAM_H
