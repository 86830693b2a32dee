/// Import: from StableHLO text to `sp.attention` among token-local operations.
#ifndef SP_IMPORT_PASSES_H
#define SP_IMPORT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Import/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sp/Import/Passes.h.inc"

/// `sp-import-pipeline`: checks the input, inlines calls, finds attention, and
/// removes what it leaves unused. Ends with `sp-verify-import`.
void buildImportPipeline(OpPassManager &manager);

void registerImportPipeline();

} // namespace mlir::sp

#endif // SP_IMPORT_PASSES_H
