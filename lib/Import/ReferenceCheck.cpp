//===- ReferenceCheck.cpp - A component against the formula ---------------===//
//
//   O[q, v] = sum_k exp(scale * Q[q] . K[k]) V[k, v] / sum_k exp(...)
//
// over the sampled keys that the bands show, at their true positions.
//
//===----------------------------------------------------------------------===//

#include "Match.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::sp;

static constexpr double tolerance = 1e-9;
static constexpr unsigned draws = 2;
static constexpr size_t maxPositions = 40;

void mlir::sp::samplePositions(AttentionMatch &match,
                               const MaskAnalysis &mask) {
  const AxisLabels &labels = match.component->labels;
  int64_t numQueries = match.axes.queryLength(labels);
  int64_t numKeys = labels.size(match.axes.key);
  std::set<int64_t> q, k;
  auto add = [](std::set<int64_t> &set, int64_t position, int64_t size) {
    if (position >= 0 && position < size && set.size() < maxPositions)
      set.insert(position);
  };
  auto addAround = [&](std::set<int64_t> &set, int64_t position, int64_t size) {
    for (int64_t step = -1; step <= 1; ++step)
      add(set, position + step, size);
  };
  std::vector<sprt::algebra::Interval> unseen =
      match.bands.emptyRows(numQueries, numKeys);
  for (const sprt::algebra::Interval &rows : unseen)
    add(q, rows.begin, numQueries);
  for (int64_t position : {int64_t(0), numQueries / 2, numQueries - 1})
    add(q, position, numQueries);
  for (int64_t position : {int64_t(0), numKeys / 3, numKeys - 1})
    add(k, position, numKeys);
  for (int64_t cut : mask.queryCuts)
    addAround(q, cut, numQueries);
  for (int64_t cut : mask.keyCuts)
    addAround(k, cut, numKeys);
  // Each query meets keys on both sides of each cut in (key - query).
  std::set<int64_t> some(q);
  for (int64_t cut : mask.differenceCuts) {
    for (int64_t query : some)
      addAround(k, query + cut, numKeys);
    addAround(q, -cut, numQueries);
  }
  // And at least one that it sees, if it sees any.
  for (int64_t query : q)
    for (const sprt::algebra::Band &band : match.bands.bands()) {
      if (query < band.q0 || query >= band.q1)
        continue;
      int64_t low =
          band.lo == sprt::algebra::unboundedBelow ? band.k0 : query + band.lo;
      int64_t key = std::max(band.k0, low);
      if (sprt::algebra::visible(band, query, key))
        k.insert(key);
    }
  match.queries.assign(q.begin(), q.end());
  match.keys.assign(k.begin(), k.end());
}

bool ReferenceCheck::equals(const Node *node, EmptyRow &empty) const {
  // Data has more cases than numbers; all true and all false are two of them.
  unsigned most = match.score ? 3 * draws : draws;
  for (unsigned draw = 0; draw < most; ++draw)
    if (!equalsOnce(node, empty, 101 + draw))
      return false;
  bool isEqual = true;
  for (bool truth : {false, true}) {
    truths = truth;
    isEqual &= !match.score || equalsOnce(node, empty, 211 + truth);
  }
  truths.reset();
  return isEqual;
}

/// Three samples of an axis: its ends and something between.
static std::vector<int64_t> threePositions(int64_t size) {
  std::set<int64_t> positions = {0, size / 2, size - 1};
  return {positions.begin(), positions.end()};
}

static bool near(double actual, double expected) {
  if (std::isnan(expected))
    return std::isnan(actual);
  return std::fabs(actual - expected) <= tolerance * (1 + std::fabs(expected));
}

void mlir::sp::setPositions(const AttentionMatch &match,
                            SampleEvaluator &evaluator) {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  for (const Axes *some : {&axes.batch, &axes.sharedHeads, &axes.groups,
                           &axes.feature, &axes.value})
    for (AxisId axis : labels.resolve(*some))
      evaluator.setPositions(axis, threePositions(labels.size(axis)));
  if (axes.query)
    evaluator.setPositions(*axes.query, match.queries);
  evaluator.setPositions(axes.key, match.keys);
}

void ReferenceCheck::prepare(SampleEvaluator &evaluator) const {
  setPositions(match, evaluator);
  if (match.score)
    evaluator.releaseData(*match.component);
  if (truths)
    evaluator.setTruths(*truths);
}

