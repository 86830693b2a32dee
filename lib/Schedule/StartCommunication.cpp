//===- StartCommunication.cpp - Communication to start and wait -----------===//
//
//   before   %k1 = sp.shift %k ...         after   %k1, %t = sp.shift_start %k
//   ...
//            %o, %l = sp.attend ...                %o, %l = sp.attend ...
//                                                  sp.wait %t
//
// and on which stream that runs.
//
//===----------------------------------------------------------------------===//

#include "sp/IR/Attributes.h"
#include "sp/Schedule/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_STARTCOMMUNICATIONPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The operation of `block` that holds `op`, or null.
Operation *inBlock(Operation *op, Block *block) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  return op;
}

struct StartCommunicationPass
    : mlir::sp::impl::StartCommunicationPassBase<StartCommunicationPass> {
  /// Earliest place for `op`: behind what it uses and behind `previous`.
  static Operation *
  earliest(Operation *op, Operation *previous,
           const llvm::MapVector<Operation *, Operation *> &waits) {
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

  /// The way back does not wait for the way on, and no ring behind sums or
  /// gathers that nobody waits for yet.
  static Stream streamOf(CommunicationOpInterface start, WaitOp wait) {
    auto shift = dyn_cast<ShiftStartOp>(*start);
    bool goesBack = shift && static_cast<int64_t>(shift.getDistance()) < 0;
    bool isLeft = isa<AllReduceStartOp, ReduceScatterStartOp>(*start) &&
                  start->getNextNode() != wait;
    bool isAhead = start->hasAttr(kAhead);
    return goesBack || isLeft || isAhead ? Stream::Back : Stream::Comm;
  }

  void convert(Block &block) {
    llvm::MapVector<Operation *, Operation *> waits;
    Operation *previous = nullptr;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // Loops and branches may communicate: nothing starts across them.
      if (op.getNumRegions() != 0)
        previous = &op;
      auto communication = dyn_cast<CommunicationOpInterface>(op);
      if (!communication || communication.isStart())
        continue;
      OpBuilder before(&op);
      Operation *start = communication.createStart(before);
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
    for (auto [op, wait] : waits) {
      auto start = cast<CommunicationOpInterface>(op);
      start.setStream(streamOf(start, cast<WaitOp>(wait)));
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
