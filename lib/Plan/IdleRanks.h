/// Ranks that have nothing of an attention to do.
#ifndef SP_LIB_PLAN_IDLERANKS_H
#define SP_LIB_PLAN_IDLERANKS_H

#include "PlannedAttention.h"

namespace mlir::sp {

/// A remark on a program without attention, in which the ranks of a mesh, if
/// there is one, share nothing.
void explainNoAttention(ModuleOp module, MeshOp mesh);

/// Remarks on ranks without a sequence of the batch, without queries or
/// keys that it has, or without heads.
void explainIdleRanks(const PlannedAttention &op, PlanAttr plan, MeshOp mesh);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_IDLERANKS_H
