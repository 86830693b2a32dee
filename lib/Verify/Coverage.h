/// The partial attentions that make up one attention's state.
#ifndef SP_LIB_VERIFY_COVERAGE_H
#define SP_LIB_VERIFY_COVERAGE_H

#include "Blocks.h"

#include "sp/IR/RankIndices.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

/// One line of `sp.attend`, each onto the one before it.
class Coverage {
public:
  Coverage(AttendOp first, Value keys, Value values)
      : last(first), keys(keys), values(values) {}

  /// Adds a partial attention to keys that have come so far; an error where
  /// they were met before or belong to another attention.
  LogicalResult add(AttendOp op, const RowBlock &keys, const RowBlock &values);
  /// Whether the queries of these ranks met all keys that they see.
  LogicalResult finish(MutableArrayRef<RankIndices> ranks) const;

private:
  AttendOp last;
  Value keys, values; ///< where their blocks began
  SmallVector<Moves> met;
  /// The owners whose keys the first owner met, one for each of `met`.
  DenseSet<int64_t> metByFirst;
};

} // namespace mlir::sp

#endif // SP_LIB_VERIFY_COVERAGE_H
