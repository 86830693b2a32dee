//===- Pipeline.cpp - sp-import-pipeline ----------------------------------===//

#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void sp::buildImportPipeline(OpPassManager &manager) {
  manager.addPass(createVerifyInputPass());
  manager.addPass(createReplaceCustomCallsPass());
  manager.addPass(createInlineCallsPass());
  manager.addNestedPass<func::FuncOp>(createSimplifyReductionsPass());
  manager.addNestedPass<func::FuncOp>(createFoldConstantsPass());
  manager.addNestedPass<func::FuncOp>(createUnrollLoopsPass());
  manager.addNestedPass<func::FuncOp>(createMergeDuplicatesPass());
  manager.addNestedPass<func::FuncOp>(createJoinProductsPass());
  manager.addNestedPass<func::FuncOp>(createSplitResidualsPass());
  manager.addNestedPass<func::FuncOp>(createRecomputeResidualsPass());
  manager.addPass(createSimplifyLoopsPass());
  manager.addNestedPass<func::FuncOp>(createRepeatResidualsPass());
  manager.addNestedPass<func::FuncOp>(createSimplifyScansPass());
  manager.addPass(createSimplifyLoopsPass());
  manager.addNestedPass<func::FuncOp>(createSplitConcatenationsPass());
  manager.addNestedPass<func::FuncOp>(createFindLogSumExpsPass());
  manager.addNestedPass<func::FuncOp>(createSplitSumsPass());
  manager.addNestedPass<func::FuncOp>(createMergeDuplicatesPass());
  manager.addPass(createImportAttentionPass());
  manager.addPass(createSimplifyLoopsPass());
  manager.addNestedPass<func::FuncOp>(createSliceScattersPass());
  manager.addNestedPass<func::FuncOp>(createPairBatchesPass());
  manager.addNestedPass<func::FuncOp>(createSelectScattersPass());
  manager.addNestedPass<func::FuncOp>(createSplitWindowsPass());
  manager.addNestedPass<func::FuncOp>(createSplitStridesPass());
  manager.addNestedPass<func::FuncOp>(createFoldSlicesOfPadsPass());
  manager.addNestedPass<func::FuncOp>(createOrientProductsPass());
  manager.addNestedPass<func::FuncOp>(createMergeDuplicatesPass());
  manager.addPass(createFindDocumentsPass());
  manager.addPass(createVerifyImportPass());
}

void sp::registerImportPipeline() {
  PassPipelineRegistration<>(
      "sp-import-pipeline",
      "Inlines calls and finds attention: from StableHLO text to sp.attention "
      "among token-local operations",
      [](OpPassManager &manager) { buildImportPipeline(manager); });
}
