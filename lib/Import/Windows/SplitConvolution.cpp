//===- SplitConvolution.cpp - Convolutions of sequences -------------------===//

#include "Windows/Window.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A convolution of sequences, as sums or products.
class SequenceConvolution {
public:
  explicit SequenceConvolution(stablehlo::ConvolutionOp op)
      : op(op), dims(op.getDimensionNumbers()), builder(op), loc(op.getLoc()) {}

  void split() {
    if (!findWindow())
      return;
    Value result;
    if (window.size <= kMostPlaces && op.getBatchGroupCount() == 1)
      result = sumOfPlaces();
    else if (window.results <= kMostPlaces && op.getFeatureGroupCount() == 1)
      result = productsOfResults();
    if (!result)
      return;
    op.replaceAllUsesWith(result);
    op.erase();
  }

private:
  bool findWindow();
  Value sumOfPlaces();
  Value placeOf(Value rows, int64_t place);
  Value productsOfResults();
  Value resultAt(Value rows);
  Value padding() {
    return neutralSplat(builder, loc,
                        RankedTensorType::get({}, elementOf(op.getLhs())),
                        Reduction::Sum);
  }
  /// Partial sums are rounded once, behind the last.
  Type sumType() {
    return elementOf(op.getResult()).isF64() ? Type(builder.getF64Type())
                                             : Type(builder.getF32Type());
  }
  Value inSums(Value value) {
    return convertType(builder, loc, value, typeOf(value).clone(sumType()));
  }
  Value product(Value lhs, Value rhs, const ContractionDims &dims) {
    return contract(builder, loc, lhs, rhs, dims, sumType(),
                    op.getPrecisionConfigAttr());
  }

  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr dims;
  OpBuilder builder;
  Location loc;
  Window window;
};

bool SequenceConvolution::findWindow() {
  auto isFloat = [](Value value) { return isa<FloatType>(elementOf(value)); };
  std::optional<ArrayRef<bool>> reversal = op.getWindowReversal();
  if (dims.getInputSpatialDimensions().size() != 1 ||
      (reversal && (*reversal)[0]) ||
      !llvm::all_of(op->getOperands(), isFloat) || !isFloat(op.getResult()))
    return false;
  window.dim = dims.getInputSpatialDimensions()[0];
  int64_t rows = shapeOf(op.getLhs())[window.dim];
  window.between = entryOf(op.getLhsDilation(), 0) - 1;
  window.rows = rows + (rows - 1) * window.between;
  window.size = shapeOf(op.getRhs())[dims.getKernelSpatialDimensions()[0]];
  window.results = shapeOf(op)[dims.getOutputSpatialDimensions()[0]];
  window.dilation = entryOf(op.getRhsDilation(), 0);
  window.stride = entryOf(op.getWindowStrides(), 0);
  if (std::optional<DenseIntElementsAttr> edges = op.getPadding())
    window.low = *edges->value_begin<int64_t>();
  return window.readsRows();
}

//===----------------------------------------------------------------------===//
// Short windows
//===----------------------------------------------------------------------===//

/// Rows [batch, sequence, feature] in the operand's order times the kernel's
/// numbers of a place: in the order of the result.
Value SequenceConvolution::placeOf(Value rows, int64_t place) {
  int64_t spatial = dims.getKernelSpatialDimensions()[0],
          in = dims.getKernelInputFeatureDimension(),
          feature = dims.getInputFeatureDimension(),
          groups = op.getFeatureGroupCount();
  SmallVector<int64_t> start(3, 0), limit(shapeOf(op.getRhs()));
  start[spatial] = place;
  limit[spatial] = place + 1;
  SmallVector<int64_t> shape(limit);
  shape[spatial] = 1;
  Value kernel = stablehlo::SliceOp::create(
      builder, loc, typeOf(op.getRhs()).clone(shape), op.getRhs(), start, limit,
      SmallVector<int64_t>(3, 1));
  // Of the result's dimensions where they come from.
  SmallVector<int64_t> order(3);
  int64_t batchOut = dims.getOutputBatchDimension(),
          rowsOut = dims.getOutputSpatialDimensions()[0],
          featureOut = dims.getOutputFeatureDimension();
  if (shape[in] == 1 && shapeOf(op)[featureOut] == groups) {
    order[batchOut] = dims.getInputBatchDimension();
    order[rowsOut] = window.dim;
    order[featureOut] = feature;
    Value ordered = inSums(transposed(builder, loc, rows, order));
    kernel = inSums(reshapeTo(builder, loc, kernel, {groups}));
    kernel = stablehlo::BroadcastInDimOp::create(
        builder, loc, typeOf(ordered), kernel, ArrayRef<int64_t>{featureOut});
    return stablehlo::MulOp::create(builder, loc, ordered, kernel);
  }
  // [.., groups, features, ..] and [features, groups, features].
  SmallVector<int64_t> grouped(shapeOf(rows));
  grouped[feature] = groups;
  grouped.insert(grouped.begin() + feature + 1, shape[in]);
  kernel = transposed(builder, loc, kernel,
                      {in, dims.getKernelOutputFeatureDimension(), spatial});
  int64_t made = shapeOf(kernel)[1] / groups;
  Value result;
  if (groups == 1) {
    kernel = reshapeTo(builder, loc, kernel, {shape[in], made});
    result = product(rows, kernel, {{}, {}, {feature}, {0}});
  } else {
    kernel = reshapeTo(builder, loc, kernel, {shape[in], groups, made});
    result = product(reshapeTo(builder, loc, rows, grouped), kernel,
                     {{feature}, {1}, {feature + 1}, {0}});
    // [groups, the two others in their order, features of a group].
    result = transposed(builder, loc, result, {1, 2, 0, 3});
    result = reshapeTo(builder, loc, result,
                       {shapeOf(result)[0], shapeOf(result)[1], groups * made});
  }
  bool isBatchFirst = dims.getInputBatchDimension() < window.dim;
  order[batchOut] = isBatchFirst ? 0 : 1;
  order[rowsOut] = isBatchFirst ? 1 : 0;
  order[featureOut] = 2;
  return transposed(builder, loc, result, order);
}

