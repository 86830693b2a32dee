//===- Program.cpp - The function that the stages rewrite -----------------===//

#include "sp/IR/Program.h"
#include "sp/IR/Attributes.h"

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

std::optional<unsigned> mlir::sp::donatedTo(func::FuncOp func,
                                            unsigned argument) {
  auto result = func.getArgAttrOfType<IntegerAttr>(argument, kDonatedTo);
  int64_t number = result ? result.getValue().getSExtValue() : -1;
  if (number < 0 || number >= func.getNumResults() ||
      func.getResultTypes()[number] != func.getArgumentTypes()[argument])
    return std::nullopt;
  return number;
}
