//===- MaskAnalysis.cpp - Visibility at true sizes ------------------------===//

#include "Masks/MaskAnalysis.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static constexpr unsigned maxComparisons = 8;
static constexpr double tolerance = 1e-9;

LogicalResult MaskAnalysis::refuse(const Twine &reason, Location location) {
  if (!refusal)
    refusal = {reason.str(), location};
  return failure();
}

static bool holds(stablehlo::ComparisonDirection direction, double difference) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return difference == 0;
  case stablehlo::ComparisonDirection::NE:
    return difference != 0;
  case stablehlo::ComparisonDirection::GE:
    return difference >= 0;
  case stablehlo::ComparisonDirection::GT:
    return difference > 0;
  case stablehlo::ComparisonDirection::LE:
    return difference <= 0;
  case stablehlo::ComparisonDirection::LT:
    return difference < 0;
  }
  return false;
}

LogicalResult MaskAnalysis::readLinear(const Comparison &comparison) {
  const LinearForm &form = *comparison.difference;
  auto direction =
      cast<stablehlo::CompareOp>(comparison.node->op).getComparisonDirection();
  double ofQuery = axes.query ? form.coefficient(*axes.query) : 0;
  double slope = form.coefficient(axes.key);
  Threshold threshold;
  threshold.node = comparison.node;
  threshold.first = holds(direction, form.constant);
  if (ofQuery == 0 && slope == 0) {
    thresholds.push_back(threshold);
    return success();
  }
  threshold.kind = ofQuery == 0 ? Kind::Key : Kind::Difference;
  if (slope == 0) {
    threshold.kind = Kind::Query;
    slope = ofQuery;
  } else if (ofQuery != 0 && ofQuery != -slope) {
    return refuse("its mask is not a band: it compares multiples of positions",
                  comparison.node->value.getLoc());
  }
  // Before the zero, at it if it is a position, and after it.
  threshold.first = holds(direction, -slope);
  bool atZero = holds(direction, 0), after = holds(direction, slope);
  double zero = -form.constant / slope;
  if (std::fabs(zero) < 9e15) {
    int64_t from = int64_t(std::ceil(zero)), to = int64_t(std::floor(zero)) + 1;
    bool before = from == to ? threshold.first : atZero;
    if (before != threshold.first)
      threshold.cuts.push_back(from);
    if (before != after)
      threshold.cuts.push_back(to);
  } else if (zero < 0) {
    threshold.first = after;
  }
  thresholds.push_back(threshold);
  return success();
}

LogicalResult MaskAnalysis::readThreshold(const Comparison &comparison) {
  Location location = comparison.node->value.getLoc();
  for (AxisId axis : comparison.over)
    if (axis != axes.key && axis != axes.query)
      return refuse("its mask compares positions of an axis that is neither "
                    "queries nor keys",
                    location);
  if (comparison.difference)
    return readLinear(comparison);
  auto read = comparison.isSteps ? readSteps : readTable;
  std::optional<Threshold> threshold =
      read(component.labels, axes, comparison.node);
  if (!threshold)
    return refuse(
        "its mask is a table of more than two values, or over more than " +
            Twine(maxTable) + " positions",
        location);
  thresholds.push_back(*threshold);
  return success();
}

LogicalResult MaskAnalysis::readThresholds() {
  for (const Comparison &comparison : comparisons)
    if (failed(readThreshold(comparison)) && !oracle)
      return failure();
  refusal.reset();
  // What is the same everywhere needs no place in the table.
  auto end = std::partition(thresholds.begin(), thresholds.end(),
                            [](const Threshold &threshold) {
                              return threshold.kind != Kind::Constant;
                            });
  unsigned varying = end - thresholds.begin();
  if (varying > maxComparisons && oracle)
    thresholds.clear();
  else if (varying > maxComparisons)
    return refuse("its mask consists of more than " + Twine(maxComparisons) +
                      " comparisons",
                  thresholds[maxComparisons].node->value.getLoc());
  return success();
}

std::optional<Fill> MaskAnalysis::readFill(SampleEvaluator &evaluator) {
  // The arguments of the exponentials that the weights consist of, not those
  // inside row values.
  SmallVector<const Node *> open = {component.weights()};
  llvm::SmallPtrSet<const Node *, 16> seen;
  Fill fill = Fill::Zeroed;
  while (!open.empty()) {
    const Node *node = open.pop_back_val();
    if (!node->scored || !seen.insert(node).second ||
        isa<stablehlo::ReduceOp>(node->op) || node == component.scoresNode())
      continue;
    if (!isa<stablehlo::ExpOp>(node->op)) {
      llvm::append_range(open, node->operands);
      continue;
    }
    const Samples *arguments = evaluator.evaluate(node->operands[0]);
    if (!arguments)
      return std::nullopt;
    auto [low, high] =
        std::minmax_element(arguments->data.begin(), arguments->data.end());
    if (std::isinf(*high) && *high < 0)
      fill = Fill::Infinite;
    else if (std::exp(*high) == 0 && *high > largestFill)
      return std::nullopt;
    else if (*high <= largestFill)
      fill = *low == *high ? Fill::Select : Fill::Additive;
  }
  return fill;
}

