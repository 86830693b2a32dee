//===- Pipeline.cpp - The stage Partition --------------------------------===//

#include "sp/Partition/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::buildPartitionPipeline(
    OpPassManager &pm, const PropagateShardingsPassOptions &options,
    const DealParametersPassOptions &parameters) {
  pm.addPass(createResolveDonationsPass());
  pm.addPass(createDealLoopsPass({options.shard}));
  pm.addPass(createDealTensorsPass());
  pm.addPass(createDealParametersPass(parameters));
  pm.addPass(createPropagateShardingsPass(options));
  pm.addPass(createLocalizePass());
  pm.addPass(createSinkReductionsPass());
  pm.addPass(createJoinSumsPass());
  pm.addPass(createDealResidualsPass());
  // What is one value travels once.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyPartitionPass());
  pm.addPass(createVerifyAxesPass());
}

void mlir::sp::registerPartitionPipeline() {
  PassPipelineRegistration<>(
      "sp-partition-pipeline", "Global shapes to one program for every rank",
      [](OpPassManager &pm) { buildPartitionPipeline(pm); });
}

void mlir::sp::buildAccumulatePipeline(OpPassManager &pm,
                                       int64_t microBatches) {
  pm.addPass(createResolveDonationsPass());
  pm.addPass(createDealTurnsPass({microBatches}));
  pm.addPass(createPropagateShardingsPass());
  pm.addPass(createLocalizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSinkReductionsPass());
  pm.addPass(createVerifyAxesPass());
  pm.addPass(createFoldTurnsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

namespace {

struct AccumulatePipelineOptions
    : PassPipelineOptions<AccumulatePipelineOptions> {
  Option<int64_t> microBatches{*this, "micro-batches",
                               llvm::cl::desc("Parts of the batch."),
                               llvm::cl::init(1)};
};

} // namespace

void mlir::sp::registerAccumulatePipeline() {
  PassPipelineRegistration<AccumulatePipelineOptions>(
      "sp-accumulate-pipeline", "A loop over micro-batches, and one update",
      [](OpPassManager &pm, const AccumulatePipelineOptions &options) {
        buildAccumulatePipeline(pm, options.microBatches);
      });
}
