/// Changes of how a local value is dealt, along single dimensions.
#ifndef SP_LIB_PARTITION_RESHARDING_H
#define SP_LIB_PARTITION_RESHARDING_H

#include "mlir/IR/Builders.h"
#include "sp/IR/LocalForms.h"
#include "sp/IR/ShardingRules.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// The local type of a tensor cut as `dims` says.
RankedTensorType localType(Type elementType, ArrayRef<DimAttr> dims);

/// Gathers dimension `index` of `value` over the axes that deal it.
Value gatherDim(OpBuilder &builder, Location loc, Value value,
                ArrayRef<DimAttr> dims, unsigned index);

/// `count` rows of dimension `index`: the first ones, or zeros behind all.
Value resizeRows(OpBuilder &builder, Location loc, Value value, unsigned index,
                 int64_t count);

/// Keeps of the whole dimension `index` of `value` the rows that `target` gives
/// this rank. `others` says how the other dimensions are dealt, where that is
/// known.
Value takeDim(OpBuilder &builder, Location loc, Value value, unsigned index,
              DimAttr target, ArrayRef<DimAttr> others = {});

/// Says in which dimension a reshape has what each axis gives a rank, where of
/// what is dealt as `dims` then, or as `others` before, an axis gives it but
/// one row. `known` says so of further axes.
void placeOneRows(stablehlo::ReshapeOp op, ArrayRef<DimAttr> dims,
                  ArrayRef<DimAttr> others, DictionaryAttr known = {});

/// Rows of dimension `index`, dealt as `from` or whole, dealt as `to` or whole:
/// that of position p is the one of p + by; where there is none, it is
/// anything.
Value moveRows(OpBuilder &builder, Location loc, Value value, unsigned index,
               DimAttr from, DimAttr to, int64_t by);

/// Whether ranks can hand each other rows that they hold by `from` so that they
/// hold them by `to`, or all of them where that is whole.
bool canRedeal(DimAttr from, DimAttr to);

/// Bytes that the busiest rank sends for `moveRows`.
int64_t movedBytes(Value value, unsigned index, DimAttr from, DimAttr to,
                   int64_t by);

/// The part [first, first + count) of dimension `index`.
Value sliceDim(OpBuilder &builder, Location loc, Value value, unsigned index,
               int64_t first, int64_t count);

/// Rows `indices` (one dimension, i32) of dimension `dim`.
Value takeIndices(OpBuilder &builder, Location loc, Value value, unsigned dim,
                  Value indices);

/// The positions of this rank along a dealt dimension, as i32.
Value positionsOf(OpBuilder &builder, Location loc, DimAttr dim);

/// Replaces the padding rows of dimension `index` by the neutral element of a
/// reduction. Folds away when every rank holds as many rows.
Value maskPadding(OpBuilder &builder, Location loc, Value value, DimAttr dim,
                  unsigned index, Reduction kind);

/// Bytes that the busiest rank sends when `value`, cut as `dims`, is gathered
/// along dimension `index`.
int64_t gatherBytes(Value value, ArrayRef<DimAttr> dims, unsigned index);

/// Bytes that a rank sends when `value` is combined over `ranks` ranks: a
/// reduce-scatter and an all-gather of as even parts as there are.
int64_t reduceBytes(Value value, int64_t ranks);

/// The sum over dimension `index` of real numbers.
Value sumDim(OpBuilder &builder, Location loc, Value value, unsigned index);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_RESHARDING_H
