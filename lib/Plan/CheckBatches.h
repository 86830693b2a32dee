/// What --tokens-per-rank asks of attentions.
#ifndef SP_LIB_PLAN_CHECKBATCHES_H
#define SP_LIB_PLAN_CHECKBATCHES_H

#include "PlannedAttention.h"
#include "sp/Plan/Strategies.h"

namespace mlir::sp {

/// What else is asked for.
struct BatchesAsked {
  int64_t tokensPerRank;
  const Strategy *strategy;
  AxisFactors factors;
  StringRef layout;
  int64_t turns;
  bool bidirectional;
  int64_t batchRanks; ///< of the batch axis
};

/// Whether documents may say which of `ranks` has which tokens, so many at
/// most; an error where they cannot.
LogicalResult checkBatches(const BatchesAsked &asked, int64_t ranks,
                           ArrayRef<PlannedAttention> attentions);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_CHECKBATCHES_H
