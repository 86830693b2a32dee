//===- StartCommunication.cpp - Communication to start and wait -----------===//
//
//   before   %k1 = sp.shift %k ...         after   %k1, %t = sp.shift_start %k
//   ...
//            %o, %l = sp.attend ...                %o, %l = sp.attend ...
//                                                  sp.wait %t
//
//===----------------------------------------------------------------------===//

#include "sp/Schedule/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::sp {
#define GEN_PASS_DEF_STARTCOMMUNICATIONPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

bool isCommunication(Operation *op) {
  return isa<ShiftOp, AllGatherOp, AllToAllOp, AllReduceOp, ReduceScatterOp>(
      op);
}

/// The operation of `block` that holds `op`, or null.
Operation *inBlock(Operation *op, Block *block) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  return op;
}

struct StartCommunicationPass
    : mlir::sp::impl::StartCommunicationPassBase<StartCommunicationPass> {
  /// Earliest place for `op`: behind what it uses and behind `previous`.
  static Operation *earliest(Operation *op, Operation *previous,
                             const DenseMap<Operation *, Operation *> &waits) {
    Block *block = op->getBlock();
    Operation *last = previous;
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (Operation *wait = waits.lookup(def))
        def = wait;
      def = inBlock(def, block);
      if (def && (!last || last->isBeforeInBlock(def)))
        last = def;
    }
    return last;
  }

  static Operation *startOf(Operation *op) {
    OpBuilder builder(op);
    OperationState state(op->getLoc(),
                         (op->getName().getStringRef() + "_start").str());
    state.addOperands(op->getOperands());
    state.addTypes(op->getResultTypes());
    state.addTypes(TokenType::get(op->getContext()));
    state.attributes = op->getAttrs();
    return builder.create(state);
  }

  void convert(Block &block) {
    DenseMap<Operation *, Operation *> waits;
    Operation *previous = nullptr;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // Loops and branches may communicate: nothing starts across them.
      if (op.getNumRegions() != 0)
        previous = &op;
      if (!isCommunication(&op))
        continue;
      Operation *start = startOf(&op);
      Operation *place = earliest(start, previous, waits);
      if (place)
        start->moveAfter(place);
      if (!place)
        start->moveBefore(&block, block.begin());
      Operation *firstUse = block.getTerminator();
      for (Operation *user : op.getUsers())
        if (Operation *own = inBlock(user, &block);
            own && own->isBeforeInBlock(firstUse))
          firstUse = own;
      OpBuilder builder(firstUse);
      waits[start] =
          WaitOp::create(builder, op.getLoc(), start->getResults().back());
      op.replaceAllUsesWith(start->getResults().drop_back());
      op.erase();
      previous = start;
    }
  }

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (op != getOperation())
            convert(block);
    });
  }
};

} // namespace
