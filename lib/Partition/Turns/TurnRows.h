/// What a turn has of a global value, and what turns leave.
#ifndef SP_LIB_PARTITION_TURNROWS_H
#define SP_LIB_PARTITION_TURNROWS_H

#include "sp/IR/SP.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {

/// Where turns differ in a value that is dealt to them: dimension `dim` holds
/// `outer` times `length` times `inner` indices, of which `layout` deals the
/// middle ones.
struct TurnRows {
  unsigned dim = 0;
  int64_t outer = 1, inner = 1;
  LayoutAttr layout;

  /// Nothing for a value of which all turns have the same.
  static std::optional<TurnRows> find(ArrayRef<DimAttr> dims);
};

/// The part of `whole` that turn `turn`, a tensor of one i32, has: rows turn,
/// turn + turns, and so on, then rows of zeros where other turns have more.
Value takeTurn(OpBuilder &builder, Location loc, Value whole,
               const TurnRows &rows, Value turn);

/// The value of `type` whose parts are rows of `stack`, [turns, ...].
Value joinTurns(OpBuilder &builder, Location loc, Value stack,
                const TurnRows &rows, RankedTensorType type);

/// One row of a stack, and a stack with another one.
Value takeRow(OpBuilder &builder, Location loc, Value stack, Value turn);
Value putRow(OpBuilder &builder, Location loc, Value stack, Value row,
             Value turn);

/// What `sp.positions` and `sp.row_count` are in a turn.
Value positionsOfTurn(OpBuilder &builder, PositionsOp op, Value turn);
Value rowCountOfTurn(OpBuilder &builder, RowCountOp op, Value turn);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_TURNROWS_H
