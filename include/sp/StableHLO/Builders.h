/// Operations that many places make.
#ifndef SP_STABLEHLO_BUILDERS_H
#define SP_STABLEHLO_BUILDERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "sp/StableHLO/Operations.h"

namespace mlir::sp {

/// The value with elements of that type.
Value convertTo(OpBuilder &builder, Location location, Value value,
                Type element);

/// The sum of a float value over dimensions, in their order.
Value sumOver(OpBuilder &builder, Location location, Value value,
              ArrayRef<int64_t> dims);

/// The value with its dimensions in that order.
Value transposed(OpBuilder &builder, Location location, Value value,
                 ArrayRef<int64_t> order);

/// Rows of a dimension of `value` with others in front, behind and between;
/// edges below 0 cut rows off. So many rows `any` at both edges of the result
/// may be anything.
Value padRows(OpBuilder &builder, Location location, Value value, Value padding,
              unsigned dim, std::pair<int64_t, int64_t> edges,
              int64_t between = 0, std::pair<int64_t, int64_t> any = {0, 0});

/// A row of a dimension, without that.
Value rowOf(OpBuilder &builder, Location location, Value value, unsigned dim,
            int64_t row);

/// The `dot_general` of both: [batch dimensions, others of `lhs`, of `rhs`].
Value contract(OpBuilder &builder, Location location, Value lhs, Value rhs,
               const ContractionDims &dims, Type element,
               ArrayAttr precision = {});

/// A constant everywhere.
Value splat(OpBuilder &builder, Location location, RankedTensorType type,
            double value);

} // namespace mlir::sp

#endif // SP_STABLEHLO_BUILDERS_H
