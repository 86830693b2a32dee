//===- Waits.cpp - When what was communicated is there --------------------===//

#include "sp/IR/Waits.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/LoopTurns.h"

using namespace mlir;
using namespace mlir::sp;

static LogicalResult checkWait(CommunicationOpInterface start) {
  Value token = start.getToken();
  Block *block = start->getBlock();
  auto wait =
      token.hasOneUse() ? dyn_cast<WaitOp>(*token.user_begin()) : WaitOp();
  if (!wait || wait->getBlock() != block)
    return start->emitOpError() << "expected exactly one wait, in the same "
                                   "block";
  for (Value result : start->getResults().drop_back())
    for (Operation *user : result.getUsers()) {
      Operation *own = block->findAncestorOpInBlock(*user);
      if (own && own->isBeforeInBlock(wait))
        return user->emitOpError()
               << "expected to use what is communicated only after the wait";
    }
  return success();
}

/// What is made ahead is for the next turn alone, as the last one does not make
/// it.
static LogicalResult checkAhead(CommunicationOpInterface start) {
  if (!start->hasAttr(kAhead))
    return success();
  auto loop = dyn_cast<scf::ForOp>(start->getParentOp());
  if (!loop || !turnsOf(loop))
    return start->emitOpError()
           << "expected to be in a counted loop, as '" << kAhead << "' says";
  for (Value result : start->getResults().drop_back())
    for (OpOperand &use : result.getUses()) {
      Operation *user = use.getOwner();
      bool isYield = user == loop.getBody()->getTerminator();
      if (!isYield || !loop.getResult(use.getOperandNumber()).use_empty())
        return user->emitOpError()
               << "expected only the next turn to read what is made ahead";
    }
  return success();
}

LogicalResult mlir::sp::checkWaits(Region &region) {
  WalkResult result = region.walk([](CommunicationOpInterface op) {
    return WalkResult(failure(
        op.isStart() && (failed(checkWait(op)) || failed(checkAhead(op)))));
  });
  return failure(result.wasInterrupted());
}
