//===- SamplePlan.cpp - Positions and draws of a match --------------------===//

#include "Scores/SamplePlan.h"

#include "Samples/SampleTangents.h"
#include "Scores/WeightStructure.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::sp;

namespace {

/// What a draw has, in the order of their seeds.
struct Sizes {
  double magnitude; ///< of scaled scores, about
  /// What is added to all of them: softmax does not see it, but what acts on
  /// large scores alone does. Third powers of exponentials, which gradients may
  /// have where no maximum is subtracted, are numbers.
  double offset;
  /// How large cotangents and values are, to which gradients are proportional.
  double factors;
  /// Whether scores are as large where exponents grow slowest. Rows where they
  /// grow faster then say nothing.
  bool isSlowest;
};

} // namespace

static constexpr Sizes sizes[] = {{3, 0, 1, false},     {0.3, 100, 1e4, false},
                                  {1, -100, 1e2, true}, {30, 0, 1, false},
                                  {3, 200, 1e3, false}, {1, 0, 1e4, true},
                                  {3, 40, 10, false},   {3, 0, 1, true}};
/// Of these without a score function; the last two have all truths alike.
static constexpr size_t fewestDraws = 6;
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
  for (auto [query, key] : mask.kinds) {
    q.insert(query);
    k.insert(key);
  }
  for (const sprt::algebra::Interval &rows : match.rowsWithoutKeys())
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

/// Positions of an axis on both sides of where a value made of several parts,
/// as concatenations and paddings are, goes over from one to the next.
static void addSeams(const AxisLabels &labels, AxisId axis,
                     std::set<int64_t> &positions) {
  int64_t size = labels.size(axis);
  for (AxisId other = 0; other < labels.count(); ++other) {
    const AxisLabels::Derivation *derived = labels.derivation(other);
    if (!derived || labels.resolve(derived->base) != Axes{axis})
      continue;
    std::set<int64_t> inner = {-1, 0, labels.size(other) - 1,
                               labels.size(other)};
    addSeams(labels, other, inner);
    for (int64_t place : inner) {
      int64_t at = (place - derived->start) / derived->stride;
      for (int64_t position = at - 1; position <= at + 1; ++position)
        if (position >= 0 && position < size)
          positions.insert(position);
    }
  }
}

static std::vector<int64_t> withSeams(const AxisLabels &labels, AxisId axis,
                                      ArrayRef<int64_t> chosen) {
  std::set<int64_t> positions(chosen.begin(), chosen.end());
  addSeams(labels, axis, positions);
  return {positions.begin(), positions.end()};
}

/// Ends of an axis, something between, and seams.
static std::vector<int64_t> somePositions(const AxisLabels &labels,
                                          AxisId axis) {
  int64_t size = labels.size(axis);
  return withSeams(labels, axis, {0, size / 2, size - 1});
}

static void setPositions(const AttentionMatch &match, const SamplePlan &plan,
                         SampleEvaluator &evaluator) {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  for (const Axes *some : {&axes.batch, &axes.sharedHeads, &axes.groups,
                           &axes.feature, &axes.value})
    for (AxisId axis : labels.resolve(*some))
      evaluator.positions.set(axis, somePositions(labels, axis));
  if (axes.query)
    evaluator.positions.set(*axes.query, plan.queries);
  evaluator.positions.set(axes.key, plan.keys);
}

/// How slowly and how fast exponents grow with scaled scores, about; 1 where
/// they are those.
static std::pair<double, double> slopesOfExponents(const AttentionMatch &match,
                                                   const SamplePlan &plan) {
  const Component &component = *match.component;
  std::optional<Exponential> exponential =
      match.score && component.productNode()
          ? findExponential(component, match.axes.key)
          : std::nullopt;
  if (!exponential)
    return {1, 1};
  SampleEvaluator evaluator(component.labels, 1);
  setPositions(match, plan, evaluator);
  evaluator.dropRowValues(match.axes.key);
  std::pair<double, double> range = {HUGE_VAL, 0};
  SampleTangents tangents(evaluator);
  if (const Samples *slopes =
          tangents.of(exponential->exponent(), component.scoresNode()))
    for (double slope : slopes->data) {
      double size = std::fabs(slope);
      if (!std::isfinite(size) || size == 0)
        continue;
      range = {std::min(range.first, size), std::max(range.second, size)};
    }
  return range.second > 0 ? range : std::pair(1.0, 1.0);
}

static std::shared_ptr<const SamplePlan> planOf(const AttentionMatch &match,
                                                ArrayRef<const Node *> opened) {
  const AxisLabels &labels = match.component->labels;
  llvm::SmallPtrSet<const Node *, 8> settled;
  for (const std::unique_ptr<Node> &node : match.component->nodes.all())
    if (match.settled.count(keyOf(labels, node.get())))
      settled.insert(node.get());
  auto plan = std::make_shared<SamplePlan>();
  plan->readings = std::make_shared<Readings>(*match.component, match.axes.key,
                                              settled, opened);
  plan->queries = match.axes.query
                      ? withSeams(labels, *match.axes.query, match.queries)
                      : match.queries;
  plan->keys = withSeams(labels, match.axes.key, match.keys);
  return plan;
}

