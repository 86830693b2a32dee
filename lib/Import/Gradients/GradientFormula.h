/// The gradients that the formula of attention has on samples.
#ifndef SP_LIB_IMPORT_GRADIENTFORMULA_H
#define SP_LIB_IMPORT_GRADIENTFORMULA_H

#include "Gradients/Gradient.h"
#include "Scores/PairExponents.h"

namespace mlir::sp {

/// Axes with the number of samples of each.
struct Extent {
  Axes axes;
  SmallVector<int64_t> sizes;

  Extent(const SampleEvaluator &evaluator, ArrayRef<AxisId> over)
      : axes(over.begin(), over.end()) {
    for (AxisId axis : axes)
      sizes.push_back(evaluator.positions.of(axis).size());
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
class GradientFormula {
public:
  GradientFormula(const AttentionMatch &match, const SampleDraw &draw)
      : match(match), draw(draw), labels(match.component->labels),
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
    return samples ? std::make_unique<SampleView>(evaluator.positions, node,
                                                  *samples)
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
  SampleDraw draw;
  const AxisLabels &labels;
  SampleEvaluator evaluator;
  std::optional<PairExponents> exponents;
  Point point;
  /// Factors of values and of scores of the heads at hand, [query][key], and
  /// what is a sink's, [query].
  std::vector<double> weights, slopes, sunk;
  std::vector<double> powers; ///< of the softmax, in the row at hand
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_GRADIENTFORMULA_H
