#ifndef SP_LIB_IMPORT_MATCH_H
#define SP_LIB_IMPORT_MATCH_H

#include "MaskAnalysis.h"

#include <set>

namespace mlir::sp {

/// What a query row gives that sees no key.
enum class EmptyRow { Never, Nan, Zero, Mean };

/// One attention, decided by meaning: the values in `results` equal
/// softmax(scale * q k^T over the keys that bands show) v.
struct AttentionMatch {
  Operation *product = nullptr;
  std::unique_ptr<Component> component;
  AttentionAxes axes;
  sprt::algebra::Bands bands;
  double scale = 0;
  EmptyRow empty = EmptyRow::Never;
  /// Values that hold the result, from the contraction on, with their axes.
  SmallVector<SourceChain::Link, 4> results;
};

/// Decides whether the result of `product`, whose operand `1 - valueOperand`
/// comes from `scores` through an exponential, is an attention. Otherwise says
/// why not; without a reason it is not even a softmax.
class AttentionMatcher {
public:
  AttentionMatcher(Operation *scores, Operation *product,
                   unsigned valueOperand);
  std::optional<AttentionMatch> run();

  std::optional<Refusal> refusal;

private:
  Node *requestBoth(Value value);
  void supposeReductions();
  LogicalResult readAxes();
  LogicalResult chooseQuery(ArrayRef<AxisId> leftOnly,
                            ArrayRef<Comparison> comparisons);
  LogicalResult applyPolicy();
  void orderHeads(ArrayRef<AxisId> shared);
  LogicalResult verifyResults(const MaskAnalysis &mask);
  LogicalResult refuse(const Twine &reason, Location location);
  bool isWhole() const;
  bool hasKnownPositions(const Node *node) const;

  Operation *scores, *product;
  AttentionMatch match;
  /// What the mask consists of, by value and axes.
  using Key = std::pair<void *, std::vector<AxisId>>;
  Key keyOf(const Node *node) const;
  std::vector<Comparison> comparisons;
  std::set<Key> knownComparisons;
};

/// Compares a node with the reference on sampled positions.
class ReferenceCheck {
public:
  ReferenceCheck(const AttentionMatch &match, const MaskAnalysis &mask);

  /// Whether the node is the attention; `empty` becomes what it gives for rows
  /// that see nothing, and has to be the same in every call.
  bool equals(const Node *node, EmptyRow &empty) const;

private:
  bool equalsOnce(const Node *node, EmptyRow &empty, uint64_t seed) const;

  const AttentionMatch &match;
  std::vector<int64_t> queries, keys;
};

/// Puts `sp.attention` in place of a match. Returns the value it replaced.
Value replaceAttention(const AttentionMatch &match, StringRef name);

/// The operations that compute with the scores of a match.
llvm::SmallPtrSet<Operation *, 32> operationsOf(const AttentionMatch &match);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_MATCH_H
