/// What rows give beside the pairs they see: the mean of all values where they
/// see none, and sinks.
#ifndef SP_LIB_IMPORT_ROWTERMS_H
#define SP_LIB_IMPORT_ROWTERMS_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sp {

/// The value with elements of that type.
Value convertTo(OpBuilder &builder, Location location, Value value,
                Type element);

/// The sum of a float value over dimensions, in their order.
Value sumOver(OpBuilder &builder, Location location, Value value,
              ArrayRef<int64_t> dims);

/// The mean of values [batch, keys, kvHeads, dv] over keys, for every query
/// head: [batch, 1, heads, dv].
Value meanOfValues(OpBuilder &builder, Location location, Value values,
                   int64_t heads, Type element);

/// What the cotangents [batch, queries, heads, dv] of rows without a visible
/// key make of that mean's gradient with respect to values of `shape`. A row is
/// one where lse [batch, queries, heads, 2] begins with -inf.
Value gradientOfMeans(OpBuilder &builder, Location location, Value lse,
                      Value cotangent, ArrayRef<int64_t> shape);

/// What each row gives the gradient of its head's sink: -exp(sink - lse) times
/// the sum of cotangent and result, [batch, queries, heads].
Value gradientOfSinks(OpBuilder &builder, Location location,
                      AttentionOp attention, Value cotangent);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_ROWTERMS_H
