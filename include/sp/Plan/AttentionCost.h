/// Exact volumes of one attention under a plan.
///
/// Per rank, in bytes sent to other ranks, as `sp-run` measures them: valid
/// rows x the heads the receiver needs x element size. Where everything divides
/// these are the published formulas, with e bytes an element, D = H d, Dk = Hk
/// d:
///
///   ring, all-gather   e * 2 * (S/P) * Dk * (P-1)
///   Ulysses            e * (S/P) * (2 D + 2 Dk) * (P-1) / P
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

/// The cost of `op` under `plan` for the rank with coordinate `rank` along the
/// plan's axis, holding `batch` elements of the batch.
AttentionCost attentionCost(AttentionOp op, PlanAttr plan, int64_t rank,
                            int64_t batch);

/// Whether block `source` must travel on to ring rank `receiver`: some rank
/// from there on, before the block is home again, sees a key of it.
bool ringNeedsBlock(const sprt::algebra::Bands &bands,
                    const sprt::algebra::Layout &queries,
                    const sprt::algebra::Layout &keys, int64_t source,
                    int64_t receiver);

/// The layout of a plan over a sequence of `length` positions.
sprt::algebra::Layout planLayout(PlanAttr plan, int64_t length);

} // namespace mlir::sp

#endif // SP_PLAN_ATTENTIONCOST_H
