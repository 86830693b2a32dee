//===- VerifyImport.cpp - The output form of Import -----------------------===//

#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYIMPORTPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether a function is what attentions make exponents by.
static bool isScore(func::FuncOp function) {
  if (!function.isPrivate() || function.isExternal())
    return false;
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, function->getParentOp());
  return uses && !uses->empty() &&
         llvm::all_of(*uses, [](const SymbolTable::SymbolUse &use) {
           return isa<AttentionOp, AttentionBackwardOp>(use.getUser());
         });
}

static LogicalResult verifyOperation(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool known =
      dialect == "stablehlo" || dialect == "chlo" || dialect == "sdy" ||
      isa<func::ReturnOp, AttentionOp, AttentionBackwardOp, MeshOp>(op);
  if (!known || isa<stablehlo::CompositeOp>(op))
    return op->emitError("expected operations of StableHLO and attention after "
                         "import but got '")
           << op->getName() << "'";
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes())))
    if (!isStatic(type))
      return op->emitError("expected static shapes but got ") << type;
  return success();
}

namespace {

class VerifyImportPass
    : public sp::impl::VerifyImportPassBase<VerifyImportPass> {
public:
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

private:
  LogicalResult verify() {
    func::FuncOp main;
    for (Operation &op : *getOperation().getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function) {
        if (isa<sdy::MeshOp, MeshOp, DocumentsOp>(op))
          continue;
        return op.emitError("expected functions, meshes and documents in a "
                            "module but got '")
               << op.getName() << "'";
      }
      if (isScore(function))
        continue;
      if (main)
        return function.emitError("expected one function after import but got "
                                  "another one, \"")
               << function.getName() << "\"";
      main = function;
    }
    if (!main || main.getName() != "main" || !main.isPublic())
      return getOperation().emitError("expected a public function @main");
    if (!main.getBody().hasOneBlock())
      return main.emitError("expected a body of one block");
    WalkResult result = main.getBody().walk([](Operation *op) {
      return failed(verifyOperation(op)) ? WalkResult::interrupt()
                                         : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
