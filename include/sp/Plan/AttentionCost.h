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
///
/// with Dk = u d where u > Hk. A double ring sends as much as a ring, one way
/// or both, and heads in groups as much as all at once; where a mask hides
/// whole blocks, rings send less.
#ifndef SP_PLAN_ATTENTIONCOST_H
#define SP_PLAN_ATTENTIONCOST_H

#include "sp/IR/SP.h"

namespace mlir::sp {

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
std::vector<AttentionCost> attentionCosts(AttentionOp op, PlanAttr plan,
                                          int64_t batch);

/// The mean of `bytesSent` over all ranks, from up to 64 of them: its cost does
/// not grow with their number.
int64_t estimateBytesSent(AttentionOp op, PlanAttr plan, int64_t batch);

/// Visible pairs of one head and batch element on the busiest of at most 64
/// ranks, the first and the last among them.
int64_t estimateGreatestArea(AttentionOp op, PlanAttr plan);

} // namespace mlir::sp

#endif // SP_PLAN_ATTENTIONCOST_H
