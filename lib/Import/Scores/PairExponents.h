/// What a score function makes of sampled pairs.
#ifndef SP_LIB_IMPORT_PAIREXPONENTS_H
#define SP_LIB_IMPORT_PAIREXPONENTS_H

#include "Samples/SampleTangents.h"
#include "Scores/SamplePlan.h"

namespace mlir::sp {

/// Exponents and factors of pairs as a match with a score function has them, at
/// coordinates of its axes.
class PairExponents {
public:
  using Coordinates = DenseMap<AxisId, int64_t>;

  PairExponents(const AttentionMatch &match, const SampleDraw &draw);
  bool isKnown() const { return known; }
  double exponent(const Coordinates &at) const;
  /// The same where no fill hides a pair.
  double filled(const Coordinates &at) const { return exponents.view->at(at); }
  double factor(const Coordinates &at) const;
  /// The sink's exponent, -inf without one.
  double sink(const Coordinates &at) const;

  /// Has `slope` known too; false where something cannot be evaluated.
  bool findSlopes(const Node *by, ArrayRef<const Node *> others);
  /// The derivative of the exponent with respect to that node, where the others
  /// are as they are.
  double slope(const Coordinates &at) const;

private:
  /// A node evaluated, to be read by coordinates.
  struct Part {
    std::unique_ptr<SampleEvaluator> evaluator;
    std::unique_ptr<SampleTangents> tangents; ///< of slopes
    std::unique_ptr<SampleView> view;
  };
  Part prepare(const Node *one = nullptr) const;
  void read(Part &part, const Node *node, const Samples *samples);
  Part evaluate(const Node *node, const Node *one = nullptr);

  const AttentionMatch &match;
  SampleDraw draw;
  const Node *exponentNode = nullptr;
  bool known = true;
  bool arePowers = false; ///< sinks
  Part exponents, factors, sinks, slopes;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_PAIREXPONENTS_H
