/// What the values of a score function depend on.
#ifndef SP_LIB_CODEGEN_SCORESIDES_H
#define SP_LIB_CODEGEN_SCORESIDES_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::sp {

/// On nothing, on the query row and its head alone, on the key alone, or on
/// both or the score.
enum class Side { Neither, Query, Key, Pair };

class ScoreSides {
public:
  ScoreSides(AttendOp op, func::FuncOp score);

  Side of(Value value) const { return sides.lookup(value); }
  /// Whether a value of one side meets those of pairs, or is a result.
  bool isMember(Value value, Side side) const;

private:
  llvm::DenseMap<Value, Side> sides;
};

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_SCORESIDES_H
