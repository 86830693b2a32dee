#ifndef SP_LIB_IMPORT_MATCH_H
#define SP_LIB_IMPORT_MATCH_H

#include "Score.h"

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <set>

namespace mlir::sp {

/// What a query row gives that sees no key.
enum class EmptyRow { Never, Nan, Zero, Mean };

/// A value over given axes, whichever node it is.
using NodeKey = std::pair<void *, std::vector<AxisId>>;
NodeKey keyOf(const AxisLabels &labels, const Node *node);

/// How exponents follow from scores where they are no multiple of them.
struct ScoreMatch {
  ScoreAnalysis::Weights weights = ScoreAnalysis::Weights::None;
  double hidesUpTo = -std::numeric_limits<double>::infinity();
  bool absorbs = false;
  /// What comparisons are wherever a pair is visible.
  std::map<NodeKey, double> constants;
};

/// One attention, decided by meaning: the values in `results` equal
/// softmax(scale * q k^T over the keys that bands show) v, or with `score` the
/// same of what a function makes of the scores.
struct AttentionMatch {
  Operation *product = nullptr;
  unsigned valueOperand = 0;
  std::unique_ptr<Component> component;
  AttentionAxes axes;
  sprt::algebra::Bands bands;
  double scale = 0;
  EmptyRow empty = EmptyRow::Never;
  std::optional<ScoreMatch> score;
  /// Queries that no key is visible to, by their positions alone.
  std::vector<sprt::algebra::Interval> rowsWithoutKeys() const {
    return bands.emptyRows(axes.queryLength(component->labels),
                           component->labels.size(axes.key));
  }
  /// Whether rows without a visible key add to gradients.
  bool hasPartOfEmptyRows() const {
    return (score || !rowsWithoutKeys().empty()) &&
           (empty == EmptyRow::Mean || empty == EmptyRow::Nan);
  }
  /// What the mask consists of: all that may depend on positions. Of these the
  /// ones whose cuts are known, so that samples stand for all positions.
  std::set<NodeKey> comparisons, settled;
  /// Positions that stand for all others.
  std::vector<int64_t> queries, keys;
  /// Values that hold the result, from the contraction on, with their axes.
  SmallVector<SourceChain::Link, 4> results;
};

/// The node and everything below it.
llvm::SetVector<const Node *> below(const Node *node);
/// The node of `value` where reductions of a mask run over queries or keys.
Node *requestForm(const AttentionMatch &match, Value value);
/// Whether query and key are still single axes.
bool isWhole(const AttentionMatch &match);
/// Whether a form of the result depends on positions only by what the mask
/// consists of: samples stand for all positions only between its cuts.
bool hasKnownPositions(const AttentionMatch &match, const Node *node,
                       Inputs inputs);
/// The next form of a result: its only user, if that is a single operation on
/// elements or layout in the same block, or null.
Operation *nextForm(Value value);
/// Forward steps from a contraction to the last form of its result.
constexpr unsigned maxResultSteps = 16;

/// Decides whether the result of `product`, whose operand `1 - valueOperand`
/// comes from `scores` through an exponential, is an attention. Otherwise says
/// why not; without a reason it is not even a softmax. With any inputs the
/// weights may be what a score function makes of the scores.
class AttentionMatcher {
public:
  AttentionMatcher(Operation *scores, Operation *product, unsigned valueOperand,
                   Inputs inputs);
  std::optional<AttentionMatch> run();

