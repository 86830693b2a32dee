/// Values of rows, and what sinks give them.
#ifndef SP_LIB_IMPORT_ROWTERMS_H
#define SP_LIB_IMPORT_ROWTERMS_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// One of the numbers of lse [batch, queries, heads, 2].
Value numberOfSums(OpBuilder &builder, Location location, Value lse,
                   int64_t which);

/// What each row gives the gradient of its head's sink: -exp(sink - lse) times
/// the sum of cotangent and result, [batch, queries, heads].
Value gradientOfSinks(OpBuilder &builder, Location location,
                      AttentionOp attention, Value cotangent);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_ROWTERMS_H
