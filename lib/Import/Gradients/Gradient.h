/// The gradients of an attention: found beside it by what they are equal to.
///
/// Of a forward S = scale Q Kᵀ, P = softmax(S), O = P V and a cotangent dO of O
/// a program computes, in any order and spelling,
///
///     dP = dO Vᵀ      dS = P ∘ (dP − rowsum(P ∘ dP))
///     dV = Pᵀ dO      dQ = scale dS K      dK = scale dSᵀ Q
///
/// dP is the one contraction besides the scores that pairs are made of; each of
/// dQ, dK and dV ends in a contraction of pairs with a factor. With a sink z,
/// whose power is in the sum, each row has a part in the sink's gradient:
///
///     dz = −exp(z − lse) rowsum(P ∘ dP)
///
/// which the program sums over what rows there are of a head. What a score
/// function reads, a term t, has in each pair a part in its gradient:
///
///     dt = P ∘ (dP − rowsum(P ∘ dP)) ∘ de/dt
///
/// of which the program keeps the sums over some of the axes. A role follows
/// from equality with the vector-Jacobian product on samples, up to a constant.
#ifndef SP_LIB_IMPORT_GRADIENT_H
#define SP_LIB_IMPORT_GRADIENT_H

#include "Match/Match.h"
#include "Match/Reach.h"
#include "Scores/ScoreFunction.h"

namespace mlir::sp {

/// Which operand a gradient is with respect to; of a sink one row's part, of a
/// term sums of what pairs give.
enum class Gradient { Query, Key, Value, Sink, Term };

/// How far from 1 a factor may be that is 1: equality is decided no closer.
constexpr double sameFactor = 1e-9;

/// What pairs give a term, summed over queries, over keys, both or neither.
struct TermSum {
  unsigned term = 0; ///< its number in the score function, or one in its place
  bool perQuery = false, perKey = false;

  bool operator==(const TermSum &other) const {
    return term == other.term && perQuery == other.perQuery &&
           perKey == other.perKey;
  }
};

struct GradientMatch {
  /// The cotangent of the result, over the result's axes.
  SourceChain cotangent;
  /// The value is `factor` times the gradient with respect to the operand that
  /// `sp.attention` has.
  struct Result {
    Gradient of;
    Value value;
    Labels labels;
    double factor;
    TermSum sum = {}; ///< what a term's is made of
    /// Of a term's: whether rows that are NaN reach it.
    bool hasEmptyRows = false;
  };
  SmallVector<Result, 3> results;
  /// Those that the results are made of, each once.
  SmallVector<TermSum> sums() const;
  /// The derivative of exponents by scores in rows without a visible key.
  double emptySlope = 0;
  /// What gradients can be made after: all they need is there.
  Operation *after = nullptr;
  /// All that nothing needs once the results are replaced.
  llvm::SmallSetVector<Operation *, 32> operations;
};

/// The one contraction besides `scores` and the product `forward` (or null)
/// that the pairs of `products` are made of, or null.
Operation *findPairs(Operation *scores, Operation *forward,
                     const PairProducts &products);

/// The product of weights and values that a program without results of an
/// attention leaves out, as an operation; null where there is no such program.
/// `products` are all contractions of its pairs; without weights the powers of
/// `exponential` are taken, divided by their sums.
Operation *spellOutProduct(Operation *scores, Operation *exponential,
                           const PairProducts &products);

struct GradientSearch {
  std::optional<GradientMatch> gradients;
  std::optional<Refusal> refusal;
  /// Whether it was refused as pairs that its match hides have gradients.
  bool hidesGradients = false;
};

/// Decides whether `products` are gradients of the attention `match`, of whose
/// component they become a part; `function` is its score function.
GradientSearch findGradients(const AttentionMatch &match,
                             const PairProducts &products,
                             const ScoreFunction &function);

/// Of one search; what was met that cuts the sequence is no part of the next.
class GradientMatcher {
public:
  GradientMatcher(const AttentionMatch &match, PairProducts products,
                  const ScoreFunction &function);
  std::optional<GradientMatch> run();

  std::optional<Refusal> refusal;
  bool hidesGradients = false;
  /// A form of a factor that is made of one that has the queries in several
  /// dimensions, as chunks and patches of them are, where one was met.
  mlir::Value beforeCut;

private:
  LogicalResult matchProduct(Operation *product, unsigned leafOperand);
  mlir::Value findCut() const;
  void findPairsOfTerms();
  LogicalResult readPairs();
  bool arePairsTied() const;
  LogicalResult tiePairs();
  std::optional<Gradient> kindOf(const Anchor &product) const;
  LogicalResult tieLeaf(const Anchor &product, unsigned leafOperand,
                        Gradient kind);
  LogicalResult matchForms(Operation *product, unsigned leafOperand,
                           Gradient kind);
  LogicalResult refuseForms(Operation *product, Gradient kind);
  void noteOperations();
  void matchReaders();
  bool explainReaders(Operation *op,
                      const std::optional<GradientMatch::Result> &itself);
  bool explain(Operation *reader);
  void accept(GradientMatch::Result result);
  std::optional<GradientMatch::Result> readAs(mlir::Value value);
  std::optional<GradientMatch::Result> readTerm(const Node *node);
  bool isInside(Operation *op) const {
    return forward.contains(op) || gradients.operations.contains(op);
  }
  bool isResult(Operation *op) const;
  /// What looking at readers adds to.
  using Progress = std::tuple<decltype(GradientMatch::results),
                              decltype(GradientMatch::operations),
                              DenseMap<Operation *, bool>>;
  auto progress() {
    return std::tie(gradients.results, gradients.operations, explained);
  }
  LogicalResult findPlace();
  LogicalResult checkLogSumExps();
  LogicalResult refuse(const Twine &reason, Location location);

  const AttentionMatch &match;
  Component &component;
  Operation *scores, *pairs = nullptr;
  PairProducts products;
  /// Of the forward's operands: root and axes, by Gradient; of the cotangent.
  SourceChain::Link roots[3];
  std::optional<SourceChain::Link> cotangent;
  unsigned cotangentOperand = 0; ///< of the pairs
  /// What the forward consists of.
  llvm::SmallPtrSet<Operation *, 32> forward;
  bool hasSink;
  /// Without a score function nothing gives derivatives by terms.
  bool hasFunction;
  ArrayRef<ScoreTerm> terms;
  /// Of readers outside of the match: whether all that is made of them are
  /// gradients; and one that is none.
  DenseMap<Operation *, bool> explained;
  Operation *unexplained = nullptr;
  GradientMatch gradients;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_GRADIENT_H
