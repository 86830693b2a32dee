//===- ScoreAnalysis.cpp - Which pairs a score function may show ----------===//

#include "Scores/Score.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::sp;

static constexpr unsigned draws = 6;
/// How far apart what is left of scores may be that fills absorb: in f32 the
/// last place of the largest of these is 64.
static constexpr double absorbedScores = 64;

std::optional<Exponential> mlir::sp::findExponential(const Component &component,
                                                     AxisId keys) {
  SmallVector<const Node *> open = {component.weights()};
  llvm::SmallPtrSet<const Node *, 16> seen;
  Exponential found;
  while (!open.empty()) {
    const Node *node = open.pop_back_val();
    if (!node->scored || !seen.insert(node).second ||
        node == component.scoresNode() || isa<stablehlo::ReduceOp>(node->op) ||
        !runsOver(component.labels, node, keys))
      continue;
    if (!isa<stablehlo::ExpOp>(node->op)) {
      llvm::append_range(open, node->operands);
      continue;
    }
    if (found.node)
      return std::nullopt;
    found.node = node;
  }
  return found.node ? std::optional(found) : std::nullopt;
}

SmallVector<Sink> mlir::sp::findSinks(const Component &component, AxisId keys) {
  SmallVector<Sink> sinks;
  auto add = [&](const Node *node, bool isPower) {
    Sink sink = {narrowest(node), isPower};
    while (isa_and_nonnull<stablehlo::ConvertOp>(sink.node->op) &&
           widens(sink.node->op))
      sink.node = narrowest(sink.node->operands[0]);
    if (!llvm::is_contained(sinks, sink))
      sinks.push_back(sink);
  };
  std::optional<Readings> readings;
  for (const std::unique_ptr<Node> &node : component.nodes.all()) {
    if (const Node *sum = sumBesidePower(component.labels, node.get(), keys)) {
      const Node *power = node->operands[node->operands[0] == sum ? 1 : 0];
      if (!readings)
        readings.emplace(component, keys, llvm::SmallPtrSet<const Node *, 8>());
      if (readings->isNonNegative(power) && readings->number(power) != 0.0)
        add(power, /*isPower=*/true);
      continue;
    }
    if (!node->scored || !isa_and_nonnull<stablehlo::ExpOp>(node->op) ||
        runsOver(component.labels, node.get(), keys))
      continue;
    // Shifted by bounds of the row's scores, once or more often.
    const Node *shifted = node->operands[0];
    while (
        shifted->scored && shifted->op &&
        (isIdentity(shifted->op) ||
         isa<stablehlo::ReshapeOp, stablehlo::ConvertOp,
             stablehlo::BroadcastInDimOp, stablehlo::SubtractOp>(shifted->op)))
      shifted = shifted->operands[0];
    if (!shifted->scored)
      add(shifted, /*isPower=*/false);
  }
  return sinks;
}

void HiddenExponents::add(double exponent) {
  if (std::isinf(exponent)) {
    hasInfinite = true;
    return;
  }
  least = hasFinite ? std::min(least, exponent) : exponent;
  greatest = hasFinite ? std::max(greatest, exponent) : exponent;
  hasFinite = true;
}

void ScoreAnalysis::setThresholds(ArrayRef<Threshold> known,
                                  std::shared_ptr<Readings> by) {
  thresholds = known;
  readings = std::move(by);
  settled.assign(known.size(), std::nullopt);
  shown.clear();
  byBands = byData = {};
  isWeighted = false;
}

/// Positions from all over an axis.
static std::vector<int64_t> spread(int64_t size, unsigned count) {
  std::set<int64_t> positions;
  for (unsigned i = 0; i < count; ++i)
    positions.insert(count == 1 ? 0 : i * (size - 1) / (count - 1));
  return {positions.begin(), positions.end()};
}

