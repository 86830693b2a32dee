/// Checkpoint: what gradients take from the forward and what they compute
/// again.
#ifndef SP_CHECKPOINT_PASSES_H
#define SP_CHECKPOINT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Checkpoint/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sp/Checkpoint/Passes.h.inc"

/// What gradients compute again: what the model's checkpoints say, nothing, all
/// of a layer, or what checkpoints say without attention (Selective
/// Checkpoint++, arXiv:2406.18485).
enum class Checkpoint { AsWritten, None, Full, AttentionOut };

/// Before Import: takes the model's own checkpoints away where they do not
/// count.
void forgetCheckpoints(OpPassManager &manager, Checkpoint checkpoint);

/// `sp-checkpoint-pipeline`, behind Import: saves attention, or computes layers
/// again, and removes what that leaves unused. The output form is Import's, and
/// `sp-verify-import` its guard.
void buildCheckpointPipeline(OpPassManager &manager,
                             Checkpoint checkpoint = Checkpoint::AsWritten);

void registerCheckpointPipeline();

} // namespace mlir::sp

#endif // SP_CHECKPOINT_PASSES_H
