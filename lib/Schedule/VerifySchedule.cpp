//===- VerifySchedule.cpp - The guard of Schedule -------------------------===//

#include "sp/IR/Program.h"
#include "sp/IR/Waits.h"
#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYSCHEDULEPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

bool isCommand(Operation *op) {
  if (auto communication = dyn_cast<CommunicationOpInterface>(op))
    return communication.isStart();
  return isa<LaunchOp, GemmOp, AttendOp, AttendBackwardOp, CopyOp, EmptyOp,
             TakeOp, PutOp, PositionsOp, RowCountOp, RankOp, GroupSizeOp,
             GroupSourceOp, WaitOp, stablehlo::ConstantOp, stablehlo::ReshapeOp,
             stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp,
             stablehlo::ReturnOp, scf::ForOp, scf::YieldOp,
             affine::AffineApplyOp, arith::ConstantOp, func::ReturnOp>(op);
}

struct VerifySchedulePass
    : mlir::sp::impl::VerifySchedulePassBase<VerifySchedulePass> {
  void runOnOperation() override {
    auto func = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!func)
      return;
    WalkResult result = func.getBody().walk([&](Operation *op) -> WalkResult {
      if (!isCommand(op))
        return op->emitOpError()
               << "expected to be part of a kernel after Schedule";
      return success();
    });
    if (result.wasInterrupted() || failed(checkWaits(func.getBody())) ||
        failed(checkLayouts(getOperation())))
      signalPassFailure();
  }
};

} // namespace
