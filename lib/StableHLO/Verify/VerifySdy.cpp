//===- VerifySdy.cpp - Rules of shardings ---------------------------------===//

#include "Verify/Verify.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::sdy;

/// Axes of a sharding exist in its mesh, and no axis is used twice; factors
/// divide their axis.
static LogicalResult verifyAxes(Operation *op, MeshAttr mesh,
                                ArrayRef<AxisRefAttr> axes,
                                llvm::SmallDenseSet<AxisRefAttr> &seen) {
  for (AxisRefAttr axis : axes) {
    MeshAxisAttr full = mesh.getAxis(axis.getName());
    if (!full) {
      InFlightDiagnostic diag = op->emitOpError()
                                << "expected an axis of the mesh but got \""
                                << axis.getName() << "\"; it has ";
      llvm::interleaveComma(mesh.getAxes(), diag, [&](MeshAxisAttr it) {
        diag << '"' << it.getName() << '"';
      });
      return diag;
    }
    if (SubAxisInfoAttr factor = axis.getSubAxisInfo()) {
      int64_t preSize = factor.getPreSize(), size = factor.getSize();
      bool divides = preSize > 0 && size > 0 && full.getSize() % preSize == 0 &&
                     full.getSize() / preSize % size == 0;
      if (!divides)
        return op->emitOpError()
               << "expected a factor of axis \"" << axis.getName()
               << "\" of size " << full.getSize() << " but got (" << preSize
               << ")" << size;
    }
    if (!seen.insert(axis).second)
      return op->emitOpError() << "expected axis \"" << axis.getName()
                               << "\" only once in a sharding";
  }
  return success();
}

/// (C1) of a sharding: its mesh exists, its rank is the tensor's, its axes are
/// of the mesh.
static LogicalResult verifySharding(Operation *op, TensorShardingAttr sharding,
                                    Type type, SymbolTableCollection &symbols) {
  auto mesh = dyn_cast<MeshAttr>(sharding.getMeshOrRef());
  if (!mesh) {
    auto meshOp = symbols.lookupNearestSymbolFrom<MeshOp>(
        op, cast<FlatSymbolRefAttr>(sharding.getMeshOrRef()));
    if (!meshOp)
      return op->emitOpError()
             << "expected a mesh called '@" << sharding.getMeshName() << "'";
    mesh = meshOp.getMesh();
  }
  int64_t rank = cast<RankedTensorType>(type).getRank();
  if (sharding.getRank() != rank)
    return op->emitOpError() << "expected a sharding of " << rank
                             << " dimensions but got " << sharding.getRank();
  llvm::SmallDenseSet<AxisRefAttr> seen;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    if (failed(verifyAxes(op, mesh, dim.getAxes(), seen)))
      return failure();
  if (failed(verifyAxes(op, mesh, sharding.getReplicatedAxes(), seen)))
    return failure();
  return verifyAxes(op, mesh, sharding.getUnreducedAxes(), seen);
}

LogicalResult
ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySharding(*this, getSharding(), getType(), symbols);
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySharding(*this, getSharding(), getType(), symbols);
}

/// Local type of a value at the border of a manual computation: sizes divided
/// by the manual axes of each dimension.
static Type getLocalType(Operation *op, Type type, TensorShardingAttr sharding,
                         ArrayRef<StringAttr> manualAxes) {
  auto tensor = cast<RankedTensorType>(type);
  MeshAttr mesh = sharding.getMesh(op);
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.getDimShardings()))
    for (AxisRefAttr axis : dim.getAxes())
      if (llvm::is_contained(manualAxes, axis.getName()) &&
          !ShapedType::isDynamic(size))
        size = llvm::divideCeil(size, axis.getSize(mesh));
  return tensor.clone(shape);
}

/// (C1) and (C2) for one side of a manual computation.
static LogicalResult verifyBorder(ManualComputationOp op, StringRef name,
                                  TypeRange global, TypeRange local,
                                  TensorShardingPerValueAttr shardings,
                                  SymbolTableCollection &symbols) {
  size_t count = shardings.getShardings().size();
  if (count != global.size() || local.size() != global.size())
    return op.emitOpError()
           << "expected " << global.size() << " " << name << " but got "
           << count << " shardings and " << local.size() << " in the body";
  for (auto [i, sharding] : llvm::enumerate(shardings.getShardings())) {
    if (failed(verifySharding(op, sharding, global[i], symbols)))
      return failure();
    Type expected =
        getLocalType(op, global[i], sharding, op.getManualAxes().getAxes());
    if (local[i] != expected)
      return op.emitOpError()
             << "expected " << name << " " << i << " of local type " << expected
             << " but got " << local[i];
  }
  return success();
}

LogicalResult
ManualComputationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Block &block = getBody().front();
  auto terminator =
      block.empty() ? sdy::ReturnOp() : dyn_cast<sdy::ReturnOp>(block.back());
  if (!terminator)
    return emitOpError() << "expected the body to end in 'sdy.return'";
  if (failed(verifyBorder(*this, "operands", getOperandTypes(),
                          block.getArgumentTypes(), getInShardings(), symbols)))
    return failure();
  return verifyBorder(*this, "results", getResultTypes(),
                      terminator.getOperandTypes(), getOutShardings(), symbols);
}

//===----------------------------------------------------------------------===//
// Shardings attached to arguments, results and operations
//===----------------------------------------------------------------------===//

/// The sharding of one argument or result of a function.
static LogicalResult verifyAttached(Operation *op, NamedAttribute attribute,
                                    Type type) {
  if (attribute.getName() != "sdy.sharding")
    return success();
  auto sharding = dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding || !isa<RankedTensorType>(type))
    return op->emitOpError() << "expected 'sdy.sharding' to be a #sdy.sharding "
                                "of a tensor but got "
                             << attribute.getValue() << " of " << type;
  SymbolTableCollection symbols;
  return verifySharding(op, sharding, type, symbols);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyAttached(op, attribute, function.getArgumentTypes()[argument]);
}

LogicalResult SdyDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  return verifyAttached(op, attribute, function.getResultTypes()[result]);
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != "sdy.sharding")
    return success();
  auto shardings = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue());
  if (!shardings || shardings.getShardings().size() != op->getNumResults())
    return op->emitOpError()
           << "expected 'sdy.sharding' to have a sharding for "
              "each of "
           << op->getNumResults() << " results but got "
           << attribute.getValue();
  SymbolTableCollection symbols;
  for (auto [sharding, type] :
       llvm::zip_equal(shardings.getShardings(), op->getResultTypes()))
    if (isa<RankedTensorType>(type) &&
        failed(verifySharding(op, sharding, type, symbols)))
      return failure();
  return success();
}
