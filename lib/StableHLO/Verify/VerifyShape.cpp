//===- VerifyShape.cpp - Rules of data movement ---------------------------===//

#include "Verify/Verify.h"

#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using sp::shapeOf;

LogicalResult stablehlo::ConstantOp::verify() {
  // (C1)
  if (getValue().getType() == getType())
    return success();
  return emitOpError() << "expected a value of type " << getType()
                       << " but got " << getValue().getType();
}

LogicalResult IotaOp::verify() {
  // (C1)
  int64_t rank = getType().getRank();
  if (int64_t(getIotaDimension()) < rank)
    return success();
  return emitOpError() << "expected iota_dimension below rank " << rank
                       << " but got " << getIotaDimension();
}

LogicalResult BroadcastInDimOp::verify() {
  // (C1)
  ArrayRef<int64_t> from = shapeOf(getOperand()), to = shapeOf(getResult());
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  if (failed(verifyLength(*this, "broadcast_dimensions", dims.size(),
                          from.size())) ||
      failed(verifyDims(*this, "broadcast_dimensions", dims, to.size())))
    return failure();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (from[i] != 1 && !sameSize(from[i], to[dim]))
      return emitOpError() << "expected operand dimension " << i
                           << " of size 1 or " << to[dim] << " but got "
                           << from[i];
  return success();
}

LogicalResult BroadcastOp::verify() {
  // (C1)
  SmallVector<int64_t> expected(getBroadcastSizes());
  llvm::append_range(expected, shapeOf(getOperand()));
  return verifyShape(*this, getResult(), expected);
}

/// Number of elements, capped where it leaves 64 bits.
static int64_t countElements(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t size : type.getShape())
    count = narrow(__int128(count) * size);
  return count;
}

LogicalResult ReshapeOp::verify() {
  // (C1)
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getType());
  if (!from.hasStaticShape() || !to.hasStaticShape() ||
      countElements(from) == countElements(to))
    return success();
  return emitOpError() << "expected " << countElements(from)
                       << " elements in the result but got "
                       << countElements(to);
}

LogicalResult TransposeOp::verify() {
  // (C1)
  ArrayRef<int64_t> from = shapeOf(getOperand());
  if (failed(verifyLength(*this, "permutation", getPermutation().size(),
                          from.size())) ||
      failed(verifyDims(*this, "permutation", getPermutation(), from.size())))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t dim : getPermutation())
    expected.push_back(from[dim]);
  return verifyShape(*this, getResult(), expected);
}

LogicalResult ReverseOp::verify() {
  return verifyDims(*this, "dimensions", getDimensions(),
                    shapeOf(getOperand()).size());
}

LogicalResult GetDimensionSizeOp::verify() {
  return verifyDims(*this, "dimension", {int64_t(getDimension())},
                    shapeOf(getOperand()).size());
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getOperand());
  int64_t rank = from.size();
  if (failed(verifyLength(*this, "start_indices", getStartIndices().size(),
                          rank)) ||
      failed(verifyLength(*this, "limit_indices", getLimitIndices().size(),
                          rank)) ||
      failed(verifyLength(*this, "strides", getStrides().size(), rank)))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t dim = 0; dim < rank; ++dim) {
    // (C1)
    int64_t start = getStartIndices()[dim], limit = getLimitIndices()[dim];
    int64_t stride = getStrides()[dim];
    bool inside = ShapedType::isDynamic(from[dim]) || limit <= from[dim];
    if (start < 0 || start > limit || !inside)
      return emitOpError() << "expected 0 <= start <= limit <= " << from[dim]
                           << " in dimension " << dim << " but got " << start
                           << ":" << limit;
    if (stride < 1)
      return emitOpError() << "expected a stride of at least 1 in dimension "
                           << dim << " but got " << stride;
    expected.push_back(llvm::divideCeil(limit - start, stride));
  }
  // (C2)
  return verifyShape(*this, getResult(), expected);
}

LogicalResult DynamicSliceOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getOperand()), sizes = getSliceSizes();
  // (C1)
  if (failed(verifyLength(*this, "start_indices", getStartIndices().size(),
                          from.size())) ||
      failed(verifyLength(*this, "slice_sizes", sizes.size(), from.size())))
    return failure();
  // (C2)
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || (!ShapedType::isDynamic(from[dim]) && size > from[dim]))
      return emitOpError() << "expected slice size of dimension " << dim
                           << " from 0 to " << from[dim] << " but got " << size;
  return verifyShape(*this, getResult(), sizes);
}

