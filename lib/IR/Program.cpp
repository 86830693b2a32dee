//===- Program.cpp - The function that the stages rewrite -----------------===//

#include "sp/IR/Program.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/SP.h"

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

InFlightDiagnostic mlir::sp::programError(func::FuncOp func) {
  Location own = func.getLoc();
  return emitError(
      isa<UnknownLoc>(own) ? func->getParentOfType<ModuleOp>().getLoc() : own);
}

/// A layout or axis among the attributes that is not of the mesh, or null.
static Attribute findForeign(Operation *op, MeshOp mesh) {
  Attribute foreign;
  auto isOfMesh = [&](AxisAttr axis) {
    return mesh && mesh.findFactor(axis).has_value();
  };
  op->getAttrDictionary().walk([&](Attribute attr) {
    auto layout = dyn_cast<LayoutAttr>(attr);
    if (layout && layout.getRanks() > 1 &&
        (!isOfMesh(layout.getAxis()) ||
         layout.getRanks() != mesh.getAxisSize(layout.getAxis())))
      foreign = layout;
    auto axis = dyn_cast<AxisAttr>(attr);
    if (axis && !axis.getName().empty() && !isOfMesh(axis) && !foreign)
      foreign = axis;
  });
  return foreign;
}

LogicalResult mlir::sp::checkLayouts(ModuleOp module) {
  MeshOp mesh = getMesh(module);
  bool isRight = true;
  module.walk([&](Operation *op) {
    Attribute foreign = findForeign(op, mesh);
    if (!foreign)
      return;
    isRight = false;
    if (mesh)
      op->emitOpError() << "expected layouts on the axes of mesh "
                        << mesh.getMesh().getText() << " but got " << foreign;
    else
      op->emitOpError() << "expected a mesh beside " << foreign;
  });
  return success(isRight);
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
