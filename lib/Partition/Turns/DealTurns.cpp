//===- DealTurns.cpp - A mesh whose ranks are turns -----------------------===//

#include "sp/Partition/Passes.h"

#include "mlir/IR/Remarks.h"

namespace mlir::sp {
#define GEN_PASS_DEF_DEALTURNSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Sequences of the batch that an attention has.
static std::optional<int64_t> batchOf(Operation *op) {
  auto sizeOf = [](Value queries) {
    return cast<RankedTensorType>(queries.getType()).getDimSize(0);
  };
  if (auto forward = dyn_cast<AttentionOp>(op))
    return sizeOf(forward.getQuery());
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    return sizeOf(backward.getQuery());
  return std::nullopt;
}

namespace {

struct DealTurnsPass : mlir::sp::impl::DealTurnsPassBase<DealTurnsPass> {
  using DealTurnsPassBase::DealTurnsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const int64_t turns = this->turns;
    if (turns <= 1)
      return;
    if (getMesh(module)) {
      module.emitError() << "expected no mesh yet where " << turns
                         << " micro-batches run in turn";
      return signalPassFailure();
    }
    Operation *largest = nullptr;
    module.walk([&](Operation *op) {
      std::optional<int64_t> batch = batchOf(op);
      if (batch && (!largest || *batch > *batchOf(largest)))
        largest = op;
    });
    if (!largest) {
      module.emitError()
          << "expected an attention, whose batch is cut into micro-batches, "
             "but the model has none that could be taken; leave out "
             "--accumulate";
      return signalPassFailure();
    }
    int64_t batch = *batchOf(largest);
    if (batch < turns) {
      InFlightDiagnostic diagnostic = largest->emitError();
      diagnostic << "expected a batch of at least " << turns
                 << " sequences for " << turns
                 << " micro-batches but this attention has " << batch;
      if (batch > 1)
        diagnostic << "; ask for at most --accumulate=" << batch;
      else
        diagnostic << "; leave out --accumulate";
      return signalPassFailure();
    }
    remark::passed(
        largest->getLoc(),
        remark::RemarkOpts::name("MicroBatches").category("sp-deal-turns"))
        << "a batch of " << remark::metric("batch", batch) << " runs as "
        << remark::metric("microBatches", turns)
        << " micro-batches in turn, with one update";
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    MLIRContext *context = &getContext();
    constexpr StringLiteral kTurns = "turns";
    auto axis = MeshAxisAttr::get(context, kTurns, turns);
    MeshOp::create(builder, module.getLoc(), builder.getStringAttr("sp_turns"),
                   MeshAttr::get(context, axis), AxisAttr(),
                   AxisAttr::get(context, kTurns), AxisAttr(), AxisListAttr(),
                   /*folded=*/true);
  }
};

} // namespace
