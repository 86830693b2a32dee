//===- Reach.cpp - The contractions around an exponential -----------------===//

#include "Match/Reach.h"

#include "sp/StableHLO/Operations.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

bool mlir::sp::isStatic(Operation *op) {
  auto fits = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           !llvm::is_contained(tensor.getShape(), 0);
  };
  return llvm::all_of(op->getOperandTypes(), fits) &&
         llvm::all_of(op->getResultTypes(), fits);
}

Reach::Reach(Operation *exponential, Operation *scores) {
  llvm::SetVector<Operation *> reached;
  reached.insert(exponential);
  llvm::SetVector<Operation *> ends;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (Operation *user : reached[i]->getUsers()) {
      if (user->getBlock() != exponential->getBlock() ||
          user->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (contracts(user))
        ends.insert(user);
      else
        reached.insert(user);
    }
    isSummed |= reducesBy<stablehlo::AddOp>(reached[i]);
  }
  auto isReached = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && reached.contains(op);
  };
  SmallVector<Operation *> ordered(ends.begin(), ends.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *end : ordered) {
    bool left = isReached(end->getOperand(0)),
         right = isReached(end->getOperand(1));
    if (!isStatic(end))
      continue;
    if (left != right) {
      products.push_back({end, left ? 1 : 0});
      continue;
    }
    auto isPairs = [&](unsigned operand) {
      auto count = [](Value value) {
        return cast<RankedTensorType>(value.getType()).getNumElements();
      };
      return count(end->getOperand(operand)) == count(scores->getResult(0));
    };
    if (isPairs(0) != isPairs(1))
      closed.push_back({end, isPairs(0) ? 1 : 0});
  }
}
