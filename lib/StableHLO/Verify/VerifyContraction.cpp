//===- VerifyContraction.cpp - Rules of contractions ----------------------===//

#include "Verify/Verify.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::stablehlo;
using sp::shapeOf;

/// Dimensions of one operand: each at most once, batching and contracting
/// together.
static LogicalResult verifySide(Operation *op, StringRef name,
                                ArrayRef<int64_t> batching,
                                ArrayRef<int64_t> contracting, int64_t rank) {
  SmallVector<int64_t> all(batching);
  llvm::append_range(all, contracting);
  return verifyDims(op, name, all, rank);
}

/// Paired dimensions are as many and as large on both sides.
static LogicalResult verifyPairs(Operation *op, StringRef name,
                                 ArrayRef<int64_t> lhsDims,
                                 ArrayRef<int64_t> lhsShape,
                                 ArrayRef<int64_t> rhsDims,
                                 ArrayRef<int64_t> rhsShape) {
  if (lhsDims.size() != rhsDims.size())
    return op->emitOpError() << "expected as many " << name
                             << " dimensions on both sides but got "
                             << text(lhsDims) << " x " << text(rhsDims);
  for (auto [lhs, rhs] : llvm::zip_equal(lhsDims, rhsDims))
    if (!sameSize(lhsShape[lhs], rhsShape[rhs]))
      return op->emitOpError()
             << "expected " << name << " dimensions of equal size but got "
             << lhsShape[lhs] << " (lhs dimension " << lhs << ") and "
             << rhsShape[rhs] << " (rhs dimension " << rhs << ")";
  return success();
}

LogicalResult DotGeneralOp::verify() {
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  ArrayRef<int64_t> lhsBatch = numbers.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatch = numbers.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContract = numbers.getLhsContractingDimensions();
  ArrayRef<int64_t> rhsContract = numbers.getRhsContractingDimensions();
  // (C1)
  if (failed(verifySide(*this, "lhs dimensions", lhsBatch, lhsContract,
                        lhs.size())) ||
      failed(verifySide(*this, "rhs dimensions", rhsBatch, rhsContract,
                        rhs.size())))
    return failure();
  // (C2)
  if (failed(verifyPairs(*this, "batching", lhsBatch, lhs, rhsBatch, rhs)) ||
      failed(verifyPairs(*this, "contracting", lhsContract, lhs, rhsContract,
                         rhs)))
    return failure();
  // (C3)
  SmallVector<int64_t> expected;
  for (int64_t dim : lhsBatch)
    expected.push_back(lhs[dim]);
  auto appendFree = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> batching,
                        ArrayRef<int64_t> contracting) {
    for (auto [dim, size] : llvm::enumerate(shape))
      if (!llvm::is_contained(batching, dim) &&
          !llvm::is_contained(contracting, dim))
        expected.push_back(size);
  };
  appendFree(lhs, lhsBatch, lhsContract);
  appendFree(rhs, rhsBatch, rhsContract);
  return verifyShape(*this, getResult(), expected);
}

