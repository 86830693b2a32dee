//===- Pipeline.cpp - The stage Partition --------------------------------===//

#include "sp/Partition/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::buildPartitionPipeline(
    OpPassManager &pm, const PropagateShardingsPassOptions &options) {
  pm.addPass(createResolveDonationsPass());
  pm.addPass(createPropagateShardingsPass(options));
  pm.addPass(createLocalizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyPartitionPass());
}

void mlir::sp::registerPartitionPipeline() {
  PassPipelineRegistration<>(
      "sp-partition-pipeline", "Global shapes to one program for every rank",
      [](OpPassManager &pm) { buildPartitionPipeline(pm); });
}
