//===- InsertCopies.cpp - One place for what loops carry ------------------===//
//
//   before   while(%x = %arg) do { ... return %next }       %x read after %next
//   after    %c = sp.copy %arg
//            while(%x = %c) do { ... %n = sp.copy %next; return %n }
//
// Some operations write where an operand lies: a loop over what it carries, an
// attention over the state or the gradients that it continues. That is right
// without a copy where nothing else reads what lies there any more. Rows that
// are put into a stack are computed there, or copied. The value that a body
// yields is computed in the carried place where the argument's last read comes
// before. The copies of one iteration happen at its end, after every read of
// what is carried; a carried value that moves to another place (a swap) is
// first copied aside.
//
//===----------------------------------------------------------------------===//

#include "Overwriting.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/Memory/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

template <typename OpT> int64_t rowBytesOf(OpT op) {
  return sp::rowBytesOf(op.getWhole().getType(), op.getDim());
}

Value copyOf(OpBuilder &builder, Value value) {
  return CopyOp::create(builder, value.getLoc(), value.getType(), value);
}

/// Copies an operand that `op` may not overwrite.
void copyOverwritten(OpOperand &operand) {
  if (mayOverwrite(operand))
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(copyOf(builder, operand.get()));
}

/// Copies what a loop's body yields to the carried places.
void copyCarried(Operation *loop) {
  Block &body = loop->getRegions().back().front();
  Operation *yield = body.getTerminator();
  OpBuilder builder(yield);
  SmallVector<OpOperand *> changed;
  for (OpOperand &operand : yield->getOpOperands())
    if (isTensor(operand.get()) && changesCarried(operand) &&
        !mayYieldInPlace(operand))
      changed.push_back(&operand);
  for (OpOperand *operand : changed)
    if (carriesArgumentOf(operand->get(), body))
      operand->set(copyOf(builder, operand->get()));
  for (OpOperand *operand : changed)
    operand->set(copyOf(builder, operand->get()));
}

void copyYielded(Operation *branches) {
  for (Region &region : branches->getRegions()) {
    Operation *yield = region.front().getTerminator();
    OpBuilder builder(yield);
    for (OpOperand &operand : yield->getOpOperands())
      if (!mayYieldInPlace(operand))
        operand.set(copyOf(builder, operand.get()));
  }
}

/// Copies rows that a kernel could not read where they lie.
void copyOut(TakeOp take) {
  if (rowBytesOf(take) % kPlaceAlignment == 0)
    return;
  OpBuilder builder(take->getContext());
  builder.setInsertionPointAfter(take);
  Value copy = copyOf(builder, take.getResult());
  take.getResult().replaceAllUsesExcept(copy, copy.getDefiningOp());
}

struct InsertCopiesPass
    : mlir::sp::impl::InsertCopiesPassBase<InsertCopiesPass> {
  void runOnOperation() override {
    // Inner operations first: whether an outer place may be written depends on
    // the copies inside.
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    func->walk(copyOut);
    SmallVector<Operation *> overwriting;
    func->walk([&](Operation *op) {
      if (op->hasTrait<stablehlo::ControlFlow>() || isa<scf::ForOp>(op) ||
          !continuedBy(op).empty())
        overwriting.push_back(op);
    });
    for (Operation *op : overwriting) {
      if (isa<stablehlo::WhileOp, scf::ForOp>(op))
        copyCarried(op);
      if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
        copyYielded(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isOverwritten(operand))
          copyOverwritten(operand);
      // Once it is said where the stack lies.
      if (auto put = dyn_cast<PutOp>(op)) {
        OpBuilder builder(put);
        bool isAligned = rowBytesOf(put) % kPlaceAlignment == 0;
        if (!isAligned || !mayPutInPlace(put))
          put.getBlockMutable().assign(copyOf(builder, put.getBlock()));
      }
    }
  }
};

} // namespace
