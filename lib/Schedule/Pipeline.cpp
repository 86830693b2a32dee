//===- Pipeline.cpp - The stage Schedule ---------------------------------===//

#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::buildSchedulePipeline(OpPassManager &pm,
                                     const ScheduleOptions &options) {
  pm.addPass(createCountLoopsPass());
  pm.addPass(createBlockRowsPass({options.rowBlocks, options.blockRows}));
  pm.addPass(createConvertGemmPass());
  if (options.hasEpilogues)
    pm.addPass(createFuseEpiloguesPass());
  pm.addPass(createSinkConstantsPass());
  pm.addPass(createOutlineKernelsPass());
  pm.addPass(createCSEPass());
  // From here on the order of commands keeps apart what barriers did.
  pm.addNestedPass<func::FuncOp>(createForgetCheckpointsPass());
  pm.addPass(createSinkConstantsPass());
  if (options.raiseUpdates)
    pm.addPass(createRaiseUpdatesPass());
  pm.addPass(createBucketReductionsPass());
  pm.addPass(createGatherAheadPass());
  pm.addPass(createStartCommunicationPass());
  pm.addPass(createVerifySchedulePass());
}

void mlir::sp::registerSchedulePipeline() {
  PassPipelineRegistration<>(
      "sp-schedule-pipeline", "One program to a list of commands",
      [](OpPassManager &pm) { buildSchedulePipeline(pm); });
}
