/// Exact volumes of one attention under a plan.
///
/// Per rank, in bytes sent to other ranks, as `sp-run` measures them: valid
/// rows x the heads the receiver needs x element size. Where everything divides
/// these are the published formulas, with e bytes an element, D = H d, Dk = Hk
/// d:
///
///   ring, all-gather   e * 2 * (S/P) * Dk * (P-1)
///   Ulysses            e * (S/P) * (2 D + 2 Dk) * (P-1) / P
///   2D, P = u * r      e * (S/P) * (2 D + 2 Dk) * (u-1) / u
///                        + e * 2 * (S/r) * (Dk/u) * (r-1)
///   split-kv           e * (Q/P) * D * (P-1) + g * Q * (D + 3 H) * (P-1) / P
///
/// with Dk = u d where u > Hk, and Q queries that are dealt, of states of g
/// bytes a number: the greatest scores are combined on every rank, sums where
/// the query is at home. Fewer queries than ranks are not dealt, and states of
/// g * 2 * Q * (D + 2 H) * (P-1) / P combined on every rank. Gradients, g bytes
/// an element while parts of them are added up, travel the same ways, do before
/// and dq, dk, dv after; in a ring dk and dv follow k and v and come home,
/// which is a hop more; or q, do and, g bytes for each query and head, lse and
/// delta travel, and dq follows:
///
///   ring               e * 2 * (S/P) * Dk * (P-1) + g * 2 * (S/P) * Dk * P
///   ring, queries      (e * 2 * D + g * 2 * H) * (S/P) * (P-1)
///                        + g * (S/P) * D * P
///   all-gather         e * 2 * (S/P) * Dk * (P-1) + g * 2 * (S/P) * Dk * (P-1)
///   split-kv           (e * 2 * D + g * 2 * H) * (Q/P) * (P-1)
///                        + g * Q * D * (P-1) / P
///   Ulysses            e * (S/P) * (2 D + 2 Dk) * (P-1) / P, and 2 g for each
///                        query and head: lse and delta; q, k and v once more
///                        where those of the forward are out of sight
///
/// Terms of each key travel with k and v, those of each query with q. With a
/// score function lse is two numbers.
///
/// A double ring sends as much as a ring, one way
/// or both, and heads in groups as much as all at once; where a mask hides
/// whole blocks, rings send less.
#ifndef SP_PLAN_ATTENTIONCOST_H
#define SP_PLAN_ATTENTIONCOST_H

#include "sp/IR/SP.h"

namespace mlir::sp {

/// The attention whose lse gradients read, where only operations that pass
/// values on lie between; null where there are others.
AttentionOp findForward(AttentionBackwardOp op);

/// Whether ranks have a term of each pair by their queries, so that those
/// cannot travel.
bool hasTermsByQueries(AttentionBackwardOp op);

/// An attention, or its gradients, as far as costs go.
struct CountedAttention {
  /// Of the heads that `part` gives a rank, or of all where it is null.
  CountedAttention(AttentionOp op, HeadPartAttr part = {});
  CountedAttention(AttentionBackwardOp op, HeadPartAttr part = {});

  /// Numbers that those have alike whose costs under a plan are the same.
  SmallVector<int64_t> key() const;

  ArrayAttr bands;
  RankedTensorType query, value;
  /// Types of terms that travel with queries or keys; and of those that are
  /// exchanged for heads, without what the forward has exchanged.
  SmallVector<Type> perQuery, perKey, perQueryToHeads, perKeyToHeads;
  /// Of one head, in bytes of one row: keys and values, and queries with what
  /// travels with them; what of queries and keys is exchanged for heads,
  /// without what the forward has exchanged; what goes back to queries and
  /// keys; and parts of gradients of keys, and of queries, that ranks add up.
  /// Of one number of a state.
  int64_t keyBytes = 0, queryBytes = 0, queriesToHeads = 0, keysToHeads = 0,
          queriesToRows = 0, keysToRows = 0, keyPartBytes = 0,
          queryPartBytes = 0, stateBytes = 0;

private:
  void keepHeads(HeadPartAttr part);
};

/// What one rank does for an attention.
struct AttentionCost {
  int64_t bytesSent = 0;
  /// Visible (query, key) pairs that the rank computes, of one head and batch
  /// element.
  int64_t area = 0;
};

/// The cost of `op` under `plan` for every coordinate along the plan's axis
/// (one where the plan has a single rank), holding `batch` elements of the
/// batch.
std::vector<AttentionCost> attentionCosts(const CountedAttention &op,
                                          PlanAttr plan, int64_t batch);

/// The mean of `bytesSent` over all ranks, from up to 64 of them: its cost does
/// not grow with their number.
int64_t estimateBytesSent(const CountedAttention &op, PlanAttr plan,
                          int64_t batch);

/// Visible pairs of one head and batch element on the busiest of at most 64
/// ranks, the first and the last among them.
int64_t estimateGreatestArea(const CountedAttention &op, PlanAttr plan);

} // namespace mlir::sp

#endif // SP_PLAN_ATTENTIONCOST_H
