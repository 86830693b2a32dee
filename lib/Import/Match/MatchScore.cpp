//===- MatchScore.cpp - Attention by what a function makes of scores ------===//

#include "Match/Match.h"
#include "Match/ReferenceCheck.h"
#include "Scores/WeightStructure.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

LogicalResult AttentionMatcher::matchScore() {
  const AxisLabels &labels = match.component->labels;
  if (!findExponential(*match.component, match.axes.key))
    return refuse("its weights are not made of one exponential",
                  product->getLoc());
  SmallVector<Sink> sinks = findSinks(*match.component, match.axes.key);
  if (sinks.size() > 1)
    return refuse("it has more than one sink", product->getLoc());
  Axes heads = labels.resolve(match.axes.sharedHeads);
  llvm::append_range(heads, labels.resolve(match.axes.groups));
  for (const Sink &sink : sinks)
    for (AxisId axis : labels.resolve(flatten(sink.node->labels)))
      if (!llvm::is_contained(heads, axis))
        return refuse("its sink differs by another axis than heads",
                      sink.node->value.getLoc());
  ScoreAnalysis analysis(*match.component, match.axes);
  analysis.keepsZeros = keepsZeros;
  MaskAnalysis mask(*match.component, match.axes, comparisons);
  mask.ask(analysis);
  bool isRead = succeeded(mask.run());
  hasZeros = analysis.hasZeros;
  if (!isRead) {
    refusal = mask.refusal;
    return failure();
  }
  int64_t queries = match.axes.queryLength(labels),
          keys = labels.size(match.axes.key);
  match.bands = mask.bands;
  for (const Threshold &threshold : mask.readableThresholds())
    match.settled.insert(keyOf(labels, threshold.node));
  ScoreMatch &score = match.score.emplace();
  bool hasEmptyRows = !match.bands.emptyRows(queries, keys).empty();
  if (analysis.finish(hasEmptyRows) &&
      !(keepsFills && std::isfinite(analysis.hidesUpTo))) {
    for (auto [threshold, truth] :
         llvm::zip_equal(mask.readableThresholds(), analysis.settled))
      if (truth)
        score.constants[keyOf(labels, threshold.node)] =
            threshold.values[*truth];
  } else {
    match.bands = sprt::algebra::Bands(
        {{0, queries, 0, keys, sprt::algebra::unboundedBelow,
          sprt::algebra::unboundedAbove, false}});
  }
  match.scale = scoreScale();
  if (!keepsFills) {
    score.hidesUpTo = analysis.hidesUpTo;
    score.absorbs = analysis.absorbs;
  }
  score.weights = analysis.weights;
  if (succeeded(verifyResults(mask)))
    return settleEmptyRows();
  if (score.weights != ScoreAnalysis::Weights::Multiply)
    return failure();
  score.weights = ScoreAnalysis::Weights::Hide;
  refusal.reset();
  match.results.clear();
  match.empty = EmptyRow::Never;
  return failed(verifyResults(mask)) ? failure() : settleEmptyRows();
}

/// Rows emptied by data that no sample was; and no sample says what becomes of
/// weights that are more than divided by sums.
LogicalResult AttentionMatcher::settleEmptyRows() {
  if (const Node *node = findNonlinear(*match.component, match.axes.key,
                                       /*asFunction=*/true))
    return refuse("'" + node->op->getName().getStringRef() +
                      "' makes more than multiples of its weights or sums",
                  node->value.getLoc());
  if (!findSinks(*match.component, match.axes.key).empty()) {
    match.empty = EmptyRow::Zero;
    return success();
  }
  if (match.empty != EmptyRow::Never)
    return success();
  if (!std::isinf(match.score->hidesUpTo))
    match.empty = EmptyRow::Mean;
  else if (ReferenceCheck(match).guardsHiddenRows(
               requestBoth(match.results.back().value)))
    match.empty = EmptyRow::Zero;
  return success();
}

/// The constant factors of queries and keys, which are no part of the operands.
double AttentionMatcher::scoreScale() const {
  const AxisLabels &labels = match.component->labels;
  SampleEvaluator evaluator(labels, 5);
  const Samples *scores = evaluator.evaluate(match.component->scoresNode());
  const Samples *q = evaluator.evaluate(match.component->leaf(Role::Left)),
                *k = evaluator.evaluate(match.component->leaf(Role::Right));
  if (!scores || !q || !k)
    return 1;
  double scale = scores->data[0] / (q->data[0] * k->data[0]);
  double single = double(float(scale));
  return std::fabs(scale - single) <= 1e-12 * std::fabs(scale) ? single : scale;
}
