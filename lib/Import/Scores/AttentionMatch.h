/// An attention as it was found: what it is made of, and what was decided of
/// it.
#ifndef SP_LIB_IMPORT_ATTENTIONMATCH_H
#define SP_LIB_IMPORT_ATTENTIONMATCH_H

#include "Scores/Score.h"

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
/// The operations that compute with the scores of a match.
llvm::SmallPtrSet<Operation *, 32> operationsOf(const AttentionMatch &match);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_ATTENTIONMATCH_H
