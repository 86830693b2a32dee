/// Chunks of tokens as a loop takes them, in a stack, and behind each other.
#ifndef SP_LIB_PARTITION_STACKMOVES_H
#define SP_LIB_PARTITION_STACKMOVES_H

#include "sp/StableHLO/ScanLoops.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// Of a stack [.., trips, .., tokens, ..], of which trips take `rows`, the
/// chunks behind each other along `dim`: [.., 1, .., trips * tokens, ..].
Value joinRows(OpBuilder &builder, Location loc, Value stack, StackRows rows,
               unsigned dim);

/// And back, as a stack of type `whole`.
Value cutRows(OpBuilder &builder, Location loc, Value joined, StackRows rows,
              unsigned dim, RankedTensorType whole);

/// Whether all rows of a dimension are the same, as a broadcast has them.
bool areAlike(Value value, unsigned dim);

/// The dimension of a reshape's result that one of its operand is, behind as
/// many elements; nothing where it is cut or joined.
std::optional<unsigned> dimBehindReshape(ArrayRef<int64_t> from, unsigned dim,
                                         ArrayRef<int64_t> to);

/// Takes away transposes and reshapes behind each other that undo each other.
void cancelMoves(Operation *root);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_STACKMOVES_H
