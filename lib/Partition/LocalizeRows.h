/// Slices, pads and joins along a dimension that ranks share.
#ifndef SP_LIB_PARTITION_LOCALIZEROWS_H
#define SP_LIB_PARTITION_LOCALIZEROWS_H

#include "Localizer.h"

namespace mlir::sp {

/// The local result, dealt as `dims`, of an operation that moves rows along a
/// dealt dimension; null of any other.
Value emitMovedRows(Localizer &localizer, OpBuilder &builder, Operation *op,
                    ArrayRef<DimAttr> dims);

/// Says that a rank sends so many bytes of rows for `user`, if it does.
void remarkMoved(Operation *user, int64_t bytes, unsigned dim);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_LOCALIZEROWS_H
