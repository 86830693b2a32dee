/// Where Memory put each value.
#ifndef SP_IR_PLACEDVALUES_H
#define SP_IR_PLACEDVALUES_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// Places begin at multiples of this many bytes, those in far memory on pages,
/// as files are copied.
inline constexpr int64_t kPlaceAlignment = 64;
inline constexpr int64_t kFarAlignment = 4096;
inline int64_t alignmentOf(Space space) {
  return space == Space::Far ? kFarAlignment : kPlaceAlignment;
}

/// The place of a tensor, seen where it is defined; null where it has none yet.
PlaceAttr placeOf(Value value);

/// Bytes of a space; nothing before Memory.
std::optional<int64_t> bytesOf(func::FuncOp func, Space space);

/// Whether every tensor has a place by the counters of the loops around it,
/// within its space; a diagnostic where one has none.
LogicalResult checkPlaces(func::FuncOp func);

} // namespace mlir::sp

#endif // SP_IR_PLACEDVALUES_H
