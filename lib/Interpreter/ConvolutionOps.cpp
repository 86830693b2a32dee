//===- ConvolutionOps.cpp - Convolution as a matrix product ---------------===//
//
// The input is padded and dilated, every window of it becomes a row of a matrix
// and the kernel another matrix; groups are a batch of products:
//
//   patches[group][output position][window place, input feature]
//   weights[group][window place, input feature][output feature of the group]
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "MatrixProduct.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

namespace {
/// A convolution without batch groups, by sizes and strides of what it names.
struct Convolution {
  mutable stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr numbers;
  Evaluator &evaluator;

  Tensor padInput(const Tensor &input) const;
  Tensor reverseKernel(const Tensor &kernel) const;
  Tensor evaluate(const Tensor &input, const Tensor &kernel,
                  ArrayRef<int64_t> shape, int64_t groups) const;
  int64_t entry(std::optional<ArrayRef<int64_t>> values, size_t i) const {
    return values ? (*values)[i] : 1;
  }
};
} // namespace

Tensor Convolution::padInput(const Tensor &input) const {
  int64_t rank = input.getRank();
  Padding padding{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0),
                  SmallVector<int64_t>(rank, 0)};
  SmallVector<int64_t> edges;
  if (std::optional<DenseIntElementsAttr> values = op.getPadding())
    for (const APInt &edge : values->getValues<APInt>())
      edges.push_back(edge.getSExtValue());
  for (auto [i, d] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    padding.interior[d] = entry(op.getLhsDilation(), i) - 1;
    if (edges.empty())
      continue;
    padding.low[d] = edges[2 * i];
    padding.high[d] = edges[2 * i + 1];
  }
  Tensor zero = dispatch(input.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Tensor::splat<T>(RankedTensorType::get({}, input.getElementType()),
                            T(0));
  });
  return padTensor(input, zero, padding);
}

Tensor Convolution::reverseKernel(const Tensor &kernel) const {
  std::optional<ArrayRef<bool>> reversal = op.getWindowReversal();
  if (!reversal || !llvm::is_contained(*reversal, true))
    return kernel;
  Tensor result(kernel.getType());
  View from = wholeView(kernel.getShape());
  for (auto [i, d] : llvm::enumerate(numbers.getKernelSpatialDimensions())) {
    if (!(*reversal)[i])
      continue;
    from.offset += (kernel.getShape()[d] - 1) * from.strides[d];
    from.strides[d] = -from.strides[d];
  }
  copyView(kernel.getShape(), kernel, from, result,
           wholeView(kernel.getShape()));
  return result;
}

/// `shape`: that of the result.
Tensor Convolution::evaluate(const Tensor &input, const Tensor &kernel,
                             ArrayRef<int64_t> shape, int64_t groups) const {
  View in = wholeView(input.getShape());
  int64_t batch = input.getShape()[numbers.getInputBatchDimension()];
  int64_t featureDimension = numbers.getInputFeatureDimension();
  int64_t features = input.getShape()[featureDimension] / groups;
  int64_t outFeatures =
      kernel.getShape()[numbers.getKernelOutputFeatureDimension()] / groups;

  // (group, batch, output position..., window place..., feature) of the input.
  SmallVector<int64_t> patchShape{groups, batch};
  View patch{0,
             {features * in.strides[featureDimension],
              in.strides[numbers.getInputBatchDimension()]}};
  int64_t positions = batch, places = 1;
  for (auto [i, d] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    int64_t size = shape[numbers.getOutputSpatialDimensions()[i]];
    patchShape.push_back(size);
    patch.strides.push_back(entry(op.getWindowStrides(), i) * in.strides[d]);
    positions *= size;
  }
  for (auto [i, d] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    int64_t size = kernel.getShape()[numbers.getKernelSpatialDimensions()[i]];
    patchShape.push_back(size);
    patch.strides.push_back(entry(op.getRhsDilation(), i) * in.strides[d]);
    places *= size;
  }
  patchShape.push_back(features);
  patch.strides.push_back(in.strides[featureDimension]);
  Tensor patches(RankedTensorType::get({groups, positions, places * features},
                                       input.getElementType()));
  copyView(patchShape, input, patch, patches, wholeView(patchShape));

  // (group, window place..., feature, output feature) of the kernel.
  View kern = wholeView(kernel.getShape());
  int64_t outStride = kern.strides[numbers.getKernelOutputFeatureDimension()];
  SmallVector<int64_t> weightShape{groups};
  View weight{0, {outFeatures * outStride}};
  for (int64_t d : numbers.getKernelSpatialDimensions()) {
    weightShape.push_back(kernel.getShape()[d]);
    weight.strides.push_back(kern.strides[d]);
  }
  weightShape.append({features, outFeatures});
  weight.strides.append(
      {kern.strides[numbers.getKernelInputFeatureDimension()], outStride});
  Tensor weights(RankedTensorType::get({groups, places * features, outFeatures},
                                       kernel.getElementType()));
  copyView(weightShape, kernel, weight, weights, wholeView(weightShape));

  Type element =
      cast<RankedTensorType>(op.getResult().getType()).getElementType();
  Tensor product = multiplyMatrices(patches, weights, element,
                                    evaluator.getOptions().precision);
  evaluator.rounderFor(element).apply(product);

  // The product is (group, batch, output position..., output feature).
  Tensor result(RankedTensorType::get(shape, element));
  View out = wholeView(shape);
  int64_t featureStride = out.strides[numbers.getOutputFeatureDimension()];
  SmallVector<int64_t> outShape{groups, batch};
  View to{0,
          {outFeatures * featureStride,
           out.strides[numbers.getOutputBatchDimension()]}};
  for (int64_t d : numbers.getOutputSpatialDimensions()) {
    outShape.push_back(shape[d]);
    to.strides.push_back(out.strides[d]);
  }
  outShape.push_back(outFeatures);
  to.strides.push_back(featureStride);
  copyView(outShape, product, wholeView(outShape), result, to);
  return result;
}

static FailureOr<Tensor> convolutionOp(stablehlo::ConvolutionOp op,
                                       Tensors &operands,
                                       Evaluator &evaluator) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  for (const Tensor &operand : operands)
    if (operand.getStorage() != *storageOf(type.getElementType()))
      return op.emitOpError()
             << "is not evaluated from elements of type "
             << operand.getElementType() << " to " << type.getElementType();
  Convolution convolution{op, op.getDimensionNumbers(), evaluator};
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  Tensor input = convolution.padInput(operands[0]);
  Tensor kernel = convolution.reverseKernel(operands[1]);
  int64_t batchGroups = op.getBatchGroupCount();
  if (batchGroups == 1)
    return convolution.evaluate(input, kernel, type.getShape(),
                                op.getFeatureGroupCount());

  // Batch group g of the input meets output features g of the kernel.
  int64_t feature = numbers.getOutputFeatureDimension();
  Tensor result(type);
  View to = wholeView(type.getShape());
  SmallVector<int64_t> shape(type.getShape());
  shape[feature] /= batchGroups;
  for (int64_t g = 0; g < batchGroups; ++g) {
    Tensor part = convolution.evaluate(
        partOf(input, numbers.getInputBatchDimension(), g, batchGroups),
        partOf(kernel, numbers.getKernelOutputFeatureDimension(), g,
               batchGroups),
        shape, 1);
    to.offset = g * shape[feature] * to.strides[feature];
    copyView(shape, part, wholeView(shape), result, to);
  }
  return result;
}

void interpreter::addConvolutionOps(Handlers &handlers) {
  handlers.add<stablehlo::ConvolutionOp>(convolutionOp);
}
