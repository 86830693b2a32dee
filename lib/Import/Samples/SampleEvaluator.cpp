//===- SampleEvaluator.cpp - A component on a few positions ---------------===//

#include "Samples/SampleOrder.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static int64_t numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
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

/// Whether a row value is what a sink adds to a sum, or a bound of a shift.
bool SampleEvaluator::isDropped(const Node *node) {
  if (isa<stablehlo::ExpOp>(node->op))
    return true;
  if (!isa<stablehlo::MaxOp, stablehlo::MinOp>(node->op) ||
      (readings && !readings->keepsRange(node)))
    return false;
  return llvm::all_of(node->operands, [&](const Node *operand) {
    const Samples *samples = operand->scored ? evaluate(operand) : nullptr;
    return !samples ||
           llvm::all_of(samples->data, [](double value) { return value == 0; });
  });
}

bool SampleEvaluator::isDroppedRow(const Node *node) {
  return dropRows && node->scored && !runsOverKeys(node) && isDropped(node);
}

bool SampleEvaluator::runsOverKeys(const Node *node) const {
  return llvm::is_contained(labels.resolve(flatten(node->labels)), keys);
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
  else if (!computeAsRead(node, *result))
    result = nullptr;
  else if (!node->scored && !node->random &&
           !(isExact && isa<FloatType>(node->elementType())))
    roundTo(node->elementType(), result->data);
  return (values[node] = std::move(result)).get();
}

bool SampleEvaluator::computeAsRead(const Node *node, Samples &result) {
  if (readings && node->role == Role::Data)
    return drawAny(node, result), true;
  switch (readings ? readings->of(node) : Reading::Computed) {
  case Reading::Any:
    // Row values are shifts where they are dropped.
    return isRow(node) ? compute(node, result) : (drawAny(node, result), true);
  case Reading::Exact:
    return computeExactly(node, result);
  case Reading::Shifted:
    if (!compute(node, result))
      return false;
    if (!dropRows)
      shift(node, result);
    return true;
  case Reading::Ordered:
  case Reading::Computed:
    return compute(node, result);
  }
  return false;
}

bool SampleEvaluator::computeExactly(const Node *node, Samples &result) {
  if (!exact) {
    exact = std::make_unique<SampleEvaluator>(labels, seed);
    exact->sampled = sampled;
  }
  const Samples *samples = exact->evaluate(node);
  if (samples)
    result.data = samples->data;
  return samples != nullptr;
}

double mlir::sp::drawnFill(double number) {
  if (number > largestFill && number < -50)
    return std::cos(number);
  double size = std::fabs(number);
  if (size == 0 || size > smallestSeen)
    return number;
  return std::copysign(0.25 + std::fabs(std::cos(1 / size)), number);
}

const Samples *SampleEvaluator::fillsDrawn(const Node *node,
                                           const Samples *samples) {
  std::unique_ptr<Samples> &drawn = drawnFills[node];
  if (!drawn) {
    drawn = std::make_unique<Samples>(*samples);
    for (double &number : drawn->data)
      number = drawnFill(number);
  }
  return drawn.get();
}

const Samples *SampleEvaluator::operandOf(const Node *node,
                                          const Node *operand) {
  bool isFill =
      readings && node->scored && !operand->scored && !operand->random &&
      isa<FloatType>(operand->elementType()) &&
      isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::SelectOp,
          stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ClampOp,
          stablehlo::ConcatenateOp, stablehlo::PadOp>(node->op);
  const Samples *samples = evaluate(operand);
  return samples && isFill ? fillsDrawn(operand, samples) : samples;
}

bool SampleEvaluator::operandsOf(const Node *node,
                                 SmallVectorImpl<const Samples *> &operands) {
  for (const Node *operand : node->operands)
    operands.push_back(operandOf(node, operand));
  return llvm::all_of(operands, [](const Samples *each) { return each; });
}

