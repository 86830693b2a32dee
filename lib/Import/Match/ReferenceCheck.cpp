//===- ReferenceCheck.cpp - A component against the formula ---------------===//
//
//   O[q, v] = sum_k exp(scale * Q[q] . K[k]) V[k, v] / sum_k exp(...)
//
// over the sampled keys that the bands show, at their true positions.
//
//===----------------------------------------------------------------------===//

#include "Match/ReferenceCheck.h"

#include "Samples/Readings.h"
#include "Scores/PairExponents.h"
#include "Scores/Score.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static constexpr double referenceTolerance = 1e-9;

bool ReferenceCheck::equals(const Node *node, EmptyRow &empty) const {
  return llvm::all_of(samplesOf(match, 101), [&](const SampleDraw &draw) {
    return equalsOnce(node, empty, draw);
  });
}

bool ReferenceCheck::guardsHiddenRows(const Node *node) const {
  const Component &component = *match.component;
  std::optional<Exponential> exponential =
      findExponential(component, match.axes.key);
  if (!exponential)
    return false;
  Readings readings(component, match.axes.key, {});
  const Node *exponent = readings.source(exponential->exponent());
  while (readings.isShifted(exponent))
    exponent = readings.source(exponent->operands[0]);
  return llvm::all_of(samplesOf(match, 101), [&](const SampleDraw &draw) {
    SampleEvaluator evaluator(component.labels, draw.seed);
    prepareSamples(match, draw, evaluator);
    evaluator.force(exponent, -std::numeric_limits<double>::infinity());
    const Samples *samples = evaluator.evaluate(node);
    return samples && llvm::all_of(samples->data,
                                   [](double element) { return element == 0; });
  });
}

static bool near(double actual, double expected) {
  if (std::isnan(expected))
    return std::isnan(actual);
  return std::fabs(actual - expected) <=
         referenceTolerance * (1 + std::fabs(expected));
}

bool ReferenceCheck::equalsOnce(const Node *node, EmptyRow &empty,
                                const SampleDraw &draw) const {
  const Component &component = *match.component;
  const AxisLabels &labels = component.labels;
  const AttentionAxes &axes = match.axes;
  SampleEvaluator evaluator(labels, draw.seed);
  prepareSamples(match, draw, evaluator);
  std::optional<PairExponents> exponents;
  if (match.score)
    exponents.emplace(match, draw);
  const Node *q = component.leaf(axes.queryRole);
  const Node *k = component.leaf(axes.keyRole);
  const Node *v = component.leaf(Role::Value);
  const Samples *actual = evaluator.evaluate(node);
  const Samples *ofQ = evaluator.evaluate(q), *ofK = evaluator.evaluate(k);
  const Samples *ofV = evaluator.evaluate(v);
  if (!actual || !ofQ || !ofK || !ofV || (exponents && !exponents->isKnown()))
    return false;
  SampleView viewQ(evaluator.positions, q, *ofQ),
      viewK(evaluator.positions, k, *ofK);
  SampleView viewV(evaluator.positions, v, *ofV);

  Axes outer = labels.resolve(flatten(node->labels));
  Axes feature = labels.resolve(axes.feature);
  SmallVector<int64_t> shape, inner;
  for (AxisId axis : outer)
    shape.push_back(evaluator.positions.of(axis).size());
  int64_t products = 1;
  for (AxisId axis : feature) {
    inner.push_back(evaluator.positions.of(axis).size());
    products *= inner.back();
  }
  DenseMap<AxisId, int64_t> at;
  auto exponentAt = [&]() {
    if (exponents)
      return exponents->exponent(at);
    double product = 0;
    IndexWalk step(inner);
    for (int64_t i = 0; i < products; ++i) {
      for (auto [axis, position] : llvm::zip_equal(feature, *step))
        at[axis] = position;
      product += viewQ.at(at) * viewK.at(at);
      step.next();
    }
    return match.scale * product;
  };
  auto formula = [&](int64_t query) {
    Row row;
    double greatest = exponents ? exponents->sink(at)
                                : -std::numeric_limits<double>::infinity();
    double sink = greatest;
    struct Pair {
      double exponent, value, factor;
    };
    SmallVector<Pair> pairs;
    for (auto [index, key] : llvm::enumerate(draw.plan->keys)) {
      at[axes.key] = index;
      double value = viewV.at(at);
      row.mean += value / double(draw.plan->keys.size());
      if (!match.bands.visible(query, key))
        continue;
      double exponent = exponentAt();
      if (std::isinf(exponent) && exponent < 0)
        continue;
      pairs.push_back({exponent, value, exponents ? exponents->factor(at) : 1});
      greatest = std::max(greatest, exponent);
    }
    if (std::isfinite(sink))
      row.weights += std::exp(sink - greatest);
    for (const Pair &pair : pairs) {
      double weight = std::exp(pair.exponent - greatest);
      row.weights += weight;
      row.sum += weight * pair.factor * pair.value;
    }
    return row;
  };
  IndexWalk walk(shape);
  for (double result : actual->data) {
    for (auto [axis, index] : llvm::zip_equal(outer, *walk))
      at[axis] = index;
    walk.next();
    Row row =
        formula(axes.query ? draw.plan->queries[at.lookup(*axes.query)] : 0);
    // Exponents of +inf leave no number, whatever a program makes of that.
    if (row.weights > 0 || std::isnan(row.weights)) {
      if (!near(result, row.sum / row.weights))
        return false;
      continue;
    }
    // In the program's type such a row is a mean, in the samples' it is not.
    if (match.score && match.score->absorbs)
      continue;
    EmptyRow given = std::isnan(result)       ? EmptyRow::Nan
                     : result == 0            ? EmptyRow::Zero
                     : near(result, row.mean) ? EmptyRow::Mean
                                              : EmptyRow::Never;
    if (given == EmptyRow::Never ||
        (empty != EmptyRow::Never && empty != given))
      return false;
    empty = given;
  }
  return true;
}
