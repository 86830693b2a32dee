#include "RowTurns.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<int64_t> RowTurns::of(Value value) const {
  auto known = turns.find(value);
  return known == turns.end() ? std::nullopt : std::optional(known->second);
}

void RowTurns::set(Value value, std::optional<int64_t> turn) {
  turns.erase(value);
  if (turn)
    turns[value] = *turn;
}

bool RowTurns::hasAllTurns(Value stack, Operation *loop) {
  while (auto copy = stack.getDefiningOp<CopyOp>())
    stack = copy.getOperand();
  return isa<BlockArgument>(stack) ||
         !loop->isProperAncestor(stack.getDefiningOp());
}

LogicalResult RowTurns::checkPut(Operation *op, std::optional<int64_t> own,
                                 int64_t named) {
  if (own == named && named != kSeveral)
    return success();
  auto turnText = [](int64_t turn) {
    return turn == kSeveral ? std::string("no one turn")
                            : "turn " + std::to_string(turn);
  };
  return op->emitOpError() << "puts rows of "
                           << turnText(own.value_or(kSeveral))
                           << " where those of " << turnText(named)
                           << " belong";
}

void RowTurns::join(Operation *op) {
  bool isAttention = isa<AttendOp, AttendBackwardOp>(op);
  std::optional<int64_t> joined;
  for (Value operand :
       isAttention ? op->getOperands().take_front() : op->getOperands()) {
    std::optional<int64_t> known = of(operand);
    if (known)
      joined = joined.value_or(*known) == *known ? *known : kSeveral;
  }
  for (Value result : op->getResults())
    set(result, joined);
}

LogicalResult RowTurns::meet(Part &part, MutableArrayRef<RankIndices> ranks) {
  Side &side = part.staying;
  if (side.rows.getTurns() == 1)
    return success();
  side.turn = of(side.operands.front()).value_or(kSeveral);
  auto isOfTurn = [&](Value value) {
    return of(value).value_or(kSeveral) == side.turn;
  };
  if (side.turn == kSeveral || !llvm::all_of(side.operands, isOfTurn) ||
      !llvm::all_of(side.terms, isOfTurn))
    return part.op->emitOpError()
           << "attends with " << side.name << " of several turns";
  for (RankIndices &rank : ranks) {
    int64_t held = side.turn * side.rows.getRanks() + rank.owner(side.rows),
            named = rank.evaluate(side.source);
    if (held != named)
      return part.op->emitOpError()
             << "takes " << side.name << " to be those of owner " << named
             << " which are those of owner " << held << ", in turn "
             << side.turn;
  }
  return success();
}
