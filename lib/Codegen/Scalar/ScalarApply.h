/// Operations of StableHLO as arithmetic on scalars.
#ifndef SP_LIB_CODEGEN_SCALARAPPLY_H
#define SP_LIB_CODEGEN_SCALARAPPLY_H

#include "Scalar/ScalarEmitter.h"

namespace mlir::sp {

/// Whether applyToScalars knows the operation.
bool hasScalarForm(Operation *op);

/// An elementwise operation on scalars; a null value if it is not supported
/// for its element type. Operands are as the operation lists them.
Scalar applyToScalars(ScalarEmitter &s, Operation *op,
                      ArrayRef<Scalar> operands);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_SCALARAPPLY_H
