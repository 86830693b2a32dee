/// Gathers and scatters of positions that ranks share.
#ifndef SP_LIB_PARTITION_LOCALIZEPICKS_H
#define SP_LIB_PARTITION_LOCALIZEPICKS_H

#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// Whether `layout` gives ranks positions that follow each other, as indices
/// that pick them need.
bool hasPicks(LayoutAttr layout);

/// Has `indices` of a gather or a scatter count the positions along `dim` of
/// its first operand from the rank's own first one on, as `layout` deals them:
/// those of other ranks are out of bounds, which a scatter leaves out. What
/// `isOwn` points to becomes whether an index is of the rank's, if it is given.
Value pickOwn(OpBuilder &builder, Operation *op, Value indices, unsigned dim,
              LayoutAttr layout, Value *isOwn = nullptr);

/// The result of a gather where indices are the rank's own, and 0 elsewhere.
Value maskForeign(OpBuilder &builder, stablehlo::GatherOp op, Value isOwn);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALIZEPICKS_H
