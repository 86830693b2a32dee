/// How long commands take, as far as a schedule has to know.
#ifndef SP_LIB_SCHEDULE_FLOPS_H
#define SP_LIB_SCHEDULE_FLOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::sp {

/// FLOPs of the products and the attention that `op` is or holds, with all
/// turns of loops: what else there is takes little beside them. Of branches
/// the one that has least, of attention the mean over the steps of a ring.
double flopsOf(Operation *op);

} // namespace mlir::sp

#endif // SP_LIB_SCHEDULE_FLOPS_H
