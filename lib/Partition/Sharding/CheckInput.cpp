//===- CheckInput.cpp - What Partition can take ---------------------------===//

#include "Sharding/CheckInput.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         (tensor.getElementType().isIntOrFloat() ||
          isa<ComplexType>(tensor.getElementType()));
}

static LogicalResult checkOperation(Operation *op) {
  if (isa<func::CallOp>(op))
    return op->emitOpError() << "expected calls to be inlined before "
                                "Partition; run sp-import-pipeline";
  if (isa<sdy::ManualComputationOp>(op))
    return op->emitOpError() << "is already partitioned by hand; expected the "
                                "program as one device would run it, without "
                                "shard_map";
  if (isa<sdy::NamedComputationOp>(op))
    return op->emitOpError() << "expected named computations to be inlined "
                                "before Partition";
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock())
      return op->emitOpError() << "expected regions of one block";
  for (Type type : op->getResultTypes())
    if (!isStaticTensor(type))
      return op->emitOpError()
             << "expected tensors of static shape, of numbers or booleans, but "
                "got "
             << type;
  return success();
}

LogicalResult mlir::sp::checkInput(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments())
    if (!isStaticTensor(argument.getType()))
      return emitError(argument.getLoc())
             << "expected argument " << argument.getArgNumber()
             << " to be a tensor of static shape, of numbers or booleans, but "
                "got "
             << argument.getType();
  WalkResult walked = func.getBody().walk(
      [](Operation *op) -> WalkResult { return checkOperation(op); });
  return failure(walked.wasInterrupted());
}
