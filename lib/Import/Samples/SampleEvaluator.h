#ifndef SP_LIB_IMPORT_SAMPLEEVALUATOR_H
#define SP_LIB_IMPORT_SAMPLEEVALUATOR_H

#include "Samples/Readings.h"

#include "sp/StableHLO/ElementFunctions.h"

#include "llvm/ADT/DenseMap.h"

#include <random>

namespace mlir::sp {

/// Row-major numbers; one extent a dimension of the node they belong to.
struct Samples {
  SmallVector<int64_t, 6> shape;
  std::vector<double> data;
};

/// Evaluates nodes in f64 on a few positions of every axis.
///
/// A dimension over axes (a, b) has |positions(a)| * |positions(b)| samples.
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
      : labels(labels), seed(seed) {}

  /// The positions an axis is sampled at; position 0 unless set.
  void setPositions(AxisId axis, std::vector<int64_t> positions);
  const std::vector<int64_t> &positions(AxisId axis) const;

  /// A node that takes this value everywhere.
  void force(const Node *node, double value) { forced[node] = value; }
  /// Rounds no real number to the program's types.
  void keepExact(bool exact) { isExact = exact; }
  /// A node that stays as it is whatever a tangent is by.
  void hold(const Node *node) { held.insert(node); }
  /// Takes nodes as they are read there.
  void judge(std::shared_ptr<Readings> by) { readings = std::move(by); }
  /// Multiplies the left operand of scores.
  void setMagnitude(double factor) { magnitude = factor; }
  /// Multiplies values, cotangents and what else meets weights and slopes.
  void setFactors(double size) { factors = size; }
  /// Adds a number to every score.
  void setOffset(const Node *scores, double number) {
    offsetNode = scores;
    offset = number;
  }
  /// Gives every truth of data this value.
  void setTruths(bool truth) { truths = truth; }
  /// Row sums become 1 and row maxima 0, which leaves what the weights are
  /// before they are normalised; what a sink adds to a sum becomes 0.
  void dropRowValues(AxisId keyAxis) {
    dropRows = true;
    keys = keyAxis;
  }

  /// Null if something in the node cannot be evaluated.
  const Samples *evaluate(const Node *node);
  /// The derivative of every sample where those of `by` grow alike. Null if
  /// something in the node has none that is known.
  const Samples *tangent(const Node *node, const Node *by);

  /// Number of samples of a dimension, and the index each stands for.
  int64_t extent(ArrayRef<AxisId> dim) const;
  std::vector<int64_t> indices(ArrayRef<AxisId> dim) const;

private:
  /// What a node's operands are there.
  using Operands = llvm::function_ref<const Samples *(const Node *)>;

  bool computeAsRead(const Node *node, Samples &result);
  bool compute(const Node *node, Samples &result);
  bool computeExactly(const Node *node, Samples &result);
  void drawAny(const Node *node, Samples &result);
  void keepInfinities(const Node *node, Samples &result);
  void shift(const Node *node, Samples &result);
  bool computeOrdered(const Node *node, Samples &result);
  bool computeOrderedTangents(const Node *node, const Node *by,
                              Samples &result);
  const Samples *operandOf(const Node *node, const Node *operand);
  bool operandsOf(const Node *node, SmallVectorImpl<const Samples *> &operands);
  bool settles(const Node *node, ArrayRef<const Samples *> operands,
               Samples &result);
  const Samples *fillsDrawn(const Node *node, const Samples *samples);
  friend class ElementDraw;
  friend class Projection;
  friend class SampleOrder;
  bool computeElementwise(const Node *node, Samples &result);
  bool computeReduce(const Node *node, Samples &result);
  bool computeProduct(const Node *node, Samples &result);
  bool computeConstant(const Node *node, Samples &result);
  bool computeJoin(const Node *node, Samples &result, Operands operands);
  bool computeLookup(const Node *node, Samples &result);
  void drawOperand(const Node *node, Samples &result);
  bool computeMove(const Node *node, Samples &result, Operands operands);
  bool computeTangent(const Node *node, const Node *by, Samples &result);
  bool computeElementTangents(const Node *node, const Node *by,
                              Samples &result);
  bool runsOverKeys(const Node *node) const;
  bool isRow(const Node *node) const {
    return dropRows && node->scored && !runsOverKeys(node);
  }
  bool isDropped(const Node *node);
  bool isDroppedRow(const Node *node);
  int64_t count(AxisId axis) const;
  std::vector<int64_t> axisIndices(AxisId axis) const;

  const AxisLabels &labels;
  uint64_t seed;
  llvm::DenseMap<AxisId, std::vector<int64_t>> sampled;
  llvm::DenseMap<const Node *, double> forced;
  llvm::SmallPtrSet<const Node *, 4> held;
  std::shared_ptr<Readings> readings;
  std::unique_ptr<SampleEvaluator> exact; ///< judges nothing
  double magnitude = 1, factors = 1, offset = 0;
  const Node *offsetNode = nullptr;
  std::optional<bool> truths;
  bool dropRows = false, isExact = false;
  AxisId keys = 0;
  llvm::DenseMap<const Node *, std::unique_ptr<Samples>> values, extremes,
      drawnFills;
  llvm::DenseMap<std::pair<const Node *, const Node *>,
                 std::unique_ptr<Samples>>
      tangents;
};

/// What an operation makes of single numbers; null where it has no such
/// function.
ElementFunction sampledFunction(Operation *op);

/// What a number that is added to scores, or takes their place, is on samples.
/// Finite fills that hide nothing and still leave no weight, as -1e4 is, and
/// what is lost beside numbers of about 1, stand for any: where scores are as
/// far apart, or values as small, they count.
double drawnFill(double number);
constexpr double smallestSeen = 1e-5;

/// Reads samples of a node by the coordinates of its axes.
class SampleView {
public:
  SampleView(const AxisLabels &labels, const SampleEvaluator &evaluator,
             const Node *node, const Samples &samples);
  double at(const DenseMap<AxisId, int64_t> &coordinates) const;

private:
  SmallVector<std::pair<AxisId, int64_t>, 6> strides;
  const Samples &samples;
};

/// Steps through every index of a shape in row-major order.
class IndexWalk {
public:
  explicit IndexWalk(ArrayRef<int64_t> shape)
      : shape(shape), index(shape.size(), 0) {}
  ArrayRef<int64_t> operator*() const { return index; }
  void next() {
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        return;
      index[dim] = 0;
    }
  }

private:
  ArrayRef<int64_t> shape;
  SmallVector<int64_t, 8> index;
};

/// Row-major offset of an index; dimensions with one sample are read at 0.
int64_t sampleOffset(ArrayRef<int64_t> shape, ArrayRef<int64_t> index);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_SAMPLEEVALUATOR_H
