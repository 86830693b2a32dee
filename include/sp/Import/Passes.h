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

/// What gradients compute again: what the model's checkpoints say, nothing, all
/// of a layer, or what checkpoints say without attention (Selective
/// Checkpoint++, arXiv:2406.18485).
enum class Checkpoint { AsWritten, None, Full, AttentionOut };

/// `sp-import-pipeline`: checks the input, inlines calls, finds attention, and
/// removes what it leaves unused. Ends with `sp-verify-import`.
void buildImportPipeline(OpPassManager &manager,
                         Checkpoint checkpoint = Checkpoint::AsWritten);

void registerImportPipeline();

} // namespace mlir::sp

#endif // SP_IMPORT_PASSES_H
