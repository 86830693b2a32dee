//===- SampleEvaluator.cpp - A component on a few positions ---------------===//

#include "Samples/SampleOperations.h"
#include "Samples/SampleOrder.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

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
  return dropRows && node->scored && !runsOver(labels, node, keys) &&
         isDropped(node);
}

const Samples *SampleEvaluator::evaluate(const Node *node) {
  auto known = values.find(node);
  if (known != values.end())
    return known->second.get();
  auto result = std::make_unique<Samples>();
  for (const Axes &dim : node->labels)
    result->shape.push_back(positions.extent(dim));
  result->data.resize(llvm::product_of(result->shape));
  auto isForced = forced.find(node);
  if (isForced != forced.end())
    llvm::fill(result->data, isForced->second);
  else if (!computeAsRead(node, *result))
    result = nullptr;
  else if (!node->scored && !node->random &&
           !(settings.isExact && isa<FloatType>(node->elementType())))
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
  if (!exact)
    exact = std::make_unique<SampleEvaluator>(positions, seed);
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
    return sampleConstant(positions, node, result);
  if (isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op))
    return joinSamples(positions, node, operands, result);
  if (isa<stablehlo::GatherOp>(op)) {
    const Samples *rows = evaluate(node->operands[0]);
    return rows && lookUpSamples(positions, node, *rows, seed, result);
  }
  return moveSamples(node, operands, result);
}

/// What an operation gives in the program's type but not in f64. False where a
/// draw says nothing: powers that vanish here need not elsewhere.
static bool settles(Readings &readings, const Node *node,
                    ArrayRef<const Samples *> operands, Samples &result) {
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
    std::optional<double> epsilon = readings.number(node->operands[1 - i]);
    if (!type || !epsilon || !readings.isSumFromOne(node->operands[i]) ||
        std::fabs(*epsilon) > std::ldexp(1.0, -int(type.getFPMantissaWidth())))
      continue;
    for (auto [j, sum] : llvm::enumerate(result.data)) {
      double own = operands[i]->data[operands[i]->data.size() == 1 ? 0 : j];
      sum = own == 0 ? sum : own;
    }
  }
  return true;
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
  SmallVector<const Samples *, 3> operands;
  if (isOrdering(node->op) &&
      isa<FloatType>(node->operands.back()->elementType())) {
    if (!operandsOf(node, operands))
      return false;
    choose(*this, node, operands, result);
    return true;
  }
  ElementFunction function = sampledFunction(node->op);
  if (!function || !operandsOf(node, operands))
    return false;
  SmallVector<double, 3> arguments(operands.size());
  for (auto [i, value] : llvm::enumerate(result.data)) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      argument = operand->data[operand->data.size() == 1 ? 0 : i];
    value = function(arguments);
  }
  return !readings || settles(*readings, node, operands, result);
}

bool SampleEvaluator::computeReduce(const Node *node, Samples &result) {
  auto reduce = cast<stablehlo::ReduceOp>(node->op);
  if (dropRows && node->scored && isa<FloatType>(node->elementType())) {
    bool sums = reducesBy<stablehlo::AddOp>(reduce);
    if (!sums && !reducesBy<stablehlo::MaxOp, stablehlo::MinOp>(reduce))
      return false;
    llvm::fill(result.data,
               sums && runsOver(labels, node->operands[0], keys) ? 1.0 : 0.0);
    return true;
  }
  const Samples *input = evaluate(node->operands[0]);
  const Samples *init = evaluate(node->operands[1]);
  return input && init && reduceSamples(reduce, *input, *init, result);
}

bool SampleEvaluator::computeProduct(const Node *node, Samples &result) {
  const Samples *left = evaluate(node->operands[0]);
  const Samples *right = evaluate(node->operands[1]);
  if (!left || !right)
    return false;
  contractSamples(node->op, *left, *right, result);
  if (node == settings.offsetNode)
    for (double &value : result.data)
      value += settings.offset;
  return true;
}
