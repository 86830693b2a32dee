/// Schedule: token-local operations to commands, communication to start and
/// wait.
#ifndef SP_SCHEDULE_PASSES_H
#define SP_SCHEDULE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Schedule/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/Schedule/Passes.h.inc"

/// Adds the stage: products, kernels, communication, verify. With
/// `hasEpilogues` the library adds biases to products and applies activations.
void buildSchedulePipeline(OpPassManager &pm, bool hasEpilogues = false);
void registerSchedulePipeline();

} // namespace mlir::sp

#endif // SP_SCHEDULE_PASSES_H
