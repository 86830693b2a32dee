//===- GradientFormula.cpp - Gradients of sampled attention ---------------===//

#include "Gradients/GradientFormula.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static constexpr double none = -std::numeric_limits<double>::infinity();

double GradientFormula::exponent(int64_t query, int64_t key,
                                 const Extent &feature) {
  if (!match.bands.visible(query, key))
    return none;
  return exponents ? exponents->exponent(point.coordinates())
                   : match.scale * product(feature, *this->query, *this->key);
}

/// Whether a row is the softmax of large finite fills alone.
bool GradientFormula::isOfFills(double greatest) const {
  return greatest == none && exponents && std::isfinite(match.score->hidesUpTo);
}

/// What the pairs of the point's query are multiplied with.
void GradientFormula::fillRow(double *weights, double *slopes, double &sunk) {
  Extent feature = over(match.axes.feature), values = over(match.axes.value);
  size_t keys = draw.plan->keys.size();
  int64_t query = draw.plan->queries[point.get(*match.axes.query)];
  auto forEachKey = [&](function_ref<void(size_t)> body) {
    for (size_t k = 0; k < keys; ++k) {
      point.set(match.axes.key, k);
      body(k);
    }
  };
  double sink = exponents ? exponents->sink(point.coordinates()) : none;
  double greatest = sink;
  forEachKey([&](size_t k) {
    weights[k] = exponent(query, draw.plan->keys[k], feature);
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
    // Without a score function what hides pairs cuts them off.
    bool mayPass = match.empty == EmptyRow::Nan && cotangent && exponents;
    forEachKey([&](size_t k) {
      bool isCut = !mayPass || exponents->slope(point.coordinates()) == 0;
      slopes[k] = isCut ? 0 : each;
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

void GradientFormula::fillPairs() {
  size_t queries = draw.plan->queries.size(), keys = draw.plan->keys.size();
  weights.assign(queries * keys, 0);
  slopes.assign(queries * keys, 0);
  sunk.assign(queries, 0);
  for (size_t q = 0; q < queries; ++q) {
    point.set(*match.axes.query, q);
    powers.assign(keys, 0);
    fillRow(&weights[q * keys], &slopes[q * keys], sunk[q]);
  }
}

std::vector<double> GradientFormula::gradient(const Node *node, Gradient kind) {
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
    size_t keys = draw.plan->keys.size();
    for (size_t q = 0; q < draw.plan->queries.size(); ++q) {
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
      for (size_t q = 0; q < draw.plan->queries.size(); ++q)
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

void GradientFormula::forEachEmptyRow(function_ref<void()> body) {
  const AttentionAxes &axes = match.axes;
  Axes rows = axes.batch;
  llvm::append_range(rows, axes.sharedHeads);
  llvm::append_range(rows, axes.groups);
  rows.push_back(*axes.query);
  Extent feature = over(axes.feature), keys = over({axes.key});
  point.forEach(over(rows), [&] {
    double greatest = exponents->sink(point.coordinates());
    point.forEach(keys, [&] {
      greatest = std::max(
          greatest, exponent(draw.plan->queries[point.get(*axes.query)],
                             draw.plan->keys[point.get(axes.key)], feature));
    });
    if (greatest == none)
      body();
  });
}

std::vector<double> GradientFormula::slopesOfEmptyRows() {
  std::vector<double> found;
  forEachEmptyRow([&] {
    point.forEach(over({match.axes.key}), [&] {
      found.push_back(exponents->slope(point.coordinates()));
    });
  });
  return found;
}
