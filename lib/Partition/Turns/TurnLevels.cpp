//===- TurnLevels.cpp - Loops over turns ----------------------------------===//

#include "Turns/TurnLevels.h"

#include "sp/IR/Attributes.h"
#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

FailureOr<TurnLevels> TurnLevels::find(func::FuncOp func) {
  TurnLevels levels;
  levels.func = func;
  for (BlockArgument argument : func.getArguments()) {
    auto sharding =
        func.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kSharding);
    if (sharding && !sharding.isReplicated())
      levels.varying.insert(argument);
  }
  Block &body = func.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(levels.classify(&op)))
      return failure();
  for (Operation &op : llvm::reverse(body.without_terminator()))
    levels.placeLate(&op);
  return levels;
}

/// Says that turns meet where no loop over them can end.
static LogicalResult refuse(Operation *op, StringRef what) {
  return op->emitError() << what
                         << ", which turns cannot do that run one after the "
                            "other; leave out --accumulate";
}

LogicalResult TurnLevels::classify(Operation *op) {
  bool reads = false;
  unsigned level = 0;
  forEachRead(op, [&](Value value) {
    reads |= varying.contains(value);
    Operation *def = value.getDefiningOp();
    auto known = early.find(def);
    if (def && known != early.end())
      level = std::max(level, known->second + combinesTurns(def));
  });
  WalkResult walked = op->walk([&](Operation *inner) -> WalkResult {
    reads |= isSource(inner);
    if (isa<CommunicationOpInterface>(inner) && !combinesTurns(inner))
      return refuse(inner, "rows move from one micro-batch to another");
    if (combinesTurns(inner) && inner != op)
      return refuse(inner,
                    "all micro-batches are needed at once within a loop or a "
                    "branch");
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  early[op] = level;
  if (combinesTurns(op) || reads)
    inLoop.insert(op);
  if (combinesTurns(op) || !reads) {
    if (combinesTurns(op))
      count = std::max(count, level + 1);
    return success();
  }
  varying.insert_range(op->getResults());
  if (!isSource(op))
    count = std::max(count, level + 1);
  return success();
}

void TurnLevels::placeLate(Operation *op) {
  // A loop is followed by what reads what it combines.
  unsigned late = isInLoop(op) ? std::max(count, 1u) - 1 : count;
  for (Operation *user : op->getUsers()) {
    Operation *reader = func.getBody().front().findAncestorOpInBlock(*user);
    if (reader == func.getBody().front().getTerminator())
      continue;
    unsigned place = places.lookup(reader);
    late = std::min(late, combinesTurns(op) ? place - 1 : place);
  }
  places[op] = late;
}

static bool isAttention(Operation *op) {
  return isa<AttentionOp, AttentionBackwardOp>(op);
}

Location TurnLevels::locOf(unsigned number) const {
  Operation *first = nullptr;
  for (Operation &op : func->getRegion(0).front()) {
    if (!isInLoop(&op) || placeOf(&op) != number || isSource(&op))
      continue;
    WalkResult found = op.walk([&](Operation *inner) {
      if (isAttention(inner) || !first)
        first = inner;
      return isAttention(inner) ? WalkResult::interrupt()
                                : WalkResult::advance();
    });
    if (found.wasInterrupted())
      break;
  }
  return first ? first->getLoc() : func->getLoc();
}
