//===- ForgetCheckpoints.cpp - Barriers of checkpoints taken away ---------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FORGETCHECKPOINTSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;

namespace {

struct ForgetCheckpointsPass
    : sp::impl::ForgetCheckpointsPassBase<ForgetCheckpointsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::OptimizationBarrierOp barrier) {
      barrier->replaceAllUsesWith(barrier->getOperands());
      barrier.erase();
    });
  }
};

} // namespace
