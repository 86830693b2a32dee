//===- FactorRules.cpp - Factors of operations with dimension numbers -----===//

#include "FactorRules.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

using Dims = SmallVector<std::pair<unsigned, unsigned>>;

int64_t sizeOf(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

/// (number, dimension) as factors name it.
std::pair<unsigned, unsigned> at(unsigned number, int64_t dim) {
  return {number, static_cast<unsigned>(dim)};
}

/// The dimensions of a tensor of that rank that no list names.
SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> a,
                               ArrayRef<int64_t> b = {}) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(a, dim) && !llvm::is_contained(b, dim))
      others.push_back(dim);
  return others;
}

/// Dimensions of the indices that count slices, in order.
SmallVector<int64_t> indexDims(Value indices, int64_t indexVectorDim) {
  return otherDims(rankOf(indices), {indexVectorDim});
}

} // namespace

SmallVector<Factor> mlir::sp::factorsOf(stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  SmallVector<Factor> factors;
  int64_t result = 0;
  for (auto [lhs, rhs] : llvm::zip_equal(dims.getLhsBatchingDimensions(),
                                         dims.getRhsBatchingDimensions()))
    factors.push_back({{at(0, lhs), at(1, rhs)}, {at(0, result++)}, {}});
  auto addFree = [&](unsigned operand, ArrayRef<int64_t> batching,
                     ArrayRef<int64_t> contracting) {
    for (int64_t dim :
         otherDims(rankOf(op->getOperand(operand)), batching, contracting))
      factors.push_back({{at(operand, dim)}, {at(0, result++)}, {}});
  };
  addFree(0, dims.getLhsBatchingDimensions(),
          dims.getLhsContractingDimensions());
  addFree(1, dims.getRhsBatchingDimensions(),
          dims.getRhsContractingDimensions());
  for (auto [lhs, rhs] : llvm::zip_equal(dims.getLhsContractingDimensions(),
                                         dims.getRhsContractingDimensions()))
    factors.push_back({{at(0, lhs), at(1, rhs)}, {}, Reduction::Sum});
  return factors;
}

SmallVector<Factor> mlir::sp::factorsOf(stablehlo::DotOp op) {
  SmallVector<Factor> factors;
  int64_t lhs = rankOf(op.getLhs()), result = 0;
  if (lhs == 2)
    factors.push_back({{at(0, 0)}, {at(0, result++)}, {}});
  if (rankOf(op.getRhs()) == 2)
    factors.push_back({{at(1, 1)}, {at(0, result)}, {}});
  factors.push_back({{at(0, lhs - 1), at(1, 0)}, {}, Reduction::Sum});
  return factors;
}

/// Whether rows that some ranks do not have may be 0 there.
static bool hasZero(Value value) {
  return !getElementTypeOrSelf(value.getType()).isInteger(1);
}

/// Batch dimensions come from the indices, window dimensions that are taken
/// whole from the operand. Of a dimension of which each index picks some
/// positions a rank has what it holds: the rest is 0 in its part of a sum.
SmallVector<Factor> mlir::sp::factorsOf(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  SmallVector<int64_t> windowDims =
      otherDims(rankOf(op.getOperand()), dims.getCollapsedSliceDims(),
                dims.getOperandBatchingDims());
  SmallVector<int64_t> sliceDims =
      indexDims(op.getStartIndices(), dims.getIndexVectorDim());
  SmallVector<Factor> factors;
  SmallVector<int64_t> picked(dims.getCollapsedSliceDims());
  unsigned window = 0, batch = 0;
  for (int64_t dim = 0; dim < rankOf(op); ++dim) {
    if (llvm::is_contained(dims.getOffsetDims(), dim)) {
      int64_t source = windowDims[window++];
      if (op.getSliceSizes()[source] == sizeOf(op.getOperand(), source))
        factors.push_back({{at(0, source)}, {at(0, dim)}, {}});
      else
        picked.push_back(source);
      continue;
    }
    int64_t source = sliceDims[batch++];
    Dims operands = {at(1, source)};
    for (auto [operandDim, indexDim] : llvm::zip_equal(
             dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims()))
      if (indexDim == source)
        operands.push_back(at(0, operandDim));
    factors.push_back({operands, {at(0, dim)}, {}});
  }
  for (int64_t dim : picked)
    if (hasZero(op) && llvm::is_contained(dims.getStartIndexMap(), dim))
      factors.push_back({{at(0, dim)}, {}, Reduction::Sum, false, 1});
  return factors;
}

