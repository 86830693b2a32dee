//===- sp-opt.cpp - Runs passes on textual IR -----------------------------===//

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/Memory/Passes.h"
#include "sp/Partition/Passes.h"
#include "sp/Plan/Passes.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/ModelText.h"
#include "sp/StableHLO/Passes.h"
#include "sp/Verify/Passes.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

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
  mlir::sp::registerSPVerifyPasses();
  mlir::sp::registerVerifyPipeline();
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
  auto [inputPath, outputPath] = mlir::registerAndParseCLIOptions(
      argc, argv, "sp-mlir optimizer driver\n", registry);
  llvm::InitLLVM init(argc, argv);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input =
      mlir::sp::openModel(inputPath, &error);
  std::unique_ptr<llvm::ToolOutputFile> output;
  if (input)
    output = mlir::openOutputFile(outputPath, &error);
  if (!output) {
    llvm::errs() << "sp-opt: error: " << error << "\n";
    return 1;
  }
  mlir::LogicalResult done =
      mlir::MlirOptMain(output->os(), std::move(input), registry,
                        mlir::MlirOptMainConfig::createFromCLOptions());
  if (mlir::succeeded(done))
    output->keep();
  return mlir::asMainReturnCode(done);
}
