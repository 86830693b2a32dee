/// What a scheduled program does, counted rank by rank.
///
/// Counted from the schedule, loop by loop, with the algebra: what `sp-run`
/// measures must equal it byte for byte.
#ifndef SP_SIMULATOR_PROMISE_H
#define SP_SIMULATOR_PROMISE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sp {

struct Promise {
  int64_t bytesSent = 0; ///< to other ranks
  int64_t flops = 0;     ///< of matrix products and attention
  /// Of the arena, in pages: less than the arena where a rank gets no rows, no
  /// heads or no blocks of its ring.
  int64_t touchedBytes = 0;
  /// False where a loop's count is known only at run time; it then counts once.
  bool isExact = true;
};

/// Counts what each rank of the module's mesh does in one run of `@main`, which
/// has passed Memory.
std::vector<Promise> promisesOf(ModuleOp module);

} // namespace mlir::sp

#endif // SP_SIMULATOR_PROMISE_H
