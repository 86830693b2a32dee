//===- sp-opt.cpp - Runs passes on textual IR -----------------------------===//

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "sp/Checkpoint/Passes.h"
#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/Memory/Passes.h"
#include "sp/Partition/Passes.h"
#include "sp/Plan/Passes.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/ModelText.h"
#include "sp/StableHLO/Passes.h"
#include "sp/Verify/Passes.h"
#include "sprt/files.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

/// The one place where each stage adds its passes and pipelines.
static void registerOurPasses() {
  mlir::sp::registerSPInputPasses();
  mlir::sp::registerSPImportPasses();
  mlir::sp::registerImportPipeline();
  mlir::sp::registerSPCheckpointPasses();
  mlir::sp::registerCheckpointPipeline();
  mlir::sp::registerSPPlanPasses();
  mlir::sp::registerPlanPipeline();
  mlir::sp::registerSPPartitionPasses();
  mlir::sp::registerPartitionPipeline();
  mlir::sp::registerAccumulatePipeline();
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
  if (!input) {
    llvm::errs() << "sp-opt: error: " << error << "\n";
    return 1;
  }
  std::string text;
  llvm::raw_string_ostream held(text);
  bool prints = outputPath == "-";
  mlir::LogicalResult done = mlir::MlirOptMain(
      prints ? static_cast<llvm::raw_ostream &>(llvm::outs()) : held,
      std::move(input), registry,
      mlir::MlirOptMainConfig::createFromCLOptions());
  if (prints || mlir::failed(done))
    return mlir::asMainReturnCode(done);
  sprt_status *status =
      sprt_file_write(outputPath.c_str(), text.data(), text.size());
  if (!status)
    return 0;
  llvm::errs() << "sp-opt: error: " << sprt_status_text(status) << "\n";
  sprt_status_free(status);
  return 1;
}
