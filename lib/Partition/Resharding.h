/// Changes of how a local value is dealt, along single dimensions.
#ifndef SP_LIB_PARTITION_RESHARDING_H
#define SP_LIB_PARTITION_RESHARDING_H

#include "ShardingRules.h"
#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// The local type of a tensor cut as `dims` says.
RankedTensorType localType(Type elementType, ArrayRef<DimAttr> dims);

/// The dimension of the same length that is not dealt.
DimAttr wholeDim(DimAttr dim);

/// Gathers dimension `index` of `value` over the axes that deal it.
Value gatherDim(OpBuilder &builder, Location loc, Value value,
                ArrayRef<DimAttr> dims, unsigned index);

/// Keeps of the whole dimension `index` of `value` the rows that `target` gives
/// this rank.
Value takeDim(OpBuilder &builder, Location loc, Value value,
              ArrayRef<DimAttr> dims, unsigned index, DimAttr target);

/// Replaces the padding rows of dimension `index` by the neutral element of a
/// reduction. Folds away when every rank holds as many rows.
Value maskPadding(OpBuilder &builder, Location loc, Value value, DimAttr dim,
                  unsigned index, Reduction kind);

/// Bytes that the busiest rank sends when `value`, cut as `dims`, is gathered
/// along dimension `index`.
int64_t gatherBytes(Value value, ArrayRef<DimAttr> dims, unsigned index);

/// A splat constant tensor.
Value splat(OpBuilder &builder, Location loc, RankedTensorType type,
            Attribute value);

/// The neutral element of a reduction over an element type.
TypedAttr neutralElement(Type elementType, Reduction kind);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_RESHARDING_H
