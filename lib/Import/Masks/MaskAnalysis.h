#ifndef SP_LIB_IMPORT_MASKANALYSIS_H
#define SP_LIB_IMPORT_MASKANALYSIS_H

#include "Samples/SampleEvaluator.h"

#include "sprt/algebra/Bands.h"

namespace mlir::sp {

/// What the axes of an attention are. Products are row-major, outermost first.
struct AttentionAxes {
  Role queryRole = Role::Left;
  Role keyRole = Role::Right;
  /// The queries; none where there is a single one.
  std::optional<AxisId> query;
  AxisId key = 0;
  Axes batch;
  /// Query heads: those that keys or values share first, then the groups.
  Axes sharedHeads, groups;
  Axes feature, value;

  int64_t queryLength(const AxisLabels &labels) const {
    return query ? labels.size(*query) : 1;
  }
};

/// Elements of a table that is looked at whole: 4096 x 4096.
constexpr int64_t maxTable = int64_t(1) << 24;

/// A number that is linear in positions: sum of coefficient * position.
struct LinearForm {
  SmallVector<std::pair<AxisId, double>, 2> terms;
  double constant = 0;

  double coefficient(AxisId axis) const;
  void add(const LinearForm &other, double factor);
};

/// Something with two values below the weights that depends on positions: a
/// comparison as `difference <op> 0`, one of two tables of one axis each, or a
/// table.
struct Comparison {
  const Node *node;
  /// Axes whose positions it depends on.
  Axes over;
  std::optional<LinearForm> difference;
  bool isSteps = false;
};

/// How many nodes a table has, which is made of positions and constants element
/// by element; 0 if the node is none.
size_t countTable(const Node *node);

/// Every comparison of positions that decides which weights count, and every
/// table of constants in place of one. Weights that depend on positions in
/// another way are refused, or with any inputs left to the score function.
class PositionReader {
public:
  PositionReader(const AxisLabels &labels, Inputs inputs)
      : labels(labels), inputs(inputs) {}
  /// Takes nodes for known, with everything below them.
  void skip(const Node *node) { visited[node] = true; }
  LogicalResult read(const Node *weights);

  std::vector<Comparison> comparisons;
  std::optional<Refusal> refusal;

private:
  LogicalResult visit(const Node *node);
  std::optional<LinearForm> linear(const Node *node);
  std::optional<LinearForm> linearOperation(const Node *node);
  std::optional<LinearForm> linearTable(const Node *node);
  std::optional<LinearForm> linearAxes(ArrayRef<AxisId> dim);
  bool isOfTruths(const Node *node);
  bool addTable(const Node *node);
  bool addSteps(const Node *node);
  bool holds(const LinearForm &form, Type type) const;

  const AxisLabels &labels;
  Inputs inputs;
  DenseMap<const Node *, std::optional<LinearForm>> forms;
  DenseMap<const Node *, bool> visited, ofTruths;
};

/// A comparison over queries, keys, or (key - query): its value is the first of
/// two and changes to the other at every cut. One over pairs in any other way
/// has classes of queries and of keys that it does not tell apart.
struct Threshold {
  enum class Kind { Constant, Query, Key, Difference, Pair };
  const Node *node = nullptr;
  Kind kind = Kind::Constant;
  bool first = false;
  std::vector<int64_t> cuts;
  double values[2] = {0.0, 1.0};
  std::vector<uint32_t> queryClass, keyClass; ///< by position
  std::vector<char> ofClasses;                ///< query classes x key classes
  size_t numKeyClasses = 1;

  bool truth(int64_t position) const {
    size_t flips =
        std::upper_bound(cuts.begin(), cuts.end(), position) - cuts.begin();
    return first != (flips % 2 == 1);
  }
  bool truthOf(int64_t query, int64_t key) const {
    if (kind != Kind::Pair)
      return truth(kind == Kind::Query ? query
                   : kind == Kind::Key ? key
                                       : key - query);
    return ofClasses[queryClass[query] * numKeyClasses + keyClass[key]];
  }
};

/// The threshold that a table of two values is at true sizes; nothing if it has
/// more values.
std::optional<Threshold> readTable(const AxisLabels &labels,
                                   const AttentionAxes &axes, const Node *node);

/// The threshold that a comparison is whose sides depend on one axis each.
std::optional<Threshold> readSteps(const AxisLabels &labels,
                                   const AttentionAxes &axes, const Node *node);

/// Visible keys of every query, row by row, as bands: a run of rows in which
/// the ends of an interval stay or move along the diagonal is one. `breaks` are
/// places of keys at which visibility may change, and `differences` those of
/// (key - query). Nothing where there are too many.
std::optional<sprt::algebra::Bands>
bandsByRow(int64_t queries, int64_t keys, ArrayRef<int64_t> breaks,
           ArrayRef<int64_t> differences,
           function_ref<bool(int64_t query, int64_t key)> isVisible);

/// Which pairs are visible where weights are what a function makes of scores.
class VisibilityOracle {
public:
  virtual ~VisibilityOracle() = default;
  /// Takes thresholds that could be read; the others may be anything.
  virtual void setThresholds(ArrayRef<Threshold> known,
                             std::shared_ptr<Readings> readings) = 0;
  /// Whether a pair is visible to some inputs where the thresholds have these
  /// truths; nothing if that cannot be evaluated.
  virtual std::optional<bool> visible(unsigned truths) = 0;
};

/// What becomes of a hidden score.
enum class Fill { None, Infinite, Select, Additive, Zeroed };

/// The mask and the scale of a component, decided from its comparisons at true
/// sizes: positions are cut where a comparison changes, and each cell between
/// the cuts is visible or not by evaluating the weights with the comparisons
/// held at what they are in that cell.
class MaskAnalysis {
public:
  MaskAnalysis(Component &component, const AttentionAxes &axes,
               ArrayRef<Comparison> comparisons)
      : component(component), axes(axes), comparisons(comparisons) {}

  /// Asks for visibility, decides no scale, and leaves out what is not read.
  void ask(VisibilityOracle &other) { oracle = &other; }

  /// Fails with a refusal.
  LogicalResult run();

  sprt::algebra::Bands bands;
  double scale = 0;
  /// Fills of hidden scores that occur.
  llvm::SmallDenseSet<int> fills;
  /// Positions next to which visibility changes: of queries, keys, and of
  /// (key - query).
  std::vector<int64_t> queryCuts, keyCuts, differenceCuts;
  /// A pair for all that thresholds do not tell apart from it.
  std::vector<std::pair<int64_t, int64_t>> kinds;
  ArrayRef<Threshold> readableThresholds() const { return thresholds; }
  std::optional<Refusal> refusal;

private:
  using Kind = Threshold::Kind;
  LogicalResult readThresholds();
  LogicalResult readThreshold(const Comparison &comparison);
  LogicalResult readLinear(const Comparison &comparison);
  void settle();
  LogicalResult cutPairs();
  LogicalResult cut();
  LogicalResult cutByRow();
  /// Whether the pairs with these truths are visible, of which this is one.
  std::optional<bool> visible(unsigned truths, int64_t query, int64_t key);
  std::optional<bool> classify(SampleEvaluator &evaluator);
  std::optional<Fill> readFill(SampleEvaluator &evaluator);
  LogicalResult refuse(const Twine &reason, Location location);

  Component &component;
  const AttentionAxes &axes;
  ArrayRef<Comparison> comparisons;
  std::vector<Threshold> thresholds;
  VisibilityOracle *oracle = nullptr;
  std::shared_ptr<Readings> readings;
  DenseMap<unsigned, bool> known;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_MASKANALYSIS_H
