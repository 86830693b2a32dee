#include "BatchRows.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/RowsOfBatch.h"
#include "sp/IR/ShardingRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sp;

/// Numbers of documents of all rows.
static int64_t numbersOf(DocumentsOp documents, func::FuncOp main) {
  if (documents.isComputed())
    return cast<RankedTensorType>(documents.getNumbers().getType())
        .getNumElements();
  int64_t argument = documents.getArguments()[0];
  auto type = cast<RankedTensorType>(main.getArgumentTypes()[argument]);
  auto sharding = main.getArgAttrOfType<ShardingAttr>(argument, kSharding);
  if (!sharding)
    return type.getNumElements();
  int64_t numbers = 1;
  for (DimAttr dim : sharding.getDims())
    numbers *= lengthOf(dim);
  return numbers;
}

LogicalResult mlir::sp::checkBatchRows(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  int64_t rows = 1;
  if (main)
    for (auto documents : module.getOps<DocumentsOp>())
      rows = std::max<int64_t>(rows, numbersOf(documents, main) /
                                         documents.getLength());
  if (rows == 1)
    return success();
  WalkResult walked = main.getBody().walk([&](Operation *op) -> WalkResult {
    bool isDealt = false;
    for (NamedAttribute named : op->getAttrs())
      named.getValue().walk(
          [&](LayoutAttr layout) { isDealt |= layout.isOfBatch(); });
    if (!isDealt || rowsLoopOf(op->getParentOp()))
      return success();
    return op->emitOpError()
           << "is dealt by documents of " << rows
           << " rows, but is in no loop that goes through them";
  });
  return failure(walked.wasInterrupted());
}