SmallVector<SampleDraw> mlir::sp::samplesOf(const AttentionMatch &match,
                                            uint64_t seed,
                                            ArrayRef<const Node *> opened) {
  std::shared_ptr<const SamplePlan> plan = planOf(match, opened);
  auto [slowest, fastest] = slopesOfExponents(match, *plan);
  // Sinks stay where they are.
  bool hasSinks =
      match.score && !findSinks(*match.component, match.axes.key).empty();
  SmallVector<SampleDraw> samples;
  // Data has more cases than numbers; all true and all false are two of them.
  size_t count = match.score ? std::size(sizes) : fewestDraws;
  for (auto [number, size] :
       llvm::enumerate(ArrayRef(sizes).take_front(count))) {
    std::optional<bool> truth;
    if (number + 2 >= count)
      truth = number + 1 == count;
    double slope = size.isSlowest ? slowest : fastest;
    double offset = hasSinks ? 0 : size.offset;
    samples.push_back({plan, seed++, truth, size.magnitude / slope,
                       offset / slope, size.factors});
  }
  return samples;
}

namespace {

/// How fast exponents grow with scores that a number is added to.
struct Place {
  double offset, slope;

  double distanceTo(const Place &other, double size) const {
    double larger = std::max(std::fabs(slope), std::fabs(other.slope));
    return std::fabs(slope - other.slope) / std::max(larger, 1e-3 * size);
  }
};

} // namespace

/// The place at an offset; none where squares of slopes are no numbers.
static std::optional<Place> placeAt(double offset, const AttentionMatch &match,
                                    const SamplePlan &plan,
                                    const Node *exponent) {
  constexpr double steepest = 1e100;
  const Component &component = *match.component;
  SampleEvaluator evaluator(component.labels, 1);
  setPositions(match, plan, evaluator);
  evaluator.dropRowValues(match.axes.key);
  evaluator.settings.magnitude = 0;
  evaluator.settings.offsetNode = component.scoresNode();
  evaluator.settings.offset = offset / std::fabs(match.scale);
  SampleTangents tangents(evaluator);
  const Samples *slopes = tangents.of(exponent, component.scoresNode());
  if (!slopes)
    return std::nullopt;
  double slope = 0;
  for (double each : slopes->data)
    if (!(std::fabs(each) < steepest))
      return std::nullopt;
    else if (std::fabs(each) > std::fabs(slope))
      slope = each;
  return Place{offset, slope};
}

SmallVector<SampleDraw> mlir::sp::farSamplesOf(const AttentionMatch &match,
                                               uint64_t seed,
                                               ArrayRef<const Node *> opened) {
  constexpr double nearest = 0.1, farthest = 1e5, step = 1.1;
  constexpr double unlike = 0.05;
  constexpr size_t most = 8;
  const Component &component = *match.component;
  AxisId key = match.axes.key;
  std::optional<Exponential> exponential =
      match.score && component.productNode() ? findExponential(component, key)
                                             : std::nullopt;
  if (!exponential || !findNonlinear(component, key, /*asFunction=*/false))
    return {};
  const Node *exponent = exponential->exponent();
  std::shared_ptr<const SamplePlan> plan = planOf(match, opened);
  if (!plan->readings->isShifted(exponent))
    return {};
  SmallVector<Place> places, seen;
  auto add = [&](SmallVector<Place> &to, double offset) {
    if (std::optional<Place> place = placeAt(offset, match, *plan, exponent))
      to.push_back(*place);
  };
  for (const Sizes &size : sizes)
    add(seen, size.offset);
  double offset = nearest;
  while (offset <= farthest) {
    for (double sign : {1, -1})
      add(places, sign * offset);
    offset *= step;
  }
  double size = 0;
  for (const Place &place : seen)
    size = std::max(size, std::fabs(place.slope));
  if (size == 0)
    return {};
  SmallVector<SampleDraw> draws;
  while (draws.size() < most && !places.empty()) {
    auto distance = [&](const Place &place) {
      double least = HUGE_VAL;
      for (const Place &other : seen)
        least = std::min(least, place.distanceTo(other, size));
      return least;
    };
    const Place *next =
        llvm::max_element(places, [&](const Place &a, const Place &b) {
          return distance(a) < distance(b);
        });
    if (distance(*next) < unlike)
      break;
    double slope = std::max(std::fabs(next->slope), 0.1 * size);
    draws.push_back({plan, seed++, std::nullopt, 1 / slope, next->offset});
    seen.push_back(*next);
  }
  return draws;
}

void mlir::sp::prepareSamples(const AttentionMatch &match,
                              const SampleDraw &draw,
                              SampleEvaluator &evaluator) {
  const AxisLabels &labels = match.component->labels;
  setPositions(match, *draw.plan, evaluator);
  evaluator.judge(draw.plan->readings);
  double products = 1;
  for (AxisId axis : labels.resolve(match.axes.feature))
    products *= double(evaluator.positions.of(axis).size());
  SampleSettings &settings = evaluator.settings;
  settings.magnitude =
      draw.magnitude / (std::sqrt(products) * std::fabs(match.scale));
  if (draw.offset != 0) {
    settings.offsetNode = match.component->scoresNode();
    settings.offset = draw.offset / std::fabs(match.scale);
  }
  settings.factors = draw.factors;
  settings.truths = draw.truths;
  settings.isExact = draw.isExact;
}
