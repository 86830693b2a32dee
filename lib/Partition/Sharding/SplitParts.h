/// Dimensions that join several things of one size.
#ifndef SP_LIB_PARTITION_SPLITPARTS_H
#define SP_LIB_PARTITION_SPLITPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {

/// Has slices, joins and pads of equal parts of a dimension pick whole rows of
/// [parts, size]: queries, keys and values that one product makes, or gate and
/// up. Then each part is dealt by itself, and the product's weight with it.
/// Where `isDealt` holds of the dimension of a part, or a product makes or
/// reads what is cut or joined. Whether there was one.
///
///   before   slice %qkv [0:T, 64:128]        T x 192
///   after    slice (reshape %qkv) [0:T, 1:2, 0:64]    T x 3 x 64
bool splitParts(func::FuncOp func,
                function_ref<bool(Value part, unsigned dim)> isDealt);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_SPLITPARTS_H