LogicalResult DynamicUpdateSliceOp::verify() {
  // (C1)
  ArrayRef<int64_t> whole = shapeOf(getOperand()), part = shapeOf(getUpdate());
  if (failed(verifyLength(*this, "start_indices", getStartIndices().size(),
                          whole.size())))
    return failure();
  bool fits = part.size() == whole.size() &&
              llvm::all_of(llvm::zip_equal(part, whole), [](auto pair) {
                auto [size, limit] = pair;
                return size <= limit || ShapedType::isDynamic(limit);
              });
  if (fits)
    return success();
  return emitOpError() << "expected an update that fits " << text(whole)
                       << " but got " << text(part);
}

LogicalResult ConcatenateOp::verify() {
  // (C1)
  if (getInputs().empty())
    return emitOpError() << "expected at least one input";
  int64_t dim = getDimension();
  SmallVector<int64_t> expected(shapeOf(getInputs().front()));
  if (failed(verifyDims(*this, "dimension", {dim}, expected.size())))
    return failure();
  expected[dim] = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    SmallVector<int64_t> shape(shapeOf(input));
    int64_t rank = shape.size();
    int64_t size = dim < rank ? shape[dim] : 0;
    if (dim < rank)
      shape[dim] = expected[dim];
    if (!sameShape(shape, expected))
      return emitOpError() << "expected input " << i << " to have the shape of "
                           << "input 0 except in dimension " << dim
                           << " but got " << input.getType();
    bool isDynamic =
        ShapedType::isDynamic(size) || ShapedType::isDynamic(expected[dim]);
    expected[dim] = isDynamic ? ShapedType::kDynamic
                              : narrow(__int128(expected[dim]) + size);
  }
  return verifyShape(*this, getResult(), expected);
}

LogicalResult PadOp::verify() {
  // (C1)
  ArrayRef<int64_t> from = shapeOf(getOperand());
  int64_t rank = from.size();
  if (failed(verifyLength(*this, "edge_padding_low", getEdgePaddingLow().size(),
                          rank)) ||
      failed(verifyLength(*this, "edge_padding_high",
                          getEdgePaddingHigh().size(), rank)) ||
      failed(verifyLength(*this, "interior_padding",
                          getInteriorPadding().size(), rank)))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t interior = getInteriorPadding()[dim];
    if (interior < 0)
      return emitOpError() << "expected interior padding of at least 0 but got "
                           << interior;
    // (C2)
    int64_t size = from[dim];
    if (!ShapedType::isDynamic(size))
      size = narrow(__int128(size) + getEdgePaddingLow()[dim] +
                    getEdgePaddingHigh()[dim] +
                    __int128(std::max<int64_t>(size - 1, 0)) * interior);
    expected.push_back(size);
  }
  return verifyShape(*this, getResult(), expected);
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

LogicalResult OptimizationBarrierOp::verify() {
  // (C1)
  if (getOperandTypes() == getResultTypes())
    return success();
  return emitOpError() << "expected results of the operands' types";
}

LogicalResult TupleOp::verify() {
  if (TypeRange(cast<TupleType>(getType()).getTypes()) == getOperandTypes())
    return success();
  return emitOpError() << "expected a tuple of the operands' types but got "
                       << getType();
}

LogicalResult GetTupleElementOp::verify() {
  auto tuple = cast<TupleType>(getOperand().getType());
  int64_t index = getIndex(), size = tuple.size();
  if (index >= size)
    return emitOpError() << "expected an index below " << size << " but got "
                         << index;
  if (tuple.getType(index) == getType())
    return success();
  return emitOpError() << "expected a result of type " << tuple.getType(index)
                       << " but got " << getType();
}

LogicalResult chlo::TopKOp::verify() {
  SmallVector<int64_t> expected(shapeOf(getOperand()));
  int64_t k = getK();
  // (C1)
  if (expected.empty() ||
      (!ShapedType::isDynamic(expected.back()) && k > expected.back()))
    return emitOpError() << "expected k of at most the last dimension of "
                         << getOperand().getType() << " but got " << k;
  // (C2)
  Type element = getElementTypeOrSelf(getOperand());
  if (getElementTypeOrSelf(getValues()) != element)
    return emitOpError() << "expected values of type " << element << " but got "
                         << getElementTypeOrSelf(getValues());
  // (C3)
  expected.back() = k;
  if (failed(verifyShape(*this, getValues(), expected)))
    return failure();
  return verifyShape(*this, getIndices(), expected);
}
