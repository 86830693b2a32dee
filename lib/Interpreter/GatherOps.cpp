//===- GatherOps.cpp - Slices collected at computed places ----------------===//
#include "Evaluator.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

/// The first place in the operand of the slice that `batch` (an index into the
/// indices without their vector dimension) asks for, clamped.
static SmallVector<int64_t>
sliceStart(stablehlo::GatherDimensionNumbersAttr numbers,
           ArrayRef<int64_t> sliceSizes, ArrayRef<int64_t> operandShape,
           const Tensor &indices, ArrayRef<int64_t> batch) {
  int64_t vectorDimension = numbers.getIndexVectorDim();
  SmallVector<int64_t> strides = stridesOf(indices.getShape());
  bool hasVector = vectorDimension < indices.getRank();
  int64_t vectorStride = hasVector ? strides[vectorDimension] : 0;
  if (hasVector)
    strides.erase(strides.begin() + vectorDimension);
  int64_t base = 0;
  for (auto [i, stride] : llvm::zip_equal(batch, strides))
    base += i * stride;

  SmallVector<int64_t> start(operandShape.size(), 0);
  for (auto [i, dimension] : llvm::enumerate(numbers.getStartIndexMap()))
    start[dimension] =
        std::clamp<int64_t>(indices.integerAt(base + int64_t(i) * vectorStride),
                            0, operandShape[dimension] - sliceSizes[dimension]);
  // A batching dimension moves along with one of the indices.
  for (auto [dimension, indexDimension] :
       llvm::zip_equal(numbers.getOperandBatchingDims(),
                       numbers.getStartIndicesBatchingDims())) {
    bool behindVector = hasVector && indexDimension > vectorDimension;
    start[dimension] = batch[indexDimension - (behindVector ? 1 : 0)];
  }
  return start;
}

static Tensor gatherOp(stablehlo::GatherOp op, Tensors &operands, Evaluator &) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  const Tensor &operand = operands[0], &indices = operands[1];
  Tensor result(type);
  View whole = wholeView(operand.getShape()), out = wholeView(type.getShape());

  // Result dimensions are offsets into the slice or batch dimensions.
  SmallVector<int64_t> batchShape, batchStrides;
  View from, to;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (llvm::is_contained(numbers.getOffsetDims(), d)) {
      to.strides.push_back(out.strides[d]);
      continue;
    }
    batchShape.push_back(type.getDimSize(d));
    batchStrides.push_back(out.strides[d]);
  }
  SmallVector<int64_t> sliceShape;
  for (int64_t d = 0; d < operand.getRank(); ++d) {
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), d) ||
        llvm::is_contained(numbers.getOperandBatchingDims(), d))
      continue;
    sliceShape.push_back(op.getSliceSizes()[d]);
    from.strides.push_back(whole.strides[d]);
  }

  forEachIndex(batchShape, [&](ArrayRef<int64_t> batch) {
    SmallVector<int64_t> start = sliceStart(numbers, op.getSliceSizes(),
                                            operand.getShape(), indices, batch);
    from.offset = to.offset = 0;
    for (auto [i, stride] : llvm::zip_equal(start, whole.strides))
      from.offset += i * stride;
    for (auto [i, stride] : llvm::zip_equal(batch, batchStrides))
      to.offset += i * stride;
    copyView(sliceShape, operand, from, result, to);
  });
  return result;
}

void interpreter::addGatherOps(Handlers &handlers) {
  handlers.add<stablehlo::GatherOp>(gatherOp);
}
