//===- DealLoops.cpp - Loops over rows that ranks share -------------------===//
//
//   before   while (%i < 4096) { %x[%i] ... }        %x: 4096 by L
//   after    %p = reshape %x : 4096 -> 4x1024        4 by L
//            while (%i < 1024) { %p[:, %i] ... }
//
// Each rank has the trips of its own rows, one after the other.
//
//===----------------------------------------------------------------------===//

#include "Loops/CumulativeWindow.h"
#include "Loops/DealtLoop.h"
#include "Sharding/CheckInput.h"
#include "Sharding/Seeds.h"
#include "sp/IR/Program.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/TypeSwitch.h"

#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-deal-loops"

namespace mlir::sp {
#define GEN_PASS_DEF_DEALLOOPSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct DealLoopsPass : mlir::sp::impl::DealLoopsPassBase<DealLoopsPass> {
  using DealLoopsPassBase::DealLoopsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (!mesh || failed(func) || failed(checkInput(*func)))
      return signalPassFailure();
    SmallVector<Operation *> loops;
    func->walk([&](Operation *op) {
      if (isa<stablehlo::WhileOp, stablehlo::ReduceWindowOp>(op))
        loops.push_back(op);
    });
    if (loops.empty())
      return;
    separateUses(*func);
    ShardingPropagation propagation(*func);
    if (failed(Seeds(*func, mesh).spread(shard, propagation)))
      return signalPassFailure();
    for (Operation *op : loops)
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](stablehlo::WhileOp loop) {
            if (std::optional<ScanLoop> scan = ScanLoop::find(loop))
              deal(*scan, propagation);
          })
          .Case([&](stablehlo::ReduceWindowOp op) {
            if (auto window = CumulativeWindow::find(op))
              deal(op, *window, propagation);
          });
    eraseDead(*func);
  }

private:
  void deal(ScanLoop &scan, ShardingPropagation &propagation) {
    std::optional<int64_t> parts = partsOf(scan, propagation);
    if (!parts)
      return;
    Location loc = scan.loop.getLoc();
    DealtLoop dealt(scan, *parts);
    std::string reason = dealt.check();
    if (reason.empty() && failed(dealt.replace()))
      reason = "an operation in it has no form for several trips at once";
    if (reason.empty())
      remark::analysis(loc,
                       remark::RemarkOpts::name("Dealt").category(DEBUG_TYPE))
          << "the trips of a loop are dealt in "
          << remark::metric("parts", *parts) << " parts";
    else
      remark::missed(loc,
                     remark::RemarkOpts::name("NotDealt").category(DEBUG_TYPE))
          << "every rank runs all trips of a loop: " << reason;
  }

  void deal(stablehlo::ReduceWindowOp op, CumulativeWindow window,
            ShardingPropagation &propagation) {
    Value rows = op.getInputs()[0];
    for (Value value : {rows, op.getResult(0)}) {
      LayoutAttr layout = onlyLayout(propagation.dimsOf(value)[window.dim]);
      int64_t parts = layout ? runsOf(layout) : 0;
      if (parts < 2 || shapeOf(rows)[window.dim] % parts != 0)
        continue;
      remark::analysis(op.getLoc(),
                       remark::RemarkOpts::name("Dealt").category(DEBUG_TYPE))
          << "a cumulative window is dealt in "
          << remark::metric("parts", parts) << " parts";
      return cutWindow(op, window, parts);
    }
  }

  /// In how many parts of consecutive rows ranks hold the rows that trips take
  /// and leave; nothing where they do not hold such, or not whole trips of
  /// them.
  std::optional<int64_t> partsOf(ScanLoop &scan,
                                 ShardingPropagation &propagation) {
    std::optional<int64_t> parts;
    auto add = [&](Value stack, StackRows rows) {
      LayoutAttr layout = onlyLayout(propagation.dimsOf(stack)[rows.dim]);
      if (!layout)
        return;
      int64_t own = runsOf(layout);
      bool agrees =
          own > 1 && scan.trips % own == 0 && parts.value_or(own) == own;
      parts = agrees ? own : 0;
    };
    for (auto slice : scan.body().getOps<stablehlo::DynamicSliceOp>())
      if (Value stack = scan.outside(slice.getOperand()))
        if (std::optional<StackRows> rows = scan.rowsOf(slice))
          add(stack, *rows);
    for (auto [number, carried] : llvm::enumerate(scan.carried))
      if (carried.kind == ScanValue::Kind::Written)
        add(scan.loop->getResult(number), carried.written);
    return parts.value_or(0) != 0 ? parts : std::nullopt;
  }
};

} // namespace

#undef DEBUG_TYPE