/// False where a draw cannot be evaluated.
bool ScoreAnalysis::draw(unsigned truths, unsigned number, bool &isShown) {
  const AxisLabels &labels = component.labels;
  std::optional<Exponential> exponential = findExponential(component, axes.key);
  if (!exponential)
    return false;
  auto prepare = [&](SampleEvaluator &evaluator) {
    if (axes.query)
      evaluator.positions.set(*axes.query, spread(labels.size(*axes.query), 4));
    evaluator.positions.set(axes.key, spread(labels.size(axes.key), 4));
    for (const Axes *some : {&axes.batch, &axes.sharedHeads, &axes.groups,
                             &axes.feature, &axes.value})
      for (AxisId axis : *some)
        evaluator.positions.set(axis, spread(labels.size(axis), 2));
    for (auto [i, threshold] : llvm::enumerate(thresholds)) {
      bool constant = threshold.kind == Threshold::Kind::Constant;
      bool truth = constant ? threshold.first : (truths >> i) & 1;
      evaluator.force(threshold.node, threshold.values[truth]);
    }
    evaluator.judge(readings);
    evaluator.dropRowValues(axes.key);
  };
  uint64_t seed = 1009 + truths * draws + number;
  SampleEvaluator asIs(labels, seed), ofOne(labels, seed);
  prepare(asIs);
  prepare(ofOne);
  ofOne.force(exponential->node, 1.0);
  const Node *node = component.weights(), *exponent = exponential->exponent();
  const Samples *ones = ofOne.evaluate(node);
  const Samples *exponents = asIs.evaluate(exponent);
  if (!ones || !exponents)
    return false;
  SampleView view(asIs.positions, exponent, *exponents);
  Axes outer = labels.resolve(flatten(node->labels));
  SmallVector<int64_t> shape;
  for (AxisId axis : outer)
    shape.push_back(asIs.positions.of(axis).size());
  HiddenExponents hidden;
  bool hasPairs = false, hasWeights = false;
  IndexWalk walk(shape);
  DenseMap<AxisId, int64_t> at;
  for (double one : ones->data) {
    for (auto [axis, index] : llvm::zip_equal(outer, *walk))
      at[axis] = index;
    walk.next();
    double power = view.at(at);
    bool isHidden = power <= largestFill;
    hasPairs |= !isHidden && (one != 0 || keepsZeros);
    hasZeros |= !isHidden && one == 0;
    if (isHidden)
      hidden.add(power);
    hasWeights |= !std::isinf(power) && one != 1;
  }
  isShown |= hasPairs;
  HiddenExponents &all = hasPairs ? byData : byBands;
  if (hidden.hasInfinite)
    all.add(-std::numeric_limits<double>::infinity());
  if (hidden.hasFinite) {
    all.add(hidden.least);
    all.add(hidden.greatest);
  }
  isWeighted |= hasPairs && hasWeights;
  return true;
}

std::optional<bool> ScoreAnalysis::visible(unsigned truths) {
  bool isShown = false;
  HiddenExponents before = byBands;
  for (unsigned number = 0; number < draws; ++number)
    if (!draw(truths, number, isShown))
      return std::nullopt;
  if (!isShown)
    return false;
  // A draw that hides all pairs of a visible cell does so by its data.
  if (byBands.hasFinite && !before.hasFinite) {
    byData.add(byBands.least);
    byData.add(byBands.greatest);
  }
  if (byBands.hasInfinite && !before.hasInfinite)
    byData.add(-std::numeric_limits<double>::infinity());
  byBands = before;
  for (auto [i, known] : llvm::enumerate(settled)) {
    bool truth = thresholds[i].kind == Threshold::Kind::Constant
                     ? thresholds[i].first
                     : (truths >> i) & 1;
    if (shown.empty())
      known = truth;
    else if (known != truth)
      known = std::nullopt;
  }
  shown.push_back(truths);
  return true;
}

/// Whether an exponent is made of numbers of queries, keys or pairs, which may
/// be a mask as deep as the fill; those that are only compared, and shifts of
/// rows, are none.
bool ScoreAnalysis::hasNumbersOfRows(const Node *exponent) const {
  llvm::SmallPtrSet<const Node *, 16> seen;
  SmallVector<const Node *> open = {exponent};
  while (!open.empty()) {
    const Node *node = open.pop_back_val();
    if (!seen.insert(node).second || node->elementType().isInteger(1))
      continue;
    if (node->scored && !runsOver(component.labels, node, axes.key))
      continue;
    bool isNumber = !node->scored && (node->role == Role::Data ||
                                      readings->of(node) == Reading::Any);
    if (isNumber &&
        (runsOver(component.labels, node, axes.key) ||
         (axes.query && runsOver(component.labels, node, *axes.query))))
      return true;
    if (!isNumber)
      llvm::append_range(open, node->operands);
  }
  return false;
}

bool ScoreAnalysis::finish(bool hasEmptyRows) {
  if (isWeighted)
    weights = Weights::Multiply;
  if (!byBands.hasFinite)
    return true;
  const Node *exponent = findExponential(component, axes.key)->exponent();
  if (hasNumbersOfRows(exponent) || byBands.hasInfinite || byData.hasInfinite)
    return false;
  if (!byData.hasFinite)
    return !hasEmptyRows || byBands.isUniform();
  Type type = exponent->elementType();
  double greatest = std::max(byData.greatest, byBands.greatest);
  bool isUniform = byData.isUniform() && byBands.isUniform() &&
                   byData.least == byBands.least;
  // Fills that add up leave those of a row apart that are fewest.
  double least = std::min(byData.least, byBands.least);
  absorbs = !isUniform && type.getIntOrFloatBitWidth() <= 32 &&
            greatest - least <= absorbedScores;
  if (!isUniform && !absorbs)
    return false;
  hidesUpTo = greatest / 2;
  return true;
}