std::optional<bool> MaskAnalysis::classify(SampleEvaluator &evaluator) {
  const AxisLabels &labels = component.labels;
  const Node *weights = component.weights();
  const Samples *values = evaluator.evaluate(weights);
  const Node *q = component.leaf(axes.queryRole),
             *k = component.leaf(axes.keyRole);
  const Samples *queries = evaluator.evaluate(q), *keys = evaluator.evaluate(k);
  if (!values || !queries || !keys)
    return std::nullopt;
  if (llvm::all_of(values->data, [](double value) { return value == 0; })) {
    std::optional<Fill> fill = readFill(evaluator);
    if (!fill)
      return std::nullopt;
    fills.insert(int(*fill));
    return false;
  }
  SampleView left(evaluator.positions, q, *queries);
  SampleView right(evaluator.positions, k, *keys);
  Axes outer = labels.resolve(flatten(weights->labels));
  SmallVector<int64_t> shape, inner;
  for (AxisId axis : outer)
    shape.push_back(evaluator.positions.of(axis).size());
  for (AxisId axis : axes.feature)
    inner.push_back(evaluator.positions.of(axis).size());
  int64_t products = 1;
  for (int64_t extent : inner)
    products *= extent;
  DenseMap<AxisId, int64_t> at;
  IndexWalk walk(shape);
  for (double value : values->data) {
    for (auto [axis, index] : llvm::zip_equal(outer, *walk))
      at[axis] = index;
    double product = 0;
    IndexWalk step(inner);
    for (int64_t i = 0; i < products; ++i) {
      for (auto [axis, index] : llvm::zip_equal(axes.feature, *step))
        at[axis] = index;
      product += left.at(at) * right.at(at);
      step.next();
    }
    if (!(value > 0) || !std::isfinite(value))
      return std::nullopt;

    double factor = std::log(value) / product;
    if (scale == 0)
      scale = factor;
    // The logarithm is exact to 1e-16 of 1, the product may be small.
    if (std::fabs(std::log(value) - scale * product) >
        tolerance * std::max(std::fabs(scale), 1e-3))
      return std::nullopt;
    walk.next();
  }
  return true;
}

std::optional<bool> MaskAnalysis::visible(unsigned truths, int64_t query,
                                          int64_t key) {
  auto entry = known.find(truths);
  if (entry != known.end())
    return entry->second;
  kinds.push_back({query, key});
  if (oracle) {
    std::optional<bool> result = oracle->visible(truths);
    if (result)
      known[truths] = *result;
    return result;
  }
  SampleEvaluator evaluator(component.labels, 7 + truths);
  auto sample = [&](AxisId axis, int64_t count) {
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < std::min(count, component.labels.size(axis)); ++i)
      positions.push_back(i);
    evaluator.positions.set(axis, std::move(positions));
  };
  if (axes.query)
    sample(*axes.query, 3);
  sample(axes.key, 3);
  for (const Axes *some : {&axes.batch, &axes.sharedHeads, &axes.groups,
                           &axes.feature, &axes.value})
    for (AxisId axis : *some)
      sample(axis, 2);
  for (auto [i, threshold] : llvm::enumerate(thresholds)) {
    bool constant = threshold.kind == Kind::Constant;
    bool truth = constant ? threshold.first : (truths >> i) & 1;
    evaluator.force(threshold.node, threshold.values[truth]);
  }
  evaluator.dropRowValues(axes.key);
  evaluator.judge(readings);
  std::optional<bool> result = classify(evaluator);
  if (result)
    known[truths] = *result;
  return result;
}

/// Half-open intervals of [first, last] between cuts.
static std::vector<std::pair<int64_t, int64_t>>
intervals(int64_t first, int64_t last, std::vector<int64_t> &cuts) {
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  llvm::erase_if(cuts, [&](int64_t cut) { return cut <= first || cut > last; });
  std::vector<std::pair<int64_t, int64_t>> parts;
  int64_t from = first;
  for (int64_t cut : cuts) {
    parts.push_back({from, cut});
    from = cut;
  }
  parts.push_back({from, last + 1});
  return parts;
}

