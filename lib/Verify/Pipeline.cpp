//===- Pipeline.cpp - The stage Verify -----------------------------------===//

#include "sp/Verify/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::buildVerifyPipeline(OpPassManager &pm) {
  pm.addPass(createVerifyCoveragePass());
  pm.addPass(createVerifyStacksPass());
  pm.addPass(createVerifyPlacesPass());
}

void mlir::sp::registerVerifyPipeline() {
  PassPipelineRegistration<>("sp-verify-pipeline", "Proofs about a schedule",
                             buildVerifyPipeline);
}
