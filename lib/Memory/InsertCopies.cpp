//===- InsertCopies.cpp - One place for what loops carry ------------------===//
//
//   before   while(%x = %init) do { ... return %next }
//   after    %c = sp.copy %init
//            while(%x = %c) do { ... %n = sp.copy %next; return %n }
//
// The copies of one iteration happen at its end, after every read of what is
// carried. A carried value that moves to another place (a swap) is first copied
// aside.
//
//===----------------------------------------------------------------------===//

#include "sp/Memory/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

Value copyOf(OpBuilder &builder, Value value) {
  return CopyOp::create(builder, value.getLoc(), value.getType(), value);
}

void copyCarried(stablehlo::WhileOp loop) {
  OpBuilder builder(loop);
  Block &body = loop.getBody().front();
  Operation *yield = body.getTerminator();
  auto isUnchanged = [&](unsigned index) {
    return yield->getOperand(index) == body.getArgument(index);
  };
  for (OpOperand &init : loop->getOpOperands())
    if (!isUnchanged(init.getOperandNumber()))
      init.set(copyOf(builder, init.get()));
  builder.setInsertionPoint(yield);
  SmallVector<OpOperand *> changed;
  for (OpOperand &operand : yield->getOpOperands())
    if (!isUnchanged(operand.getOperandNumber()))
      changed.push_back(&operand);
  for (OpOperand *operand : changed) {
    auto argument = dyn_cast<BlockArgument>(operand->get());
    if (argument && argument.getOwner() == &body)
      operand->set(copyOf(builder, argument));
  }
  for (OpOperand *operand : changed)
    operand->set(copyOf(builder, operand->get()));
}

void copyYielded(Operation *branches) {
  for (Region &region : branches->getRegions()) {
    Operation *yield = region.front().getTerminator();
    OpBuilder builder(yield);
    for (OpOperand &operand : yield->getOpOperands())
      operand.set(copyOf(builder, operand.get()));
  }
}

struct InsertCopiesPass
    : mlir::sp::impl::InsertCopiesPassBase<InsertCopiesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
        copyCarried(loop);
      if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
        copyYielded(op);
    });
  }
};

} // namespace