LogicalResult MaskAnalysis::cut() {
  int64_t queries = axes.queryLength(component.labels);
  int64_t keys = component.labels.size(axes.key);
  for (const Threshold &threshold : thresholds) {
    if (threshold.kind == Kind::Constant)
      continue;
    std::vector<int64_t> &cuts = threshold.kind == Kind::Query ? queryCuts
                                 : threshold.kind == Kind::Key ? keyCuts
                                                               : differenceCuts;
    llvm::append_range(cuts, threshold.cuts);
  }
  auto ofQueries = intervals(0, queries - 1, queryCuts);
  auto ofKeys = intervals(0, keys - 1, keyCuts);
  auto ofDifferences = intervals(1 - queries, keys - 1, differenceCuts);

  // Cells that say the same are joined along difference, key, then query.
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  using KeyCells = std::vector<std::pair<std::pair<int64_t, int64_t>, Ranges>>;
  std::vector<std::pair<std::pair<int64_t, int64_t>, KeyCells>> rows;
  for (const auto &query : ofQueries) {
    KeyCells cells;
    for (const auto &key : ofKeys) {
      Ranges seen;
      for (const auto &difference : ofDifferences) {
        // Cells in which no pair lies are not asked for.
        if (key.second - 1 - query.first < difference.first ||
            key.first - (query.second - 1) >= difference.second)
          continue;
        unsigned truths = 0;
        for (auto [i, threshold] : llvm::enumerate(thresholds)) {
          int64_t position = threshold.kind == Kind::Query ? query.first
                             : threshold.kind == Kind::Key ? key.first
                                                           : difference.first;
          if (threshold.kind != Kind::Constant && threshold.truth(position))
            truths |= 1u << i;
        }
        int64_t query0 =
            std::max(query.first, key.first - difference.second + 1);
        std::optional<bool> shown = visible(
            truths, query0, std::max(key.first, query0 + difference.first));
        if (!shown)
          return refuse("its weights are not the exponential of a constant "
                        "times the product of queries and keys",
                        component.weights()->value.getLoc());
        if (!*shown)
          continue;
        if (!seen.empty() && seen.back().second == difference.first)
          seen.back().second = difference.second;
        else
          seen.push_back(difference);
      }
      if (!cells.empty() && cells.back().second == seen)
        cells.back().first.second = key.second;
      else
        cells.push_back({key, seen});
    }
    if (!rows.empty() && rows.back().second == cells)
      rows.back().first.second = query.second;
    else
      rows.push_back({query, cells});
  }
  std::vector<sprt::algebra::Band> list;
  for (const auto &[query, cells] : rows)
    for (const auto &[key, differences] : cells)
      for (const auto &[low, high] : differences)
        list.push_back({query.first, query.second, key.first, key.second, low,
                        high - 1, false});
  bands = sprt::algebra::Bands(std::move(list)).simplified();
  return success();
}

void MaskAnalysis::settle() {
  llvm::SmallPtrSet<const Node *, 8> nodes;
  for (const Threshold &threshold : thresholds)
    nodes.insert(threshold.node);
  readings = std::make_shared<Readings>(component, axes.key, nodes);
  known.clear();
  kinds.clear();
  if (oracle)
    oracle->setThresholds(thresholds, readings);
}

LogicalResult MaskAnalysis::cutPairs() {
  settle();
  auto isOfPairs = [](const Threshold &threshold) {
    return threshold.kind == Kind::Pair;
  };
  if (llvm::none_of(thresholds, isOfPairs))
    return cut();
  if (succeeded(cutByRow()))
    return success();
  if (!oracle)
    return failure();
  // In too many pieces, as random bits are: left to the score function.
  llvm::erase_if(thresholds, isOfPairs);
  for (std::vector<int64_t> *cuts : {&queryCuts, &keyCuts, &differenceCuts})
    cuts->clear();
  refusal.reset();
  settle();
  return cut();
}

LogicalResult MaskAnalysis::run() {
  if (failed(readThresholds()))
    return failure();
  if (failed(cutPairs()))
    return failure();
  if (bands.empty())
    return refuse("its mask hides every key from every query",
                  component.weights()->value.getLoc());
  if (oracle)
    return success();
  if (scale == 0)
    return refuse("its weights do not depend on queries and keys",
                  component.weights()->value.getLoc());
  // A scale that the program wrote in f32 is given as that number.
  double single = double(float(scale));
  if (std::fabs(scale - single) <= 1e-12 * std::fabs(scale))
    scale = single;
  return success();
}