bool SampleEvaluator::compute(const Node *node, Samples &result) {
  Operation *op = node->op;
  auto operands = [&](const Node *operand) { return operandOf(node, operand); };
  if (node->role != Role::None)
    return drawOperand(node, result), true;
  if (isElementwise(op) || isa<stablehlo::ReducePrecisionOp>(op))
    return computeElementwise(node, result);
  if (isa<stablehlo::ReduceOp>(op))
    return computeReduce(node, result);
  if (isContraction(op))
    return computeProduct(node, result);
  if (isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op))
    return computeConstant(node, result);
  if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return computeJoin(node, result, operands);
  if (isa<stablehlo::GatherOp>(op))
    return computeLookup(node, result);
  return computeMove(node, result, operands);
}

bool SampleEvaluator::computeElementwise(const Node *node, Samples &result) {
  const Node *kept = nullptr;
  if (dropRows)
    kept = readings && readings->isShifted(node)
               ? node->operands[0]
               : sumBesidePower(labels, node, keys);
  if (kept) {
    const Samples *own = evaluate(kept);
    if (own)
      result.data = own->data;
    return own != nullptr;
  }
  if (isDroppedRow(node)) {
    llvm::fill(result.data, 0.0);
    return true;
  }
  if (isOrdering(node->op) &&
      isa<FloatType>(node->operands.back()->elementType()))
    return computeOrdered(node, result);
  ElementFunction function = sampledFunction(node->op);
  SmallVector<const Samples *, 3> operands;
  if (!function || !operandsOf(node, operands))
    return false;
  SmallVector<double, 3> arguments(operands.size());
  for (auto [i, value] : llvm::enumerate(result.data)) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      argument = operand->data[operand->data.size() == 1 ? 0 : i];
    value = function(arguments);
  }
  return !readings || settles(node, operands, result);
}

/// What an operation gives in the program's type but not in f64. False where a
/// draw says nothing: powers that vanish here need not elsewhere.
bool SampleEvaluator::settles(const Node *node,
                              ArrayRef<const Samples *> operands,
                              Samples &result) {
  if (isa<stablehlo::ExpOp>(node->op)) {
    bool isAny = false, isLost = true;
    for (auto [argument, power] :
         llvm::zip_equal(operands[0]->data, result.data)) {
      if (!(argument > largestFill))
        continue;
      isAny = true;
      isLost &= power == 0;
    }
    return !isAny || !isLost;
  }
  if (!isa<stablehlo::AddOp>(node->op))
    return true;
  // An epsilon is lost beside 1.
  auto type = dyn_cast<FloatType>(node->elementType());
  for (unsigned i : {0U, 1U}) {
    std::optional<double> epsilon = readings->number(node->operands[1 - i]);
    if (!type || !epsilon || !readings->isSumFromOne(node->operands[i]) ||
        std::fabs(*epsilon) > std::ldexp(1.0, -int(type.getFPMantissaWidth())))
      continue;
    for (auto [j, sum] : llvm::enumerate(result.data)) {
      double own = operands[i]->data[operands[i]->data.size() == 1 ? 0 : j];
      sum = own == 0 ? sum : own;
    }
  }
  return true;
}

bool SampleEvaluator::computeReduce(const Node *node, Samples &result) {
  auto reduce = cast<stablehlo::ReduceOp>(node->op);
  if (dropRows && node->scored && isa<FloatType>(node->elementType())) {
    bool sums = reducesBy<stablehlo::AddOp>(reduce);
    if (!sums && !reducesBy<stablehlo::MaxOp, stablehlo::MinOp>(reduce))
      return false;
    llvm::fill(result.data,
               sums && runsOverKeys(node->operands[0]) ? 1.0 : 0.0);
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
    double &sum = result.data[sampleOffset(result.shape, kept)];
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
      value += left->data[sampleOffset(left->shape, l)] *
               right->data[sampleOffset(right->shape, r)];
      inner.next();
    }
    if (node == offsetNode)
      value += offset;
    outer.next();
  }
  return true;
}

bool SampleEvaluator::computeJoin(const Node *node, Samples &result,
                                  Operands operandOf) {
  SmallVector<const Samples *> operands;
  for (const Node *operand : node->operands) {
    operands.push_back(operandOf(operand));
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
    value = operands[from]
                ->data[fill ? 0 : sampleOffset(operands[from]->shape, *walk)];
    walk.next();
  }
  return true;
}

bool SampleEvaluator::computeMove(const Node *node, Samples &result,
                                  Operands operandOf) {
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
