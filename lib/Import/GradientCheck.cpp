//===- GradientCheck.cpp - A node against the formula of a gradient -------===//

#include "Gradient.h"
#include "PairExponents.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static constexpr double tolerance = 1e-9;
static constexpr uint64_t seed = 311;
/// Gradients below this say nothing: they are what one-hot rows leave.
static constexpr double smallest = 1e-6;

namespace {

/// Axes with the number of samples of each.
struct Extent {
  Axes axes;
  SmallVector<int64_t> sizes;

  Extent(const SampleEvaluator &evaluator, ArrayRef<AxisId> over)
      : axes(over.begin(), over.end()) {
    for (AxisId axis : axes)
      sizes.push_back(evaluator.positions(axis).size());
  }
};

/// Where a formula is evaluated.
class Point {
public:
  /// Calls `body` for every sample of some axes.
  void forEach(const Extent &extent, function_ref<void()> body) {
    IndexWalk walk(extent.sizes);
    for (int64_t i = 0, count = llvm::product_of(extent.sizes); i < count;
         ++i) {
      for (auto [axis, index] : llvm::zip_equal(extent.axes, *walk))
        at[axis] = index;
      body();
      walk.next();
    }
  }
  void set(AxisId axis, int64_t index) { at[axis] = index; }
  int64_t get(AxisId axis) const { return at.lookup(axis); }
  double read(const SampleView &view) const { return view.at(at); }
  const PairExponents::Coordinates &coordinates() const { return at; }

private:
  DenseMap<AxisId, int64_t> at;
};

/// One draw of the leaves, and what the formula makes of it.
class Formula {
public:
  Formula(const AttentionMatch &match, const SampleDraw &draw)
      : match(match), labels(match.component->labels),
        evaluator(labels, draw.seed) {
    prepareSamples(match, draw, evaluator);
    if (match.score)
      exponents.emplace(match, draw);
  }

  /// Whether exponents are known, and their slopes by a node if there is one.
  bool isKnown(const Node *by, ArrayRef<const Node *> others) {
    return !exponents ||
           (exponents->isKnown() && (!by || exponents->findSlopes(by, others)));
  }

  /// Null if something cannot be evaluated.
  std::unique_ptr<SampleView> view(const Node *node) {
    const Samples *samples = node ? evaluator.evaluate(node) : nullptr;
    return samples
               ? std::make_unique<SampleView>(labels, evaluator, node, *samples)
               : nullptr;
  }
  const Samples *samples(const Node *node) { return evaluator.evaluate(node); }

  /// Leaves; without a cotangent only weights are there.
  std::unique_ptr<SampleView> query, key, cotangent, value, factor;

  /// The gradient at every element of `node`, in its order.
  std::vector<double> gradient(const Node *node, Gradient kind);
  /// Calls `body` in every row without a visible key; scores are a function's.
  void forEachEmptyRow(function_ref<void()> body);
  /// The derivatives of exponents in such rows.
  std::vector<double> slopesOfEmptyRows();
  /// Of a term's gradient: the largest that a pair gives.
  double largestPart = 0;

private:
  Extent over(ArrayRef<AxisId> axes) {
    return Extent(evaluator, labels.resolve(axes));
  }
  void fillPairs();
  void fillRow(double *weights, double *slopes, double &sunk);
  bool isOfFills(double greatest) const;
  double exponent(int64_t query, int64_t key, const Extent &feature);
  double product(const Extent &inner, const SampleView &a,
                 const SampleView &b) {
    double sum = 0;
    point.forEach(inner, [&] { sum += point.read(a) * point.read(b); });
    return sum;
  }

  const AttentionMatch &match;
  const AxisLabels &labels;
  SampleEvaluator evaluator;
  std::optional<PairExponents> exponents;
  Point point;
  /// Factors of values and of scores of the heads at hand, [query][key], and
  /// what is a sink's, [query].
  std::vector<double> weights, slopes, sunk;
  std::vector<double> powers; ///< of the softmax, in the row at hand
};

} // namespace

static constexpr double none = -std::numeric_limits<double>::infinity();

double Formula::exponent(int64_t query, int64_t key, const Extent &feature) {
  if (!match.bands.visible(query, key))
    return none;
  return exponents ? exponents->exponent(point.coordinates())
                   : match.scale * product(feature, *this->query, *this->key);
}

/// Whether a row is the softmax of large finite fills alone.
bool Formula::isOfFills(double greatest) const {
  return greatest == none && exponents && std::isfinite(match.score->hidesUpTo);
}

