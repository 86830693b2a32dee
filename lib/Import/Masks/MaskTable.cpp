//===- MaskTable.cpp - Tables of constants as thresholds ------------------===//

#include "Masks/MaskAnalysis.h"

#include "sp/StableHLO/ElementFunctions.h"
#include "sp/StableHLO/StableHLO.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::sp;

/// A mask with more changes along its diagonal is no band.
static constexpr size_t maxCuts = 8;

namespace {

/// Truth by position, filled in as a table is read; positions start at `low`.
class TruthLine {
public:
  TruthLine(int64_t low, int64_t size) : low(low), truths(size, unknown) {}

  /// False if the position is known to have the other truth.
  bool set(int64_t position, bool truth) {
    char &known = truths[position - low];
    if (known == unknown)
      known = truth;
    return known == char(truth);
  }

  bool write(Threshold &threshold) const {
    threshold.first = truths.front() == 1;
    threshold.cuts.clear();
    for (size_t i = 1; i < truths.size(); ++i)
      if (truths[i] != truths[i - 1])
        threshold.cuts.push_back(low + int64_t(i));
    return threshold.cuts.size() <= maxCuts;
  }

private:
  static constexpr char unknown = 2;
  int64_t low;
  std::vector<char> truths;
};

/// Numbers lines that are equal alike; line i holds `width` truths.
std::vector<uint32_t> classesOf(const std::vector<char> &truths, size_t lines,
                                size_t width, std::vector<size_t> &first) {
  std::map<std::string, uint32_t> numbers;
  std::vector<uint32_t> classes;
  for (size_t line = 0; line < lines; ++line) {
    std::string text(truths.data() + line * width, width);
    auto [entry, isNew] = numbers.try_emplace(std::move(text), numbers.size());
    if (isNew)
      first.push_back(line);
    classes.push_back(entry->second);
  }
  return classes;
}

/// Makes a threshold of pairs from the truths of all, queries x keys.
void classify(Threshold &threshold, std::vector<char> pairs, int64_t queries,
              int64_t keys) {
  threshold.kind = Threshold::Kind::Pair;
  std::vector<char> turned(pairs.size());
  for (int64_t q = 0; q < queries; ++q)
    for (int64_t k = 0; k < keys; ++k)
      turned[k * queries + q] = pairs[q * keys + k];
  std::vector<size_t> rows, columns;
  threshold.queryClass = classesOf(pairs, queries, keys, rows);
  threshold.keyClass = classesOf(turned, keys, queries, columns);
  threshold.numKeyClasses = columns.size();
  for (size_t row : rows)
    for (size_t column : columns)
      threshold.ofClasses.push_back(pairs[row * keys + column]);
}

} // namespace

