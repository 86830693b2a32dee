//===- SampleSources.cpp - What samples are made of -----------------------===//

#include "Samples/SampleOrder.h"

#include "sp/StableHLO/ElementFunctions.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::sp;

void SampleEvaluator::drawAny(const Node *node, Samples &result) {
  const Node *source = readings->source(node);
  ElementDraw draw(positions, node, source, readings->identity(node), seed);
  Type type = node->elementType();
  bool isPositive = readings->isNonNegative(source);
  for (auto [i, value] : llvm::enumerate(result.data)) {
    uint64_t bits = draw.bits(i) >> 8;
    if (type.isInteger(1))
      value = settings.truths.value_or(bits % 2 == 0);
    else if (isa<FloatType>(type))
      value = isPositive ? std::fabs(draw.number(i)) : draw.number(i);
    else
      // Often equal, or positions.
      value = double(bits % 2 ? bits / 2 % 3 : bits / 2 % 100);
  }
  if (!source->scored && !settings.isExact)
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
  ElementDraw draw(positions, node, node, readings->identity(node), seed);
  for (auto [i, value] : llvm::enumerate(result.data))
    if (std::isfinite(value))
      value += draw.number(i);
}

void SampleEvaluator::drawOperand(const Node *node, Samples &result) {
  std::mt19937_64 generator(mixBits(seed) + node->number);
  std::uniform_real_distribution<double> draw(0.25, 1.75);
  bool isFactor = node->role == Role::Value || node->role == Role::Factor;
  double factor = node->role == Role::Left ? settings.magnitude
                  : isFactor               ? settings.factors
                                           : 1.0;
  for (double &value : result.data)
    value = draw(generator) * ((generator() & 1) != 0 ? factor : -factor);
}
