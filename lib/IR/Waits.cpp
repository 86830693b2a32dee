//===- Waits.cpp - When what was communicated is there --------------------===//

#include "sp/IR/Waits.h"

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

LogicalResult mlir::sp::checkWaits(Region &region) {
  WalkResult result = region.walk([](CommunicationOpInterface op) {
    return WalkResult(op.isStart() ? checkWait(op) : success());
  });
  return failure(result.wasInterrupted());
}
