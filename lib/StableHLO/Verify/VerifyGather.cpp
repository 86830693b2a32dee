//===- VerifyGather.cpp - Rules of gather and scatter ---------------------===//

#include "Verify/Verify.h"

#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using sp::shapeOf;

namespace {
/// What gather and scatter have in common, under gather's names: windows of an
/// operand at places read from indices.
struct Places {
  Operation *op;
  ArrayRef<int64_t> operand, indices;
  ArrayRef<int64_t> collapsed, operandBatch, indicesBatch, indexMap;
  int64_t indexVectorDim;
  StringRef collapsedName, operandBatchName, indicesBatchName, indexMapName;

  LogicalResult verify() const;
  /// Sizes of the dimensions of the indices, without the vector.
  SmallVector<int64_t> getBatchSizes() const;
};
} // namespace

LogicalResult Places::verify() const {
  int64_t rank = operand.size(), indicesRank = indices.size();
  if (indexVectorDim < 0 || indexVectorDim > indicesRank)
    return op->emitOpError() << "expected index_vector_dim from 0 to "
                             << indicesRank << " but got " << indexVectorDim;
  if (failed(verifyDims(op, collapsedName, collapsed, rank, /*sorted=*/true)) ||
      failed(verifyDims(op, operandBatchName, operandBatch, rank, true)) ||
      failed(verifyDims(op, indicesBatchName, indicesBatch, indicesRank)) ||
      failed(verifyDims(op, indexMapName, indexMap, rank)))
    return failure();
  for (int64_t dim : operandBatch)
    if (llvm::is_contained(collapsed, dim) || llvm::is_contained(indexMap, dim))
      return op->emitOpError()
             << "expected " << operandBatchName << " apart from "
             << collapsedName << " and " << indexMapName << " but got " << dim;
  if (operandBatch.size() != indicesBatch.size())
    return op->emitOpError()
           << "expected as many " << operandBatchName << " as "
           << indicesBatchName << " but got " << text(operandBatch) << " and "
           << text(indicesBatch);
  for (auto [dim, place] : llvm::zip_equal(operandBatch, indicesBatch)) {
    if (place == indexVectorDim)
      return op->emitOpError() << "expected " << indicesBatchName
                               << " without index_vector_dim " << place;
    if (!sameSize(operand[dim], indices[place]))
      return op->emitOpError()
             << "expected batching dimensions of equal size but got "
             << operand[dim] << " and " << indices[place];
  }
  int64_t vectorSize =
      indexVectorDim < indicesRank ? indices[indexVectorDim] : 1;
  if (sameSize(vectorSize, indexMap.size()))
    return success();
  return op->emitOpError() << "expected " << vectorSize << " values in "
                           << indexMapName << " but got " << indexMap.size();
}

SmallVector<int64_t> Places::getBatchSizes() const {
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(indices))
    if (int64_t(dim) != indexVectorDim)
      sizes.push_back(size);
  return sizes;
}

/// Shape with `windows` at the places of `windowDims` and `batch` elsewhere,
/// each in order.
static SmallVector<int64_t> placeWindows(ArrayRef<int64_t> windowDims,
                                         ArrayRef<int64_t> windows,
                                         ArrayRef<int64_t> batch) {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, rank = windows.size() + batch.size(); dim < rank;
       ++dim) {
    bool isWindow = llvm::is_contained(windowDims, dim);
    ArrayRef<int64_t> &from = isWindow ? windows : batch;
    shape.push_back(from.consume_front());
  }
  return shape;
}

