/// Which row of the batch documents speak of.
#ifndef SP_LIB_VERIFY_BATCHROWS_H
#define SP_LIB_VERIFY_BATCHROWS_H

#include "sp/IR/SP.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sp {

/// Whether what is dealt by documents of several rows is in a loop that goes
/// through these, whose counter says of which row it is.
LogicalResult checkBatchRows(ModuleOp module);

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_BATCHROWS_H
