/// What --chunks asks of attentions.
#ifndef SP_LIB_PLAN_CHECKTURNS_H
#define SP_LIB_PLAN_CHECKTURNS_H

#include "PlannedAttention.h"
#include "sp/Plan/Strategies.h"

namespace mlir::sp {

/// Whether queries can come in so many turns under a strategy, null for any,
/// with `backward` as the option has it, on so many ranks that have at most
/// `tokensPerRank`, where that is not 0; an error where they cannot.
LogicalResult checkTurns(int64_t turns, const Strategy *asked,
                         StringRef backward, int64_t ranks,
                         int64_t tokensPerRank,
                         ArrayRef<PlannedAttention> attentions);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_CHECKTURNS_H
