/// Plans that fit each other: attentions over a sequence share its layout.
#ifndef SP_LIB_PLAN_JOINTCHOICE_H
#define SP_LIB_PLAN_JOINTCHOICE_H

#include "PlannedAttention.h"

namespace mlir::sp {

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
/// by way of others, those of one layout that send the fewest bytes together.
/// Plans that leave ranks idle are taken only where no layout does without.
SmallVector<PlanAttr> choosePlans(ArrayRef<PlannedAttention> attentions,
                                  ArrayRef<Candidates> candidates);

/// The candidate that an attention would have alone.
const Candidate &cheapest(ArrayRef<Candidate> candidates);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_JOINTCHOICE_H
