//===- Program.cpp - The function that the stages rewrite -----------------===//

#include "sp/IR/Program.h"

using namespace mlir;
using namespace mlir::sp;

FailureOr<func::FuncOp> mlir::sp::findProgram(ModuleOp module) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  if (!func)
    return module.emitError() << "expected a function called 'main'";
  if (!func.getBody().hasOneBlock())
    return func.emitOpError()
           << "expected a body of one block but got "
           << static_cast<int64_t>(func.getBody().getBlocks().size());
  return func;
}