/// What the pairs of the point's query are multiplied with.
void Formula::fillRow(double *weights, double *slopes, double &sunk) {
  Extent feature = over(match.axes.feature), values = over(match.axes.value);
  size_t keys = match.keys.size();
  int64_t query = match.queries[point.get(*match.axes.query)];
  auto forEachKey = [&](function_ref<void(size_t)> body) {
    for (size_t k = 0; k < keys; ++k) {
      point.set(match.axes.key, k);
      body(k);
    }
  };
  double sink = exponents ? exponents->sink(point.coordinates()) : none;
  double greatest = sink;
  forEachKey([&](size_t k) {
    weights[k] = exponent(query, match.keys[k], feature);
    slopes[k] = 0;
    greatest = std::max(greatest, weights[k]);
  });
  if (isOfFills(greatest)) {
    forEachKey([&](size_t k) {
      weights[k] = exponents->filled(point.coordinates());
      greatest = std::max(greatest, weights[k]);
    });
  } else if (greatest == none) {
    double each = match.empty == EmptyRow::Mean  ? 1.0 / double(keys)
                  : match.empty == EmptyRow::Nan ? std::nan("")
                                                 : 0;
    std::fill_n(weights, keys, each);
    forEachKey([&](size_t k) {
      bool isCut = !cotangent || exponents->slope(point.coordinates()) == 0;
      slopes[k] = match.empty == EmptyRow::Nan && !isCut ? each : 0;
    });
    return;
  }
  if (greatest == -none) {
    std::fill_n(weights, keys, std::nan(""));
    std::fill_n(slopes, keys, std::nan(""));
    return;
  }
  double own = std::isfinite(sink) ? std::exp(sink - greatest) : 0;
  double sum = own, mean = 0;
  for (size_t k = 0; k < keys; ++k)
    sum += weights[k] =
        weights[k] == none ? 0 : std::exp(weights[k] - greatest);
  forEachKey([&](size_t k) {
    if (weights[k] == 0)
      return;
    double power = weights[k] / sum;
    double factor = exponents ? exponents->factor(point.coordinates()) : 1;
    weights[k] = power * factor;
    if (!cotangent)
      return;
    slopes[k] = product(values, *cotangent, *value) * factor;
    mean += power * slopes[k];
    powers[k] = power;
  });
  sunk = -own / sum * mean;
  forEachKey([&](size_t k) {
    if (!cotangent || powers[k] == 0)
      return;
    slopes[k] = powers[k] * (slopes[k] - mean);
    if (exponents)
      slopes[k] *= exponents->slope(point.coordinates());
  });
}

void Formula::fillPairs() {
  size_t queries = match.queries.size(), keys = match.keys.size();
  weights.assign(queries * keys, 0);
  slopes.assign(queries * keys, 0);
  sunk.assign(queries, 0);
  for (size_t q = 0; q < queries; ++q) {
    point.set(*match.axes.query, q);
    powers.assign(keys, 0);
    fillRow(&weights[q * keys], &slopes[q * keys], sunk[q]);
  }
}

std::vector<double> Formula::gradient(const Node *node, Gradient kind) {
  const AttentionAxes &axes = match.axes;
  AxisId query = labels.resolve({*axes.query})[0],
         key = labels.resolve({axes.key})[0];
  Axes outer = labels.resolve(flatten(node->labels));
  Extent elements = over(outer);
  std::vector<double> result(llvm::product_of(elements.sizes), 0);
  auto offset = [&] {
    int64_t at = 0;
    for (auto [axis, size] : llvm::zip_equal(elements.axes, elements.sizes))
      at = at * size + point.get(axis);
    return at;
  };
  Axes heads = axes.batch;
  llvm::append_range(heads, axes.sharedHeads);
  llvm::append_range(heads, axes.groups);
  Extent columns = over(kind == Gradient::Value ? axes.value : axes.feature);
  point.forEach(over(heads), [&] {
    fillPairs();
    size_t keys = match.keys.size();
    for (size_t q = 0; q < match.queries.size(); ++q) {
      point.set(query, q);
      if (kind == Gradient::Sink)
        result[offset()] += sunk[q];
      for (size_t k = 0; k < keys && kind == Gradient::Term; ++k) {
        point.set(key, k);
        double part = slopes[q * keys + k];
        result[offset()] += part;
        largestPart = std::max(largestPart, std::fabs(part));
      }
    }
    if (kind == Gradient::Sink || kind == Gradient::Term)
      return;
    const std::vector<double> &pairs =
        kind == Gradient::Value ? weights : slopes;
    point.forEach(columns, [&] {
      for (size_t q = 0; q < match.queries.size(); ++q)
        for (size_t k = 0; k < keys; ++k) {
          point.set(query, q);
          point.set(key, k);
          result[offset()] += pairs[q * keys + k] * point.read(*factor);
        }
    });
  });
  if (kind == Gradient::Query || kind == Gradient::Key)
    for (double &element : result)
      element *= match.scale;
  return result;
}

void Formula::forEachEmptyRow(function_ref<void()> body) {
  const AttentionAxes &axes = match.axes;
  Axes rows = axes.batch;
  llvm::append_range(rows, axes.sharedHeads);
  llvm::append_range(rows, axes.groups);
  rows.push_back(*axes.query);
  Extent feature = over(axes.feature), keys = over({axes.key});
  point.forEach(over(rows), [&] {
    double greatest = exponents->sink(point.coordinates());
    point.forEach(keys, [&] {
      greatest = std::max(greatest,
                          exponent(match.queries[point.get(*axes.query)],
                                   match.keys[point.get(axes.key)], feature));
    });
    if (greatest == none)
      body();
  });
}

