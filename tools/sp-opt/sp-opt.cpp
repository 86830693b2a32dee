//===- sp-opt.cpp - Runs passes on textual IR -----------------------------===//

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

/// The one place where each stage adds its passes and pipelines.
static void registerOurPasses() {}

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