LogicalResult DotOp::verify() {
  // (C1)
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  bool ranked = llvm::is_contained({1, 2}, int(lhs.size())) &&
                llvm::is_contained({1, 2}, int(rhs.size()));
  if (!ranked)
    return emitOpError() << "expected operands of rank 1 or 2 but got "
                         << getLhs().getType() << " and " << getRhs().getType();
  if (!sameSize(lhs.back(), rhs.front()))
    return emitOpError() << "expected contracting dimensions of equal size but "
                            "got "
                         << lhs.back() << " and " << rhs.front();
  SmallVector<int64_t> expected(lhs.drop_back());
  llvm::append_range(expected, rhs.drop_front());
  return verifyShape(*this, getResult(), expected);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// A side names each of its dimensions once.
static LogicalResult verifyNamed(Operation *op, StringRef name, int64_t first,
                                 int64_t second, ArrayRef<int64_t> spatial,
                                 int64_t rank) {
  SmallVector<int64_t> dims = {first, second};
  llvm::append_range(dims, spatial);
  if (failed(verifyLength(op, name, dims.size(), rank)))
    return failure();
  return verifyDims(op, name, dims, rank);
}

static LogicalResult verifyDivides(Operation *op, StringRef name, int64_t size,
                                   StringRef groupName, int64_t groups) {
  if (ShapedType::isDynamic(size) || size % groups == 0)
    return success();
  return op->emitOpError() << "expected " << name << " of size " << size
                           << " to be divisible by " << groupName << " "
                           << groups;
}

LogicalResult ConvolutionOp::verify() {
  ConvDimensionNumbersAttr numbers = getDimensionNumbers();
  ArrayRef<int64_t> input = shapeOf(getLhs()), kernel = shapeOf(getRhs());
  int64_t rank = shapeOf(getResult()).size();
  // (C1)
  if (failed(verifyNamed(*this, "input dimensions",
                         numbers.getInputBatchDimension(),
                         numbers.getInputFeatureDimension(),
                         numbers.getInputSpatialDimensions(), input.size())) ||
      failed(verifyNamed(
          *this, "kernel dimensions", numbers.getKernelInputFeatureDimension(),
          numbers.getKernelOutputFeatureDimension(),
          numbers.getKernelSpatialDimensions(), kernel.size())) ||
      failed(verifyNamed(*this, "output dimensions",
                         numbers.getOutputBatchDimension(),
                         numbers.getOutputFeatureDimension(),
                         numbers.getOutputSpatialDimensions(), rank)))
    return failure();
  if (input.size() != kernel.size() || int64_t(input.size()) != rank)
    return emitOpError() << "expected input, kernel and output of one rank";
  // (C2)
  SmallVector<int64_t> sizes;
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    sizes.push_back(kernel[dim]);
  FailureOr<SmallVector<WindowDim>> window =
      makeWindow(*this, sizes, getWindowStrides(), getPaddingAttr(),
                 getLhsDilation(), getRhsDilation());
  if (failed(window))
    return failure();
  if (getWindowReversal() &&
      failed(verifyLength(*this, "window_reversal", getWindowReversal()->size(),
                          sizes.size())))
    return failure();
  // (C3)
  int64_t batch = input[numbers.getInputBatchDimension()];
  int64_t features = input[numbers.getInputFeatureDimension()];
  int64_t kernelIn = kernel[numbers.getKernelInputFeatureDimension()];
  int64_t kernelOut = kernel[numbers.getKernelOutputFeatureDimension()];
  int64_t featureGroups = getFeatureGroupCount(),
          batchGroups = getBatchGroupCount();
  if (failed(verifyDivides(*this, "input features", features,
                           "feature_group_count", featureGroups)) ||
      failed(verifyDivides(*this, "output features", kernelOut,
                           "feature_group_count", featureGroups)) ||
      failed(verifyDivides(*this, "batch", batch, "batch_group_count",
                           batchGroups)))
    return failure();
  if (ShapedType::isDynamicShape(input) || ShapedType::isDynamicShape(kernel))
    return success();
  if (kernelIn != features / featureGroups)
    return emitOpError() << "expected " << features / featureGroups
                         << " kernel input features but got " << kernelIn;
  SmallVector<int64_t> expected(rank);
  expected[numbers.getOutputBatchDimension()] = batch / batchGroups;
  expected[numbers.getOutputFeatureDimension()] = kernelOut;
  for (auto [i, dim] : llvm::enumerate(numbers.getOutputSpatialDimensions()))
    expected[dim] = slideWindow(input[numbers.getInputSpatialDimensions()[i]],
                                (*window)[i]);
  return verifyShape(*this, getResult(), expected);
}

//===----------------------------------------------------------------------===//
// Composite
//===----------------------------------------------------------------------===//

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C1)
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getDecompositionAttr());
  if (!function)
    return emitOpError() << "expected a function called '@"
                         << getDecomposition() << "' as decomposition";
  if (TypeRange(function.getArgumentTypes()) == getOperandTypes() &&
      TypeRange(function.getResultTypes()) == getResultTypes())
    return success();
  InFlightDiagnostic diag =
      emitOpError() << "expected the decomposition '@" << getDecomposition()
                    << "' to have the types of the composite";
  diag.attachNote(function.getLoc()) << "declared here";
  return diag;
}