Value SequenceConvolution::sumOfPlaces() {
  Value sum;
  for (int64_t place = 0; place < window.size; ++place) {
    Value part = placeOf(
        rowsAt(builder, loc, op.getLhs(), padding(), window, place), place);
    sum = sum ? stablehlo::AddOp::create(builder, loc, sum, part) : part;
  }
  return convertType(builder, loc, sum, op.getType());
}

//===----------------------------------------------------------------------===//
// Long windows
//===----------------------------------------------------------------------===//

/// A result [batch, 1, feature], in the order of the results, of as many rows
/// as the kernel has.
Value SequenceConvolution::resultAt(Value rows) {
  int64_t groups = op.getBatchGroupCount(),
          batch = dims.getInputBatchDimension(),
          feature = dims.getInputFeatureDimension(),
          spatial = dims.getKernelSpatialDimensions()[0],
          in = dims.getKernelInputFeatureDimension(),
          out = dims.getKernelOutputFeatureDimension();
  int64_t batches = shapeOf(rows)[batch] / groups,
          features = shapeOf(op.getRhs())[out] / groups;
  Value result;
  if (batches == 1 && features == 1) {
    SmallVector<int64_t> order(3);
    order[batch] = out;
    order[window.dim] = spatial;
    order[feature] = in;
    Value terms = stablehlo::MulOp::create(
        builder, loc, inSums(rows),
        inSums(transposed(builder, loc, op.getRhs(), order)));
    SmallVector<int64_t> summed = {window.dim, feature};
    llvm::sort(summed);
    result = sumOver(builder, loc, terms, summed);
  } else if (groups == 1) {
    result = product(rows, op.getRhs(),
                     {{}, {}, {window.dim, feature}, {spatial, in}});
  } else {
    SmallVector<int64_t> ofRows(shapeOf(rows)), ofKernel(shapeOf(op.getRhs()));
    ofRows[batch] = groups;
    ofRows.insert(ofRows.begin() + batch + 1, batches);
    ofKernel[out] = groups;
    ofKernel.insert(ofKernel.begin() + out + 1, features);
    auto behind = [](int64_t dim, int64_t split) {
      return dim > split ? dim + 1 : dim;
    };
    result = product(reshapeTo(builder, loc, rows, ofRows),
                     reshapeTo(builder, loc, op.getRhs(), ofKernel),
                     {{batch},
                      {out},
                      {behind(window.dim, batch), behind(feature, batch)},
                      {behind(spatial, out), behind(in, out)}});
    result = transposed(builder, loc, result, {1, 0, 2});
  }
  result = reshapeTo(builder, loc, result, {batches, groups * features});
  if (dims.getOutputBatchDimension() > dims.getOutputFeatureDimension())
    result = transposed(builder, loc, result, {1, 0});
  SmallVector<int64_t> shape(shapeOf(op));
  shape[dims.getOutputSpatialDimensions()[0]] = 1;
  return reshapeTo(builder, loc, result, shape);
}

Value SequenceConvolution::productsOfResults() {
  SmallVector<Value> results;
  Window places = window.swapped();
  if (!places.readsRows())
    return Value();
  for (int64_t number = 0; number < window.results; ++number)
    results.push_back(
        resultAt(rowsAt(builder, loc, op.getLhs(), padding(), places, number)));
  Value joined = results[0];
  if (results.size() > 1)
    joined = stablehlo::ConcatenateOp::create(
        builder, loc, typeOf(joined).clone(shapeOf(op)), results,
        dims.getOutputSpatialDimensions()[0]);
  return convertType(builder, loc, joined, op.getType());
}

} // namespace

void mlir::sp::splitConvolution(stablehlo::ConvolutionOp op) {
  SequenceConvolution(op).split();
}