LogicalResult GatherOp::verify() {
  GatherDimensionNumbersAttr numbers = getDimensionNumbers();
  ArrayRef<int64_t> operand = shapeOf(getOperand()), sizes = getSliceSizes();
  Places places = {*this,
                   operand,
                   shapeOf(getStartIndices()),
                   numbers.getCollapsedSliceDims(),
                   numbers.getOperandBatchingDims(),
                   numbers.getStartIndicesBatchingDims(),
                   numbers.getStartIndexMap(),
                   numbers.getIndexVectorDim(),
                   "collapsed_slice_dims",
                   "operand_batching_dims",
                   "start_indices_batching_dims",
                   "start_index_map"};
  // (C1)
  if (failed(places.verify()))
    return failure();
  // (C2)
  if (failed(verifyLength(*this, "slice_sizes", sizes.size(), operand.size())))
    return failure();
  SmallVector<int64_t> windows;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    bool dropped = llvm::is_contained(places.collapsed, dim) ||
                   llvm::is_contained(places.operandBatch, dim);
    int64_t limit = ShapedType::isDynamic(operand[dim]) ? size : operand[dim];
    if (dropped)
      limit = std::min<int64_t>(limit, 1);
    else
      windows.push_back(size);
    if (size < 0 || size > limit)
      return emitOpError() << "expected slice size of dimension " << dim
                           << " from 0 to " << limit << " but got " << size;
  }
  // (C3)
  SmallVector<int64_t> batch = places.getBatchSizes();
  if (failed(verifyLength(*this, "offset_dims", numbers.getOffsetDims().size(),
                          windows.size())) ||
      failed(verifyDims(*this, "offset_dims", numbers.getOffsetDims(),
                        windows.size() + batch.size(), /*sorted=*/true)))
    return failure();
  return verifyShape(*this, getResult(),
                     placeWindows(numbers.getOffsetDims(), windows, batch));
}

LogicalResult ScatterOp::verify() {
  ScatterDimensionNumbersAttr numbers = getScatterDimensionNumbers();
  // (C1)
  if (getInputs().empty() || getInputs().getTypes() != getResultTypes())
    return emitOpError() << "expected inputs, and results of their types";
  ArrayRef<int64_t> operand = shapeOf(getInputs().front());
  ArrayRef<int64_t> update = shapeOf(getUpdates().front());
  for (auto [input, updates] : llvm::zip_equal(getInputs(), getUpdates()))
    if (!sameShape(shapeOf(input), operand) ||
        !sameShape(shapeOf(updates), update))
      return emitOpError()
             << "expected all inputs of one shape, and all updates";
  Places places = {*this,
                   operand,
                   shapeOf(getScatterIndices()),
                   numbers.getInsertedWindowDims(),
                   numbers.getInputBatchingDims(),
                   numbers.getScatterIndicesBatchingDims(),
                   numbers.getScatterDimsToOperandDims(),
                   numbers.getIndexVectorDim(),
                   "inserted_window_dims",
                   "input_batching_dims",
                   "scatter_indices_batching_dims",
                   "scatter_dims_to_operand_dims"};
  // (C2)
  if (failed(places.verify()) ||
      failed(verifyDims(*this, "update_window_dims",
                        numbers.getUpdateWindowDims(), update.size(),
                        /*sorted=*/true)))
    return failure();
  // (C3)
  SmallVector<int64_t> limits, windows;
  for (auto [dim, size] : llvm::enumerate(operand))
    if (!llvm::is_contained(places.collapsed, dim) &&
        !llvm::is_contained(places.operandBatch, dim))
      limits.push_back(size);
  if (failed(verifyLength(*this, "update_window_dims",
                          numbers.getUpdateWindowDims().size(), limits.size())))
    return failure();
  for (auto [dim, limit] :
       llvm::zip_equal(numbers.getUpdateWindowDims(), limits)) {
    windows.push_back(update[dim]);
    if (!ShapedType::isDynamic(limit) && update[dim] > limit)
      return emitOpError() << "expected update dimension " << dim
                           << " of at most " << limit << " but got "
                           << update[dim];
  }
  SmallVector<int64_t> expected = placeWindows(numbers.getUpdateWindowDims(),
                                               windows, places.getBatchSizes());
  if (!sameShape(update, expected))
    return emitOpError() << "expected updates of shape " << text(expected)
                         << " but got " << text(update);
  // (C4)
  SmallVector<Type> scalars, all;
  for (Value input : getInputs())
    scalars.push_back(scalarOf(input));
  all = scalars;
  for (Value updates : getUpdates())
    all.push_back(scalarOf(updates));
  return verifyRegion(*this, "the body", getUpdateComputation(), all, scalars);
}
