//===- sp-lsp-server.cpp - Language server for textual IR -----------------===//

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::sp::registerInputDialects(registry);
  registry.insert<mlir::sp::SpDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
