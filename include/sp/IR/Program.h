/// The function that the stages after Import rewrite.
#ifndef SP_IR_PROGRAM_H
#define SP_IR_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// `@main`, of one block, or a diagnostic.
FailureOr<func::FuncOp> findProgram(ModuleOp module);

/// An error of the program as a whole: at the function, or at the file where
/// nobody says where that is.
InFlightDiagnostic programError(func::FuncOp func);

/// That layouts and axes in attributes of the module are of its mesh.
LogicalResult checkLayouts(ModuleOp module);

/// The result that an argument is donated for, which is the argument of the
/// next step of a training: its `sp.donated_to`, where that is of its type.
std::optional<unsigned> donatedTo(func::FuncOp func, unsigned argument);

} // namespace mlir::sp

#endif // SP_IR_PROGRAM_H
