#ifndef SP_LIB_IMPORT_SAMPLEEVALUATOR_H
#define SP_LIB_IMPORT_SAMPLEEVALUATOR_H

#include "Samples/Readings.h"
#include "Samples/SamplePositions.h"

namespace mlir::sp {

/// How large what evaluators draw is.
struct SampleSettings {
  double magnitude = 1; ///< factor of the left operand of scores
  double factors =
      1; ///< of values, cotangents and all that meets weights and slopes
  const Node *offsetNode = nullptr; ///< scores that `offset` is added to
  double offset = 0;
  std::optional<bool> truths; ///< of all data, or drawn
  /// No real number is rounded to the program's types.
  bool isExact = false;
};

/// Evaluates nodes in f64 on a few positions of every axis.
///
/// Positions are true ones: `iota` and constant tables give what the program
/// sees there, and only what leaves hold is random. A reduction sums over the
/// samples of its axes, as the reference it is compared with does. Positions
/// and tables are rounded to the program's own types, everything else is not.
/// What leaves hold depends on the seed only, so that evaluators of one seed
/// see the same program. One that judges draws what samples may not decide (see
/// Readings) as well.
class SampleEvaluator {
public:
  SampleEvaluator(const AxisLabels &labels, uint64_t seed)
      : SampleEvaluator(SamplePositions(labels), seed) {}
  SampleEvaluator(const SamplePositions &positions, uint64_t seed)
      : positions(positions), labels(positions.labels), seed(seed) {}

  // What follows is set before anything is evaluated.
  SamplePositions positions;
  SampleSettings settings;
  /// A node that takes this value everywhere.
  void force(const Node *node, double value) { forced[node] = value; }
  /// Takes nodes as they are read there.
  void judge(std::shared_ptr<Readings> by) { readings = std::move(by); }
  /// Row sums become 1 and row maxima 0, which leaves what the weights are
  /// before they are normalised; what a sink adds to a sum becomes 0.
  void dropRowValues(AxisId keyAxis) {
    dropRows = true;
    keys = keyAxis;
  }

  /// Null if something in the node cannot be evaluated.
  const Samples *evaluate(const Node *node);

private:
  friend class SampleOrder;
  friend class SampleTangents;
  bool computeAsRead(const Node *node, Samples &result);
  bool compute(const Node *node, Samples &result);
  bool computeExactly(const Node *node, Samples &result);
  void drawAny(const Node *node, Samples &result);
  void keepInfinities(const Node *node, Samples &result);
  void shift(const Node *node, Samples &result);
  void drawOperand(const Node *node, Samples &result);
  const Samples *operandOf(const Node *node, const Node *operand);
  bool operandsOf(const Node *node, SmallVectorImpl<const Samples *> &operands);
  const Samples *fillsDrawn(const Node *node, const Samples *samples);
  bool computeElementwise(const Node *node, Samples &result);
  bool computeReduce(const Node *node, Samples &result);
  bool computeProduct(const Node *node, Samples &result);
  bool isRow(const Node *node) const {
    return dropRows && node->scored && !runsOver(labels, node, keys);
  }
  bool isDropped(const Node *node);
  bool isDroppedRow(const Node *node);

  const AxisLabels &labels;
  uint64_t seed;
  llvm::DenseMap<const Node *, double> forced;
  std::shared_ptr<Readings> readings;
  std::unique_ptr<SampleEvaluator> exact; ///< judges nothing
  bool dropRows = false;
  AxisId keys = 0;
  llvm::DenseMap<const Node *, std::unique_ptr<Samples>> values, extremes,
      drawnFills;
};

/// What a number that is added to scores, or takes their place, is on samples.
/// Finite fills that hide nothing and still leave no weight, as -1e4 is, and
/// what is lost beside numbers of about 1, stand for any: where scores are as
/// far apart, or values as small, they count.
double drawnFill(double number);
constexpr double smallestSeen = 1e-5;

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLEEVALUATOR_H
