//===- sp-opt.cpp - Runs passes on textual IR -----------------------------===//

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/Memory/Passes.h"
#include "sp/Partition/Passes.h"
#include "sp/Plan/Passes.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/Passes.h"

/// The one place where each stage adds its passes and pipelines.
static void registerOurPasses() {
  mlir::sp::registerSPInputPasses();
  mlir::sp::registerSPImportPasses();
  mlir::sp::registerImportPipeline();
  mlir::sp::registerSPPlanPasses();
  mlir::sp::registerPlanPipeline();
  mlir::sp::registerSPPartitionPasses();
  mlir::sp::registerPartitionPipeline();
  mlir::sp::registerSPSchedulePasses();
  mlir::sp::registerSchedulePipeline();
  mlir::sp::registerSPMemoryPasses();
  mlir::sp::registerMemoryPipeline();
}

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  registerOurPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::sp::registerInputDialects(registry);
  registry.insert<mlir::sp::SpDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "sp-mlir optimizer driver\n", registry));
}
