/// Plans that fit each other: attentions over a sequence share its layout.
#ifndef SP_LIB_PLAN_JOINTCHOICE_H
#define SP_LIB_PLAN_JOINTCHOICE_H

#include "PlannedAttention.h"

namespace mlir::sp {

/// How sequences could be dealt: by each kind, the best one first, to rings
/// whose owners' rows are cut into each number of parts.
struct SequenceLayouts {
  SmallVector<LayoutKind> kinds;
  SmallVector<int64_t> splits;
};

/// Those that fit all plans which attentions have; other kinds than `kind`
/// where it is open.
SequenceLayouts findLayouts(ArrayRef<PlannedAttention> attentions,
                            LayoutKind kind, bool isKindOpen, int64_t ranks,
                            int64_t turns);

/// Into how many parts heads could be dealt beside a ring: at most as many as
/// there are.
SmallVector<int64_t> headFactors(int64_t heads, int64_t ranks);

/// What an attention would cost under a plan.
struct Candidate {
  PlanAttr plan;
  int64_t bytes; ///< that a rank sends
  double work;   ///< visible pairs of all heads of the busiest rank
};

/// Of an attention that has a plan, that one alone; otherwise at least one of
/// every layout that some attention has.
using Candidates = SmallVector<Candidate>;

/// The plan of each attention: for attentions that share a length, directly or
/// by way of others, those of one layout in which ranks lose the least time
/// together, for want of heads or of pairs, and then send the fewest bytes.
SmallVector<PlanAttr> choosePlans(ArrayRef<PlannedAttention> attentions,
                                  ArrayRef<Candidates> candidates);

/// The candidate that an attention would have alone.
const Candidate &cheapest(ArrayRef<Candidate> candidates);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_JOINTCHOICE_H
