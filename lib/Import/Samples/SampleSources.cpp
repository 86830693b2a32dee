//===- SampleSources.cpp - What samples are made of -----------------------===//

#include "Samples/SampleOrder.h"

#include "sp/Interpreter/Interpreter.h"
#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

int64_t mlir::sp::sampleOffset(ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [extent, i] : llvm::zip_equal(shape, index))
    offset = offset * extent + (extent == 1 ? 0 : i);
  return offset;
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

SampleView::SampleView(const AxisLabels &labels,
                       const SampleEvaluator &evaluator, const Node *node,
                       const Samples &samples)
    : samples(samples) {
  int64_t stride = 1;
  Axes axes = labels.resolve(flatten(node->labels));
  for (AxisId axis : llvm::reverse(axes)) {
    strides.push_back({axis, stride});
    stride *= evaluator.positions(axis).size();
  }
}

double SampleView::at(const DenseMap<AxisId, int64_t> &coordinates) const {
  int64_t offset = 0;
  for (const auto &[axis, stride] : strides)
    offset += stride * coordinates.lookup(axis);
  return samples.data[offset];
}

void SampleEvaluator::drawAny(const Node *node, Samples &result) {
  const Node *source = readings->source(node);
  ElementDraw draw(*this, node, source, readings->identity(node), seed);
  Type type = node->elementType();
  bool isPositive = readings->isNonNegative(source);
  for (auto [i, value] : llvm::enumerate(result.data)) {
    uint64_t bits = draw.bits(i) >> 8;
    if (type.isInteger(1))
      value = truths.value_or(bits % 2 == 0);
    else if (isa<FloatType>(type))
      value = isPositive ? std::fabs(draw.number(i)) : draw.number(i);
    else
      // Often equal, or positions.
      value = double(bits % 2 ? bits / 2 % 3 : bits / 2 % 100);
  }
  if (!source->scored && !isExact)
    roundTo(source->elementType(), result.data);
  keepInfinities(node, result);
}

/// What an operation makes of infinity is no variable: a fill of -inf that is
/// rounded still hides.
void SampleEvaluator::keepInfinities(const Node *node, Samples &result) {
  if (!node->op || node->role != Role::None || !isElementwise(node->op) ||
      !isa<FloatType>(node->elementType()))
    return;
  SmallVector<const Samples *> numbers;
  for (const Node *operand : node->operands) {
    if (readings->number(operand))
      continue;
    numbers.push_back(evaluate(operand));
    if (!numbers.back() || numbers.back()->data.size() != result.data.size())
      return;
  }
  Samples computed{result.shape, std::vector<double>(result.data.size())};
  auto isInfinite = [&](size_t i) {
    return llvm::all_of(numbers, [&](const Samples *samples) {
      return std::isinf(samples->data[i]);
    });
  };
  bool isKnown = false;
  for (size_t i = 0; i < result.data.size() && !numbers.empty(); ++i) {
    if (!isInfinite(i))
      continue;
    if (!isKnown && !compute(node, computed))
      return;
    isKnown = true;
    result.data[i] = computed.data[i];
  }
}

/// Adds any number to the extremes of rows, but to those of fills alone.
void SampleEvaluator::shift(const Node *node, Samples &result) {
  extremes[node] = std::make_unique<Samples>(result);
  ElementDraw draw(*this, node, node, readings->identity(node), seed);
  for (auto [i, value] : llvm::enumerate(result.data))
    if (std::isfinite(value))
      value += draw.number(i);
}

void SampleEvaluator::drawOperand(const Node *node, Samples &result) {
  std::mt19937_64 generator(mixBits(seed) + node->number);
  std::uniform_real_distribution<double> draw(0.25, 1.75);
  bool isFactor = node->role == Role::Value || node->role == Role::Factor;
  double factor = node->role == Role::Left ? magnitude
                  : isFactor               ? factors
                                           : 1.0;
  for (double &value : result.data)
    value = draw(generator) * ((generator() & 1) != 0 ? factor : -factor);
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

bool SampleEvaluator::computeConstant(const Node *node, Samples &result) {
  SmallVector<std::vector<int64_t>> dims;
  for (const Axes &dim : node->labels)
    dims.push_back(indices(dim));
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

bool SampleEvaluator::computeLookup(const Node *node, Samples &result) {
  auto gather = cast<stablehlo::GatherOp>(node->op);
  const Samples *rows = evaluate(node->operands[0]);
  if (!rows || !node->elementType().isIntOrFloat())
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
    columns.push_back(indices(node->labels[dim]));
  IndexWalk walk(result.shape);
  for (double &value : result.data) {
    SmallVector<int64_t> at;
    for (auto [dim, index] : llvm::enumerate(*walk))
      if (!llvm::is_contained(offsetDims, int64_t(dim)))
        at.push_back(index);
    if (at.size() < rows->shape.size())
      at.insert(at.begin() + gather.getDimensionNumbers().getIndexVectorDim(),
                0);
    double row = rows->data[sampleOffset(rows->shape, at)];
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
