//===- Pipeline.cpp - The stage Memory -----------------------------------===//

#include "sp/Memory/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::buildMemoryPipeline(OpPassManager &pm,
                                   const MemoryOptions &options) {
  if (options.farFlopsPerByte > 0)
    pm.addPass(createPlaceFarPass(
        {options.farFlopsPerByte, options.arenaBytes, options.farState}));
  pm.addPass(createWriteInPlacePass());
  pm.addPass(createInsertCopiesPass());
  pm.addPass(createAssignOffsetsPass({options.onlySizes}));
  if (!options.onlySizes)
    pm.addPass(createVerifyMemoryPass());
}

void mlir::sp::registerMemoryPipeline() {
  PassPipelineRegistration<>(
      "sp-memory-pipeline", "Values to offsets in an arena",
      [](OpPassManager &pm) { buildMemoryPipeline(pm); });
}
