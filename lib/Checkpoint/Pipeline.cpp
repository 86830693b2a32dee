//===- Pipeline.cpp - sp-checkpoint-pipeline ------------------------------===//

#include "sp/Checkpoint/Passes.h"
#include "sp/StableHLO/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void sp::forgetCheckpoints(OpPassManager &manager, Checkpoint checkpoint) {
  if (checkpoint == Checkpoint::None || checkpoint == Checkpoint::Full)
    manager.addNestedPass<func::FuncOp>(createForgetCheckpointsPass());
}

void sp::buildCheckpointPipeline(OpPassManager &manager,
                                 Checkpoint checkpoint) {
  manager.addNestedPass<func::FuncOp>(
      createSaveAttentionPass({checkpoint == Checkpoint::AttentionOut}));
  if (checkpoint == Checkpoint::Full)
    manager.addNestedPass<func::FuncOp>(createRecomputeLayersPass());
  manager.addPass(createSimplifyLoopsPass());
  manager.addNestedPass<func::FuncOp>(createMergeDuplicatesPass());
}

void sp::registerCheckpointPipeline() {
  PassPipelineRegistration<>(
      "sp-checkpoint-pipeline",
      "Saves attention for the gradients that would compute it again",
      [](OpPassManager &manager) { buildCheckpointPipeline(manager); });
}
