/// Sums, products and extremes of all rows up to each, as `jnp.cumsum` has
/// them.
#ifndef SP_LIB_PARTITION_CUMULATIVEWINDOW_H
#define SP_LIB_PARTITION_CUMULATIVEWINDOW_H

#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// A window over one dimension that has all rows before, or behind, each.
struct CumulativeWindow {
  unsigned dim = 0;
  bool isReversed = false;
  Reduction kind = Reduction::Sum;

  static std::optional<CumulativeWindow> find(stablehlo::ReduceWindowOp op);
};

/// The rows of `value` that lie `by` before each along a dimension, or behind
/// it; where there are none, what is neutral.
Value rowsBefore(OpBuilder &builder, Location loc, Value value, unsigned dim,
                 int64_t by, bool isReversed, Reduction kind);

/// Replaces the operation: each of `parts` consecutive parts of the rows has a
/// window of its own, and what comes of all parts before in log2(parts) steps
/// (Hillis and Steele, Data parallel algorithms, 1986).
void cutWindow(stablehlo::ReduceWindowOp op, CumulativeWindow window,
               int64_t parts);

} // namespace mlir::sp

#endif // SP_LIB_PARTITION_CUMULATIVEWINDOW_H
