/// The function that the stages after Import rewrite.
#ifndef SP_IR_PROGRAM_H
#define SP_IR_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// `@main`, of one block, or a diagnostic.
FailureOr<func::FuncOp> findProgram(ModuleOp module);

} // namespace mlir::sp

#endif // SP_IR_PROGRAM_H
