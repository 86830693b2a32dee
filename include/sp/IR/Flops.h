/// How much operations compute, as far as schedules and reports have to know.
#ifndef SP_IR_FLOPS_H
#define SP_IR_FLOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::sp {

/// Whether the op is a matrix product or a convolution.
bool isProduct(Operation *op);

/// FLOPs of the products, convolutions and attention that `op` is, holds or
/// launches, with all turns of loops: what else there is takes little beside
/// them. Of branches the one that has least, of attention before Partition
/// those of all ranks, of a step of a ring the mean over all of them.
double flopsOf(Operation *op);

} // namespace mlir::sp

#endif // SP_IR_FLOPS_H