  /// Whether pairs of weight 0 are dropped from what the softmax is multiplied
  /// with, but not from its sums; and whether there are such pairs.
  bool keepsZeros = false, hasZeros = false;
  /// Whether pairs hidden by large finite fills are seen, with those as they
  /// are, so that rows of nothing else need no care.
  bool keepsFills = false;
  std::optional<Refusal> refusal;

private:
  Node *requestBoth(Value value);
  LogicalResult readAxes();
  LogicalResult chooseQuery(ArrayRef<AxisId> leftOnly,
                            ArrayRef<Comparison> comparisons);
  LogicalResult applyPolicy();
  void orderHeads(ArrayRef<AxisId> shared);
  LogicalResult verifyResults(const MaskAnalysis &mask);
  LogicalResult matchScore();
  LogicalResult settleEmptyRows();
  double scoreScale() const;
  LogicalResult matchProduct();
  LogicalResult refuse(const Twine &reason, Location location);
  LogicalResult refuseDifference();
  LogicalResult checkTypes();
  LogicalResult checkShifts();

  Operation *scores, *product;
  Inputs inputs;
  AttentionMatch match;
  std::vector<Comparison> comparisons;
};

struct SampleDraw;

/// What in weights is no operation of a softmax over scores that are scaled,
/// masked and shifted, or, `asFunction`, made anything of; null without one.
const Node *findNonlinear(const Component &component, AxisId keys,
                          bool asFunction);

/// What in a node made of weights is not the same whatever the extremes and
/// other values of rows are that exponents are shifted by; null without one.
/// `power` may be left undivided by its sum.
const Node *findUnbalanced(const Component &component, AxisId keys,
                           const Node *node, const Node *power = nullptr);

/// Compares a node with the reference on sampled positions.
class ReferenceCheck {
public:
  explicit ReferenceCheck(const AttentionMatch &match) : match(match) {}
  /// Whether the node is the attention; `empty` becomes what it gives for rows
  /// that see nothing, the same in every call.
  bool equals(const Node *node, EmptyRow &empty) const;
  /// Whether the node is 0 where every exponent is -inf.
  bool guardsHiddenRows(const Node *node) const;

private:
  /// What the formula gives in a row: its sum, and the plain mean.
  struct Row {
    double sum = 0, weights = 0, mean = 0;
  };
  bool equalsOnce(const Node *node, EmptyRow &empty,
                  const SampleDraw &draw) const;

  const AttentionMatch &match;
};

/// What a score function reads besides the score, and how it is laid out.
struct ScoreTerm {
  enum class Kind { PerQuery, PerKey, PerHead, Pair, Table };
  Kind kind;
  /// A value over its labels; of a table the value alone counts.
  mlir::Value value;
  Labels labels;
};

/// A function that makes exponents of scores in `element` (f32 or f64), with
/// its terms in the order of its arguments. Null where exponents are the scores
/// times a number.
struct ScoreFunction {
  func::FuncOp function;
  SmallVector<ScoreTerm> terms;
  double factor = 1;
};
/// Nothing where a part of it has no form that works pair by pair. An equal
/// function of the module is used again.
std::optional<ScoreFunction> buildScoreFunction(const AttentionMatch &match,
                                                Type element);

/// Whether two functions do the same, whatever their names.
bool isSameFunction(func::FuncOp a, func::FuncOp b);

/// Numbers in place of a term's: the score itself, and the exponent itself,
/// with respect to which the exponent's derivative is 1.
constexpr unsigned scoreTerm = ~0U - 1, exponentTerm = ~0U;

/// What gradients need beside a score function, with the same arguments: the
/// exponent, its derivative with respect to the score, the weight, where the
/// function has one, and the exponent's derivatives with respect to what it
/// reads of these terms. Null where it cannot be differentiated; in no module.
func::FuncOp differentiateScore(func::FuncOp score, ArrayRef<unsigned> terms);

/// The element type attention runs in.
Type chooseElement(const AttentionMatch &match);

/// Puts `sp.attention` in place of a match; `leavesSums` for its gradients.
AttentionOp replaceAttention(const AttentionMatch &match, StringRef name,
                             const ScoreFunction &function, bool leavesSums);

/// The operations that compute with the scores of a match.
llvm::SmallPtrSet<Operation *, 32> operationsOf(const AttentionMatch &match);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_MATCH_H