namespace {

/// Exponents and factors of pairs, as the formula has them.
class Exponents {
public:
  using Prepare = function_ref<void(SampleEvaluator &)>;
  Exponents(const AttentionMatch &match, uint64_t seed, Prepare prepare);
  bool isKnown() const { return known; }
  double exponent(const DenseMap<AxisId, int64_t> &at) const;
  double factor(const DenseMap<AxisId, int64_t> &at) const;
  /// The sink's exponent, -inf without one.
  double sink(const DenseMap<AxisId, int64_t> &at) const;

private:
  /// A node evaluated, to be read by coordinates.
  struct Part {
    std::unique_ptr<SampleEvaluator> evaluator;
    std::unique_ptr<SampleView> view;
  };
  Part evaluate(const Node *node, Prepare prepare, const Node *one = nullptr);

  const AttentionMatch &match;
  uint64_t seed;
  bool known = true;
  Part exponents, factors, sinks;
};

} // namespace

Exponents::Part Exponents::evaluate(const Node *node, Prepare prepare,
                                    const Node *one) {
  const AxisLabels &labels = match.component->labels;
  Part part;
  part.evaluator = std::make_unique<SampleEvaluator>(labels, seed);
  prepare(*part.evaluator);
  part.evaluator->dropRowValues(match.axes.key);
  if (one)
    part.evaluator->force(one, 1.0);
  if (const Samples *samples = part.evaluator->evaluate(node))
    part.view =
        std::make_unique<SampleView>(labels, *part.evaluator, node, *samples);
  else
    known = false;
  return part;
}

Exponents::Exponents(const AttentionMatch &match, uint64_t seed,
                     Prepare prepare)
    : match(match), seed(seed) {
  const Component &component = *match.component;
  std::optional<Exponential> made = findExponential(component, match.axes.key);
  if (!made) {
    known = false;
    return;
  }
  exponents = evaluate(made->exponent(), prepare);
  if (match.score->weights != ScoreAnalysis::Weights::None)
    factors = evaluate(component.weights(), prepare, made->node);
  SmallVector<const Node *> found = findSinks(component, match.axes.key);
  if (!found.empty())
    sinks = evaluate(found.front(), prepare);
}

double Exponents::exponent(const DenseMap<AxisId, int64_t> &at) const {
  double value = exponents.view->at(at);
  bool isHidden = value <= match.score->hidesUpTo ||
                  (match.score->weights == ScoreAnalysis::Weights::Hide &&
                   factors.view->at(at) == 0);
  return isHidden ? -std::numeric_limits<double>::infinity() : value;
}

double Exponents::factor(const DenseMap<AxisId, int64_t> &at) const {
  bool multiplies = match.score->weights == ScoreAnalysis::Weights::Multiply;
  return multiplies ? factors.view->at(at) : 1.0;
}

double Exponents::sink(const DenseMap<AxisId, int64_t> &at) const {
  return sinks.view ? sinks.view->at(at)
                    : -std::numeric_limits<double>::infinity();
}

bool ReferenceCheck::equalsOnce(const Node *node, EmptyRow &empty,
                                uint64_t seed) const {
  const Component &component = *match.component;
  const AxisLabels &labels = component.labels;
  const AttentionAxes &axes = match.axes;
  SampleEvaluator evaluator(labels, seed);
  prepare(evaluator);
  std::optional<Exponents> exponents;
  if (match.score)
    exponents.emplace(match, seed,
                      [&](SampleEvaluator &other) { prepare(other); });
  const Node *q = component.leaf(axes.queryRole);
  const Node *k = component.leaf(axes.keyRole);
  const Node *v = component.leaf(Role::Value);
  const Samples *actual = evaluator.evaluate(node);
  const Samples *ofQ = evaluator.evaluate(q), *ofK = evaluator.evaluate(k);
  const Samples *ofV = evaluator.evaluate(v);
  if (!actual || !ofQ || !ofK || !ofV || (exponents && !exponents->isKnown()))
    return false;
  SampleView viewQ(labels, evaluator, q, *ofQ),
      viewK(labels, evaluator, k, *ofK);
  SampleView viewV(labels, evaluator, v, *ofV);

  Axes outer = labels.resolve(flatten(node->labels));
  Axes feature = labels.resolve(axes.feature);
  SmallVector<int64_t> shape, inner;
  for (AxisId axis : outer)
    shape.push_back(evaluator.positions(axis).size());
  int64_t products = 1;
  for (AxisId axis : feature) {
    inner.push_back(evaluator.positions(axis).size());
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
    for (auto [index, key] : llvm::enumerate(match.keys)) {
      at[axes.key] = index;
      double value = viewV.at(at);
      row.mean += value / double(match.keys.size());
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
    Row row = formula(axes.query ? match.queries[at.lookup(*axes.query)] : 0);
    if (row.weights > 0) {
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
