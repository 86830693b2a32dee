#include "CUDA/ScoreSides.h"

using namespace mlir;
using namespace mlir::sp;

/// Of an argument: x, the head, the positions, then terms in the order of the
/// operands. Elements of pairs are of pairs, wherever their row begins.
static Side sideOf(AttendOp op, size_t argument) {
  if (argument == 0)
    return Side::Pair;
  if (argument < 4)
    return argument == 3 ? Side::Key : Side::Query;
  size_t term = argument - 4;
  for (auto [operands, side] : {std::pair(op.getPerQuery(), Side::Query),
                                std::pair(op.getPerKey(), Side::Key),
                                std::pair(op.getPerHead(), Side::Query),
                                std::pair(op.getPair(), Side::Pair)}) {
    if (term < operands.size())
      return side;
    term -= operands.size();
  }
  return Side::Neither; // a table
}

ScoreSides::ScoreSides(AttendOp op, func::FuncOp score) {
  for (BlockArgument argument : score.getArguments())
    sides[argument] = sideOf(op, argument.getArgNumber());
  for (Operation &operation : score.getBody().front().without_terminator()) {
    Side side = Side::Neither;
    for (Value operand : operation.getOperands())
      if (Side other = of(operand); other != Side::Neither && other != side)
        side = side == Side::Neither ? other : Side::Pair;
    for (Value result : operation.getResults())
      sides[result] = side;
  }
}

bool ScoreSides::isMember(Value value, Side side) const {
  return of(value) == side &&
         llvm::any_of(value.getUsers(), [&](Operation *user) {
           return user->getNumResults() == 0 ||
                  of(user->getResult(0)) == Side::Pair;
         });
}
