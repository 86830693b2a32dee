//===- SampleSources.cpp - What samples are made of -----------------------===//

#include "SampleEvaluator.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

int64_t mlir::sp::sampleOffset(ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [extent, i] : llvm::zip_equal(shape, index))
    offset = offset * extent + (extent == 1 ? 0 : i);
  return offset;
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

/// Whether a leaf of data is in what a node is made of.
static bool readsData(const Node *node, DenseMap<const Node *, bool> &known) {
  auto [entry, isNew] = known.try_emplace(node, node->role == Role::Data);
  if (!isNew)
    return entry->second;
  bool reads = node->role == Role::Data;
  for (const Node *operand : node->operands)
    reads = readsData(operand, known) || reads;
  return known[node] = reads;
}

void SampleEvaluator::releaseData(const Component &component) {
  DenseMap<const Node *, bool> known;
  for (const std::unique_ptr<Node> &node : component.all())
    if (!node->scored && isa_and_nonnull<stablehlo::CompareOp>(node->op) &&
        !forced.count(node.get()) && readsData(node.get(), known))
      release(node.get());
}

void SampleEvaluator::drawLeaf(const Node *node, Samples &result) {
  std::mt19937_64 generator(seed * 0x9E3779B97F4A7C15 + node->number);
  std::uniform_real_distribution<double> draw(0.25, 1.75);
  auto coin = [&] { return (generator() & 1) != 0; };
  Type type = node->elementType();
  // Data may be what a mask is made of: numbers of a mask in every other draw,
  // integers that are often equal, and positions. Exact gradients are not to be
  // a multiple of others just where data is one.
  bool isOperand = node->role != Role::None && node->role != Role::Data;
  bool isMask = !isOperand && ((coin() && !isExact) || truths);
  for (double &value : result.data) {
    if (type.isInteger(1) || (isa<FloatType>(type) && isMask))
      value = truths.value_or(coin());
    else if (isa<FloatType>(type))
      value = draw(generator) * (coin() ? 1.0 : -1.0);
    else
      value = coin() ? double(generator() % 3) : double(generator() % 100);
  }
  // As what is made of it will be.
  if (!isOperand)
    roundTo(type, result.data);
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
      std::mt19937_64 generator((seed + element) * 0x9E3779B97F4A7C15 +
                                node->number);
      value = std::uniform_real_distribution<double>(-1.75, 1.75)(generator);
    }
    walk.next();
  }
  return true;
}
