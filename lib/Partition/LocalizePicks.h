/// Gathers and scatters of positions that ranks share.
#ifndef SP_LIB_PARTITION_LOCALIZEPICKS_H
#define SP_LIB_PARTITION_LOCALIZEPICKS_H

#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// Whether a rank finds where `layout` gives it the positions that indices
/// pick.
bool hasPicks(LayoutAttr layout);

/// Has a gather or a scatter, whose operands are a rank's own, pick the rank's
/// positions along dimension `dim` of its first operand, which `layout` deals:
/// operand `indices` says in which rows these are, one by one where windows
/// have several; those of other ranks are out of bounds, which a scatter leaves
/// out. Which elements of a gather's result are the rank's.
Value pickOwn(OpBuilder &builder, Operation *op, unsigned indices, unsigned dim,
              LayoutAttr layout);

/// What a gather makes, where elements are the rank's own, and 0 elsewhere.
Value maskForeign(OpBuilder &builder, Value picked, Value areOwn);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALIZEPICKS_H
