//===- MaskTable.cpp - Tables of constants as thresholds ------------------===//

#include "MaskAnalysis.h"

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

} // namespace

std::optional<Threshold> mlir::sp::readTable(const AxisLabels &labels,
                                             const AttentionAxes &axes,
                                             const Node *node) {
  Axes over = labels.resolve(flatten(node->labels));
  SampleEvaluator evaluator(labels, 0);
  SmallVector<int64_t> shape;
  for (AxisId axis : over) {
    std::vector<int64_t> all(labels.size(axis));
    for (auto [i, position] : llvm::enumerate(all))
      position = i;
    shape.push_back(all.size());
    evaluator.setPositions(axis, std::move(all));
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

  int64_t queries = axes.queryLength(labels), keys = labels.size(axes.key);
  TruthLine ofQueries(0, queries), ofKeys(0, keys);
  TruthLine ofDifferences(1 - queries, queries + keys - 1);
  bool byQuery = true, byKey = true, byDifference = over.size() == 2;
  IndexWalk walk(shape);
  for (double value : table->data) {
    int64_t query = 0, key = 0;
    for (auto [axis, index] : llvm::zip_equal(over, *walk))
      (axis == axes.key ? key : query) = index;
    bool truth = value == threshold.values[1];
    byQuery = byQuery && ofQueries.set(query, truth);
    byKey = byKey && ofKeys.set(key, truth);
    byDifference = byDifference && ofDifferences.set(key - query, truth);
    walk.next();
  }
  const TruthLine *line = byKey          ? &ofKeys
                          : byQuery      ? &ofQueries
                          : byDifference ? &ofDifferences
                                         : nullptr;
  threshold.kind = byKey     ? Threshold::Kind::Key
                   : byQuery ? Threshold::Kind::Query
                             : Threshold::Kind::Difference;
  if (!line || !line->write(threshold))
    return std::nullopt;
  return threshold;
}