/// Window dimensions that updates cover whole, batching dimensions, and those
/// of which each index picks some positions. What counts updates may write
/// anywhere: where they are added, each rank may add its own, else it stays
/// whole.
SmallVector<Factor> mlir::sp::factorsOf(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  unsigned inputs = op.getInputs().size(), indices = inputs;
  Value input = op.getInputs()[0], update = op.getUpdates()[0];
  auto factor = [&](int64_t inputDim, int64_t updateDim) {
    Factor made;
    for (unsigned i = 0; i < inputs; ++i) {
      made.operands.push_back(at(i, inputDim));
      made.operands.push_back(at(inputs + 1 + i, updateDim));
      made.results.push_back(at(i, inputDim));
    }
    return made;
  };
  SmallVector<Factor> factors;
  SmallVector<int64_t> windowDims = otherDims(
      rankOf(input), dims.getInsertedWindowDims(), dims.getInputBatchingDims());
  SmallVector<int64_t> picked(dims.getInsertedWindowDims());
  for (auto [inputDim, updateDim] :
       llvm::zip_equal(windowDims, dims.getUpdateWindowDims()))
    if (sizeOf(input, inputDim) == sizeOf(update, updateDim))
      factors.push_back(factor(inputDim, updateDim));
    else
      picked.push_back(inputDim);
  SmallVector<int64_t> sliceDims =
      indexDims(op.getScatterIndices(), dims.getIndexVectorDim());
  SmallVector<int64_t> updateDims =
      otherDims(rankOf(update), dims.getUpdateWindowDims());
  for (auto [inputDim, indexDim] : llvm::zip_equal(
           dims.getInputBatchingDims(), dims.getScatterIndicesBatchingDims())) {
    unsigned place = llvm::find(sliceDims, indexDim) - sliceDims.begin();
    Factor made = factor(inputDim, updateDims[place]);
    made.operands.push_back(at(indices, indexDim));
    factors.push_back(made);
  }
  for (int64_t dim : picked)
    if (llvm::is_contained(dims.getScatterDimsToOperandDims(), dim)) {
      Factor &made = factors.emplace_back();
      for (unsigned i = 0; i < inputs; ++i) {
        made.operands.push_back(at(i, dim));
        made.results.push_back(at(i, dim));
      }
      made.pickedBy = indices;
    }
  if (inputs != 1 || reductionOf(op.getUpdateComputation()) != Reduction::Sum)
    return factors;
  for (auto [indexDim, updateDim] : llvm::zip_equal(sliceDims, updateDims))
    if (!llvm::is_contained(dims.getScatterIndicesBatchingDims(), indexDim))
      factors.push_back({{at(indices, indexDim), at(inputs + 1, updateDim)},
                         {},
                         Reduction::Sum});
  return factors;
}

/// Batch, and output features where neither is grouped.
SmallVector<Factor> mlir::sp::factorsOf(stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  SmallVector<Factor> factors;
  if (op.getBatchGroupCount() != 1)
    return factors;
  factors.push_back({{at(0, dims.getInputBatchDimension())},
                     {at(0, dims.getOutputBatchDimension())},
                     {}});
  if (op.getFeatureGroupCount() != 1)
    return factors;
  factors.push_back({{at(1, dims.getKernelOutputFeatureDimension())},
                     {at(0, dims.getOutputFeatureDimension())},
                     {}});
  // In the gradient of a kernel they are the batch.
  factors.push_back({{at(0, dims.getInputFeatureDimension()),
                      at(1, dims.getKernelInputFeatureDimension())},
                     {},
                     Reduction::Sum});
  return factors;
}