std::vector<double> Formula::slopesOfEmptyRows() {
  std::vector<double> found;
  forEachEmptyRow([&] {
    point.forEach(over({match.axes.key}), [&] {
      found.push_back(exponents->slope(point.coordinates()));
    });
  });
  return found;
}

bool mlir::sp::meetsEmptyRows(const AttentionMatch &match) {
  if (!match.score || !match.axes.query)
    return false;
  bool isMet = false;
  for (const SampleDraw &draw : samplesOf(match, seed)) {
    Formula formula(match, draw);
    if (formula.isKnown(nullptr, {}))
      formula.forEachEmptyRow([&] { isMet = true; });
  }
  return isMet;
}

std::optional<double>
mlir::sp::slopeOfEmptyRows(const AttentionMatch &match, const Node *by,
                           ArrayRef<const Node *> others) {
  if (!match.hasPartOfEmptyRows())
    return 0;
  std::optional<double> known;
  for (const SampleDraw &draw : samplesOf(match, seed)) {
    Formula formula(match, draw);
    if (!formula.isKnown(by, others))
      return std::nullopt;
    for (double slope : formula.slopesOfEmptyRows())
      if (std::fabs(slope - known.value_or(slope)) > tolerance)
        return std::nullopt;
      else
        known = slope;
  }
  return known.value_or(0);
}

/// The multiple that `actual` is of `expected`; nothing where it is none, and
/// `saysNothing` where all that is expected is as small as rounding, or no
/// number.
static std::optional<double>
ratio(ArrayRef<double> actual, ArrayRef<double> expected, bool &saysNothing) {
  double products = 0, squares = 0, greatest = 0;
  for (auto [a, e] : llvm::zip_equal(actual, expected)) {
    if (std::isnan(a) != std::isnan(e))
      return std::nullopt;
    if (std::isnan(e))
      continue;
    greatest = std::max(greatest, std::fabs(e));
    products += a * e;
    squares += e * e;
  }
  saysNothing = greatest < smallest;
  if (!(squares > 0) || !std::isfinite(products) || products == 0)
    return std::nullopt;
  double factor = products / squares;
  for (auto [a, e] : llvm::zip_equal(actual, expected))
    if (!(std::fabs(a - factor * e) <=
          tolerance * (1 + std::fabs(factor * e))) &&
        !(std::isnan(a) && std::isnan(e)))
      return std::nullopt;
  return factor;
}

std::optional<double> mlir::sp::gradientFactor(const AttentionMatch &match,
                                               const Node *node, Gradient kind,
                                               const Node *with,
                                               const Anchor *pairs,
                                               unsigned cotangentOperand,
                                               ArrayRef<const Node *> others) {
  const Component &component = *match.component;
  std::optional<double> known;
  bool isNothingOnly = false;
  for (const SampleDraw &draw : samplesOf(match, seed)) {
    bool isOfTerm = kind == Gradient::Term;
    Formula formula(match, draw);
    formula.query = formula.view(component.leaf(match.axes.queryRole));
    formula.key = formula.view(component.leaf(match.axes.keyRole));
    if (!isOfTerm)
      formula.factor = formula.view(with);
    bool needsSlopes = kind != Gradient::Value;
    if (needsSlopes) {
      formula.cotangent = formula.view(pairs->leaves[cotangentOperand]);
      formula.value = formula.view(pairs->leaves[1 - cotangentOperand]);
    }
    bool hasSlopes = formula.cotangent && formula.value;
    const Node *by = isOfTerm      ? with
                     : needsSlopes ? component.scoresNode()
                                   : nullptr;
    const Samples *actual = formula.samples(node);
    if (!actual || !formula.query || !formula.key ||
        (with && !isOfTerm && !formula.factor) || (needsSlopes && !hasSlopes) ||
        !formula.isKnown(by, others))
      return std::nullopt;
    bool saysNothing = false;
    std::vector<double> expected = formula.gradient(node, kind);
    std::optional<double> factor = ratio(actual->data, expected, saysNothing);
    auto isNone = [](double element) { return std::fabs(element) < tolerance; };
    bool isNothing = llvm::all_of(actual->data, isNone);
    // Rows of softmax gradients sum up to nothing.
    if (isNothing && isOfTerm && formula.largestPart > 1e-3 &&
        llvm::all_of(expected, isNone)) {
      isNothingOnly = true;
      continue;
    }
    if (saysNothing)
      continue;
    if (isNothing && kind == Gradient::Sink)
      factor = 0;
    if (!factor ||
        (known && std::fabs(*factor - *known) > tolerance * std::fabs(*known)))
      return std::nullopt;
    known = factor;
  }
  return isNothingOnly && !known ? 1 : known;
}
