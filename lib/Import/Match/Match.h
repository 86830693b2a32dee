/// Whether a product is an attention, decided by its meaning.
#ifndef SP_LIB_IMPORT_MATCH_H
#define SP_LIB_IMPORT_MATCH_H

#include "Scores/AttentionMatch.h"

namespace mlir::sp {

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
  bool isTimeMajor(ArrayRef<Axes> dims, ArrayRef<AxisId> shared,
                   std::optional<AxisId> sequence);
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

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_MATCH_H
