//===- SampleEvaluator.cpp - A component on a few positions ---------------===//

#include "SampleEvaluator.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static int64_t numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// Row-major offset; dimensions with one sample are read at 0.
static int64_t offsetOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [extent, i] : llvm::zip_equal(shape, index))
    offset = offset * extent + (extent == 1 ? 0 : i);
  return offset;
}

void SampleEvaluator::setPositions(AxisId axis,
                                   std::vector<int64_t> positions) {
  sampled[axis] = std::move(positions);
}

const std::vector<int64_t> &SampleEvaluator::positions(AxisId axis) const {
  static const std::vector<int64_t> first = {0};
  auto known = sampled.find(axis);
  return known == sampled.end() ? first : known->second;
}

int64_t SampleEvaluator::count(AxisId axis) const {
  if (const AxisLabels::Derivation *derived = labels.derivation(axis))
    return extent(derived->base);
  return positions(axis).size();
}

std::vector<int64_t> SampleEvaluator::axisIndices(AxisId axis) const {
  const AxisLabels::Derivation *derived = labels.derivation(axis);
  if (!derived)
    return positions(axis);
  std::vector<int64_t> all = indices(derived->base);
  for (int64_t &index : all)
    index = std::clamp<int64_t>(derived->start + derived->stride * index, 0,
                                labels.size(axis) - 1);
  return all;
}

int64_t SampleEvaluator::extent(ArrayRef<AxisId> dim) const {
  int64_t product = 1;
  for (AxisId axis : labels.resolve(dim))
    product *= count(axis);
  return product;
}

std::vector<int64_t> SampleEvaluator::indices(ArrayRef<AxisId> dim) const {
  std::vector<int64_t> all = {0};
  for (AxisId axis : labels.resolve(dim)) {
    std::vector<int64_t> wider;
    std::vector<int64_t> own = axisIndices(axis);
    for (int64_t outer : all)
      for (int64_t inner : own)
        wider.push_back(outer * labels.size(axis) + inner);
    all = std::move(wider);
  }
  return all;
}

const Samples *SampleEvaluator::evaluate(const Node *node) {
  auto known = values.find(node);
  if (known != values.end())
    return known->second.get();
  auto result = std::make_unique<Samples>();
  for (const Axes &dim : node->labels)
    result->shape.push_back(extent(dim));
  result->data.resize(numElements(result->shape));
  auto isForced = forced.find(node);
  if (isForced != forced.end())
    llvm::fill(result->data, isForced->second);
  else if (!compute(node, *result))
    result = nullptr;
  else if (!node->scored && !node->random)
    roundTo(node->elementType(), result->data);
  return (values[node] = std::move(result)).get();
}

bool SampleEvaluator::compute(const Node *node, Samples &result) {
  Operation *op = node->op;
  if (node->role != Role::None) {
    std::uniform_real_distribution<double> draw(0.25, 1.75);
    for (double &value : result.data)
      value = draw(generator) * ((generator() & 1) ? 1.0 : -1.0);
    return true;
  }
  if (isElementwise(op))
    return computeElementwise(node, result);
  if (isa<stablehlo::ReduceOp>(op))
    return computeReduce(node, result);
  if (isContraction(op))
    return computeProduct(node, result);
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op))
    return computeConstant(node, result);
  if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return computeJoin(node, result);
  if (isa<stablehlo::GatherOp>(op))
    return computeLookup(node, result);
  return computeMove(node, result);
}

bool SampleEvaluator::computeElementwise(const Node *node, Samples &result) {
  ElementFunction function = elementFunction(node->op);
  if (!function)
    return false;
  SmallVector<const Samples *, 3> operands;
  for (const Node *operand : node->operands) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return false;
  }
  SmallVector<double, 3> arguments(operands.size());
  for (auto [i, value] : llvm::enumerate(result.data)) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      argument = operand->data[operand->data.size() == 1 ? 0 : i];
    value = function(arguments);
  }
  return true;
}

bool SampleEvaluator::computeReduce(const Node *node, Samples &result) {
  auto reduce = cast<stablehlo::ReduceOp>(node->op);
  StringRef kind = reductionKind(reduce);
  if (dropRows && node->scored && isa<FloatType>(node->elementType())) {
    bool sum = kind == "stablehlo.add";
    if (!sum && kind != "stablehlo.maximum" && kind != "stablehlo.minimum")
      return false;
    llvm::fill(result.data, sum ? 1.0 : 0.0);
    return true;
  }
  const Samples *input = evaluate(node->operands[0]);
  const Samples *init = evaluate(node->operands[1]);
  ElementFunction combine = elementFunction(&reduce.getBody().front().front());
  if (!input || !init || !combine)
    return false;
  llvm::fill(result.data, init->data[0]);
  IndexWalk walk(input->shape);
  for (double value : input->data) {
    SmallVector<int64_t> kept;
    for (auto [dim, index] : llvm::enumerate(*walk))
      if (!llvm::is_contained(reduce.getDimensions(), int64_t(dim)))
        kept.push_back(index);
    double &sum = result.data[offsetOf(result.shape, kept)];
    sum = combine({sum, value});
    walk.next();
  }
  return true;
}

bool SampleEvaluator::computeProduct(const Node *node, Samples &result) {
  const Samples *left = evaluate(node->operands[0]);
  const Samples *right = evaluate(node->operands[1]);
  if (!left || !right)
    return false;
  ContractionDims dims = contractionDims(node->op);
  SmallVector<int64_t> bound;
  for (int64_t dim : dims.lhsContracting)
    bound.push_back(left->shape[dim]);
  IndexWalk outer(result.shape);
  for (double &value : result.data) {
    SmallVector<int64_t> l(left->shape.size()), r(right->shape.size());
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
      value += left->data[offsetOf(left->shape, l)] *
               right->data[offsetOf(right->shape, r)];
      inner.next();
    }
    outer.next();
  }
  return true;
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
                 : numberAt(elements, offsetOf(node->shape(), index));
    walk.next();
  }
  return true;
}

bool SampleEvaluator::computeJoin(const Node *node, Samples &result) {
  SmallVector<const Samples *> operands;
  for (const Node *operand : node->operands) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return false;
  }
  SmallVector<std::vector<int64_t>> dims;
  for (const Axes &dim : node->labels)
    dims.push_back(indices(dim));
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
    value =
        operands[from]->data[fill ? 0 : offsetOf(operands[from]->shape, *walk)];
    walk.next();
  }
  return true;
}

bool SampleEvaluator::computeLookup(const Node *node, Samples &result) {
  const Samples *indices = evaluate(node->operands[0]);
  DenseElementsAttr table = lookupTable(node->op);
  if (!indices || indices->data.size() != result.data.size() ||
      !node->elementType().isIntOrFloat())
    return false;
  double last = double(table.getNumElements() - 1);
  for (auto [value, index] : llvm::zip_equal(result.data, indices->data)) {
    if (std::isnan(index))
      return false;
    value = numberAt(table, int64_t(std::clamp(index, 0.0, last)));
  }
  return true;
}

bool SampleEvaluator::computeMove(const Node *node, Samples &result) {
  const Samples *input = evaluate(node->operands[0]);
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
    value = input->data[offsetOf(input->shape, from)];
    walk.next();
  }
  return true;
}
