/// Schedule: token-local operations to commands, communication to start and
/// wait.
#ifndef SP_SCHEDULE_PASSES_H
#define SP_SCHEDULE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Schedule/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/Schedule/Passes.h.inc"

struct ScheduleOptions {
  /// Whether the library adds biases to products and applies activations.
  bool hasEpilogues = false;
  /// Blocks of rows of every region in which rows do not meet.
  int64_t rowBlocks = 1;
  /// Instead, rows of a block of each (see sp-block-rows).
  SmallVector<int64_t> blockRows;
  /// Whether updates follow their gradients (see sp-raise-updates).
  bool raiseUpdates = true;
};

/// Adds the stage: loops, blocks of rows, products, kernels, communication,
/// verify.
void buildSchedulePipeline(OpPassManager &pm,
                           const ScheduleOptions &options = {});
void registerSchedulePipeline();

} // namespace mlir::sp

#endif // SP_SCHEDULE_PASSES_H
