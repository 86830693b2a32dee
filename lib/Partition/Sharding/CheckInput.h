/// What Partition can take.
#ifndef SP_LIB_PARTITION_CHECKINPUT_H
#define SP_LIB_PARTITION_CHECKINPUT_H

#include "sp/IR/Program.h"

namespace mlir::sp {

/// Checks that a program is over tensors of static shape, and without calls and
/// partitioning by hand.
LogicalResult checkInput(func::FuncOp func);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_CHECKINPUT_H