std::optional<Threshold> mlir::sp::readTable(const AxisLabels &labels,
                                             const AttentionAxes &axes,
                                             const Node *node) {
  Axes over = axesOver(labels, node);
  SampleEvaluator evaluator(labels, 0);
  SmallVector<int64_t> shape;
  for (AxisId axis : over) {
    std::vector<int64_t> all(labels.size(axis));
    for (auto [i, position] : llvm::enumerate(all))
      position = i;
    shape.push_back(all.size());
    evaluator.positions.set(axis, std::move(all));
  }
  const Samples *table = evaluator.evaluate(node);
  if (!table)
    return std::nullopt;
  Threshold threshold;
  threshold.node = node;
  threshold.values[0] = threshold.values[1] = table->data.front();
  for (double value : table->data) {
    if (value == threshold.values[0] || value == threshold.values[1])
      continue;
    if (threshold.values[0] != threshold.values[1])
      return std::nullopt;
    threshold.values[1] = value;
  }
  if (threshold.values[0] == threshold.values[1])
    return threshold;

  // Of sides that the table runs over only: the other one may be of any length.
  bool overKeys = llvm::is_contained(over, axes.key);
  bool overQueries = over.size() > size_t(overKeys);
  int64_t queries = overQueries ? axes.queryLength(labels) : 1;
  int64_t keys = overKeys ? labels.size(axes.key) : 1;
  TruthLine ofQueries(0, queries), ofKeys(0, keys);
  TruthLine ofDifferences(1 - queries, queries + keys - 1);
  bool byQuery = true, byKey = true, byDifference = over.size() == 2;
  std::vector<char> pairs(size_t(queries) * size_t(keys));
  IndexWalk walk(shape);
  for (double value : table->data) {
    int64_t query = 0, key = 0;
    for (auto [axis, index] : llvm::zip_equal(over, *walk))
      (axis == axes.key ? key : query) = index;
    bool truth = value == threshold.values[1];
    byQuery = byQuery && ofQueries.set(query, truth);
    byKey = byKey && ofKeys.set(key, truth);
    byDifference = byDifference && ofDifferences.set(key - query, truth);
    pairs[size_t(query) * size_t(keys) + size_t(key)] = truth;
    walk.next();
  }
  const TruthLine *line = byKey          ? &ofKeys
                          : byQuery      ? &ofQueries
                          : byDifference ? &ofDifferences
                                         : nullptr;
  threshold.kind = byKey     ? Threshold::Kind::Key
                   : byQuery ? Threshold::Kind::Query
                             : Threshold::Kind::Difference;
  if (line && line->write(threshold))
    return threshold;
  if (over.size() != 2)
    return std::nullopt;
  classify(threshold, std::move(pairs), queries, keys);
  return threshold;
}

std::optional<Threshold> mlir::sp::readSteps(const AxisLabels &labels,
                                             const AttentionAxes &axes,
                                             const Node *node) {
  auto compare = cast<stablehlo::CompareOp>(node->op);
  int64_t queries = axes.queryLength(labels), keys = labels.size(axes.key);
  if (std::max(queries, keys) > maxTable)
    return std::nullopt;
  ElementFunction holds = elementFunction(compare);
  Threshold threshold;
  threshold.node = node;
  threshold.kind = Threshold::Kind::Pair;
  threshold.queryClass.assign(queries, 0);
  threshold.keyClass.assign(keys, 0);
  // Distinct values of each side; a side that is constant has one.
  std::vector<double> sides[2];
  bool isKeys[2] = {false, true};
  for (unsigned i = 0; i < 2; ++i) {
    const Node *side = narrowest(node->operands[i]);
    Axes over = axesOver(labels, side);
    SampleEvaluator evaluator(labels, 0);
    if (!over.empty()) {
      std::vector<int64_t> all(labels.size(over[0]));
      std::iota(all.begin(), all.end(), 0);
      evaluator.positions.set(over[0], std::move(all));
    }
    const Samples *samples = evaluator.evaluate(side);
    if (!samples)
      return std::nullopt;
    isKeys[i] = !over.empty() ? over[0] == axes.key : i == 1;
    std::map<double, uint32_t> numbers;
    std::vector<uint32_t> &classes =
        isKeys[i] ? threshold.keyClass : threshold.queryClass;
    for (auto [position, value] : llvm::enumerate(samples->data)) {
      if (std::isnan(value))
        return std::nullopt;
      auto [entry, isNew] = numbers.try_emplace(value, numbers.size());
      if (isNew)
        sides[i].push_back(value);
      if (!over.empty())
        classes[position] = entry->second;
    }
  }
  // Both sides over one axis tell positions of it, not pairs, apart.
  if (isKeys[0] == isKeys[1] || !holds)
    return std::nullopt;
  unsigned q = isKeys[0] ? 1 : 0;
  threshold.numKeyClasses = sides[1 - q].size();
  for (double query : sides[q])
    for (double key : sides[1 - q])
      threshold.ofClasses.push_back(
          holds(q == 0 ? ArrayRef<double>{query, key}
                       : ArrayRef<double>{key, query}) != 0);
  return threshold;
}
