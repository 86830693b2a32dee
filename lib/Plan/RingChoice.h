/// What travels in a ring, and whether it goes round.
#ifndef SP_LIB_PLAN_RINGCHOICE_H
#define SP_LIB_PLAN_RINGCHOICE_H

#include "PlannedAttention.h"

namespace mlir::sp {

class RingChoice {
public:
  /// What is asked for of rings: what travels in the backward, "kv", "q" or
  /// nothing, whether they turn both ways, and whether no strategy is named.
  struct Asked {
    StringRef backward;
    bool bidirectional = false;
    int64_t turns = 1;
    bool isFree = false;
  };
  RingChoice(const Asked &asked, int64_t batchRanks)
      : asked(asked), batchRanks(batchRanks) {}

  /// The plan as it sends fewest bytes: blocks go straight to the few ranks
  /// that see them; or, for gradients, keys and values or queries travel.
  PlanAttr choose(const PlannedAttention &op, PlanAttr plan) const;
  /// Says what travels in the ring of its gradients, if there is one.
  LogicalResult explain(const PlannedAttention &op, PlanAttr plan) const;
  /// The mean of what a rank sends.
  int64_t bytesOf(const PlannedAttention &op, PlanAttr plan) const;

private:
  /// Null where they do not, or that takes no fewer bytes.
  PlanAttr goStraight(const PlannedAttention &op, PlanAttr plan) const;

  Asked asked;
  int64_t batchRanks;
};

} // namespace mlir::sp

#endif // SP_LIB_PLAN_RINGCHOICE_H
