#ifndef SP_STABLEHLO_MODELDIAGNOSTICS_H
#define SP_STABLEHLO_MODELDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::sp {

/// Prints diagnostics with the lines that they speak of. Of a model as a whole
/// there is none: what stands first in JAX's text, `#loc = loc(unknown)`, is
/// not the user's, and only the file is named.
class ModelDiagnostics : public SourceMgrDiagnosticHandler {
public:
  ModelDiagnostics(llvm::SourceMgr &sources, MLIRContext *context);

private:
  bool hasLine(Location location) const;
};

} // namespace mlir::sp

#endif // SP_STABLEHLO_MODELDIAGNOSTICS_H
