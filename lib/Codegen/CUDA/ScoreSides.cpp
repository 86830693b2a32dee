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
  switch (op.getTermKinds().getKinds()[argument - 4]) {
  case TermKind::PerQuery:
  case TermKind::PerHead:
    return Side::Query;
  case TermKind::PerKey:
    return Side::Key;
  case TermKind::Pair:
    return Side::Pair;
  case TermKind::Table:
    return Side::Neither;
  }
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
