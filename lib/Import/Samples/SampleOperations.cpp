//===- SampleOperations.cpp - Operations on samples
//------------------------===//

#include "Samples/SampleOperations.h"

#include "Samples/SampleOrder.h"

#include "sp/Interpreter/Interpreter.h"

#include <random>

using namespace mlir;
using namespace mlir::sp;

static int64_t numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

ElementFunction mlir::sp::sampledFunction(Operation *op) {
  auto reduce = dyn_cast<stablehlo::ReducePrecisionOp>(op);
  if (!reduce)
    return elementFunction(op);
  auto type = cast<FloatType>(getElementTypeOrSelf(reduce.getType()));
  int exponent = std::min<int>(reduce.getExponentBits(), 11),
      mantissa = std::min<int>(reduce.getMantissaBits(), 52);
  return [=](ArrayRef<double> a) {
    return interpreter::reducePrecision(a[0], type, exponent, mantissa);
  };
}

static double numberAt(DenseElementsAttr elements, int64_t index) {
  Type type = elements.getElementType();
  if (isa<FloatType>(type)) {
    APFloat value = elements.isSplat() ? elements.getSplatValue<APFloat>()
                                       : elements.getValues<APFloat>()[index];
    bool lost = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  APInt value = elements.isSplat() ? elements.getSplatValue<APInt>()
                                   : elements.getValues<APInt>()[index];
  bool isSigned = !type.isUnsignedInteger() && !type.isInteger(1);
  return isSigned ? double(value.getSExtValue()) : double(value.getZExtValue());
}

bool mlir::sp::sampleConstant(const SamplePositions &positions,
                              const Node *node, Samples &result) {
  SmallVector<std::vector<int64_t>> dims;
  for (const Axes &dim : node->labels)
    dims.push_back(positions.indices(dim));
  auto iota = dyn_cast<stablehlo::IotaOp>(node->op);
  DenseElementsAttr elements;
  if (!iota) {
    elements = dyn_cast<DenseElementsAttr>(
        cast<stablehlo::ConstantOp>(node->op).getValue());
    if (!elements || !node->elementType().isIntOrFloat())
      return false;
  }
  IndexWalk walk(result.shape);
  for (double &value : result.data) {
    SmallVector<int64_t> index;
    for (auto [dim, sample] : llvm::enumerate(*walk))
      index.push_back(dims[dim][sample]);
    value = iota ? double(index[iota.getIotaDimension()])
                 : numberAt(elements, sampleOffset(node->shape(), index));
    walk.next();
  }
  return true;
}

bool mlir::sp::lookUpSamples(const SamplePositions &positions, const Node *node,
                             const Samples &rows, uint64_t seed,
                             Samples &result) {
  auto gather = cast<stablehlo::GatherOp>(node->op);
  if (!node->elementType().isIntOrFloat())
    return false;
  auto constant = lookThroughLoops(gather.getOperand())
                      .getDefiningOp<stablehlo::ConstantOp>();
  auto table = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(gather.getOperand().getType()).getShape();
  ArrayRef<int64_t> offsetDims = gather.getDimensionNumbers().getOffsetDims();
  SmallVector<std::vector<int64_t>> columns;
  for (int64_t dim : offsetDims)
    columns.push_back(positions.indices(node->labels[dim]));
  IndexWalk walk(result.shape);
  for (double &value : result.data) {
    SmallVector<int64_t> at;
    for (auto [dim, index] : llvm::enumerate(*walk))
      if (!llvm::is_contained(offsetDims, int64_t(dim)))
        at.push_back(index);
    if (at.size() < rows.shape.size())
      at.insert(at.begin() + gather.getDimensionNumbers().getIndexVectorDim(),
                0);
    double row = rows.data[sampleOffset(rows.shape, at)];
    if (std::isnan(row))
      return false;
    int64_t element = int64_t(std::clamp(row, 0.0, double(shape[0] - 1)));
    for (auto [number, dim] : llvm::enumerate(offsetDims))
      element = element * shape[number + 1] + columns[number][(*walk)[dim]];
    if (table) {
      value = numberAt(table, element);
    } else {
      std::mt19937_64 generator(mixBits(mixBits(seed) + element) +
                                node->number);
      value = std::uniform_real_distribution<double>(-1.75, 1.75)(generator);
    }
    walk.next();
  }
  return true;
}

bool mlir::sp::reduceSamples(stablehlo::ReduceOp reduce, const Samples &input,
                             const Samples &init, Samples &result) {
  ElementFunction combine = elementFunction(&reduce.getBody().front().front());
  if (!combine)
    return false;
  llvm::fill(result.data, init.data[0]);
  IndexWalk walk(input.shape);
  for (double value : input.data) {
    SmallVector<int64_t> kept;
    for (auto [dim, index] : llvm::enumerate(*walk))
      if (!llvm::is_contained(reduce.getDimensions(), int64_t(dim)))
        kept.push_back(index);
    double &sum = result.data[sampleOffset(result.shape, kept)];
    sum = combine({sum, value});
    walk.next();
  }
  return true;
}

void mlir::sp::contractSamples(Operation *op, const Samples &left,
                               const Samples &right, Samples &result) {
  ContractionDims dims = contractionDims(op);
  SmallVector<int64_t> bound;
  for (int64_t dim : dims.lhsContracting)
    bound.push_back(left.shape[dim]);
  IndexWalk outer(result.shape);
  for (double &value : result.data) {
    SmallVector<int64_t> l(left.shape.size()), r(right.shape.size());
    unsigned next = 0;
    for (auto [a, b] : llvm::zip_equal(dims.lhsBatch, dims.rhsBatch))
      l[a] = r[b] = (*outer)[next++];
    for (int64_t a = 0; a < int64_t(l.size()); ++a)
      if (!llvm::is_contained(dims.lhsBatch, a) &&
          !llvm::is_contained(dims.lhsContracting, a))
        l[a] = (*outer)[next++];
    for (int64_t b = 0; b < int64_t(r.size()); ++b)
      if (!llvm::is_contained(dims.rhsBatch, b) &&
          !llvm::is_contained(dims.rhsContracting, b))
        r[b] = (*outer)[next++];
    IndexWalk inner(bound);
    value = 0.0;
    for (int64_t step = 0, steps = numElements(bound); step < steps; ++step) {
      for (auto [i, index] : llvm::enumerate(*inner))
        l[dims.lhsContracting[i]] = r[dims.rhsContracting[i]] = index;
      value += left.data[sampleOffset(left.shape, l)] *
               right.data[sampleOffset(right.shape, r)];
      inner.next();
    }
    outer.next();
  }
}

bool mlir::sp::joinSamples(const SamplePositions &positions, const Node *node,
                           SampleOperands operandOf, Samples &result) {
  SmallVector<const Samples *> operands;
  for (const Node *operand : node->operands) {
    operands.push_back(operandOf(operand));
    if (!operands.back())
      return false;
  }
  SmallVector<std::vector<int64_t>> dims;
  for (const Axes &dim : node->labels)
    dims.push_back(positions.indices(dim));
  auto pad = dyn_cast<stablehlo::PadOp>(node->op);
  IndexWalk walk(result.shape);
  for (double &value : result.data) {
    unsigned from = 0;
    if (pad) {
      ArrayRef<int64_t> inner = node->operands[0]->shape();
      for (auto [dim, sample] : llvm::enumerate(*walk)) {
        int64_t index = dims[dim][sample] - pad.getEdgePaddingLow()[dim];
        if (index < 0 || index >= inner[dim])
          from = 1;
      }
    } else {
      int64_t along = cast<stablehlo::ConcatenateOp>(node->op).getDimension();
      int64_t index = dims[along][(*walk)[along]];
      while (index >= node->operands[from]->shape()[along])
        index -= node->operands[from++]->shape()[along];
    }
    bool fill = pad && from == 1;
    value = operands[from]
                ->data[fill ? 0 : sampleOffset(operands[from]->shape, *walk)];
    walk.next();
  }
  return true;
}

bool mlir::sp::moveSamples(const Node *node, SampleOperands operandOf,
                           Samples &result) {
  const Samples *input = operandOf(node->operands[0]);
  if (!input)
    return false;
  auto transpose = dyn_cast<stablehlo::TransposeOp>(node->op);
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(node->op);
  if (!transpose && !broadcast) {
    // Slices and reversals ask for other positions; reshapes keep the order.
    if (input->data.size() != result.data.size())
      return false;
    result.data = input->data;
    return true;
  }
  IndexWalk walk(result.shape);
  SmallVector<int64_t> from(input->shape.size());
  for (double &value : result.data) {
    if (transpose)
      for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
        from[dim] = (*walk)[i];
    else
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        from[i] = (*walk)[dim];
    value = input->data[sampleOffset(input->shape, from)];
    walk.next();
  }
  return true;
}
