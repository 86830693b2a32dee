//===- Reach.cpp - The contractions around an exponential -----------------===//

#include "Match/Reach.h"

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

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

/// Whether a use scales, lays out, adds to or guards all of what it reads,
/// element by element. Slices and pads take some, as scans do.
static bool keepsPowers(OpOperand &use) {
  Operation *op = use.getOwner();
  return isAdditive(op) || isLayout(op) || isIdentity(op) ||
         isa<stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp,
             stablehlo::ClampOp, stablehlo::ConcatenateOp>(op) ||
         (isa<stablehlo::DivOp>(op) && use.getOperandNumber() == 0);
}

/// The same of a sum, which is scaled by one number alone: with others it is
/// part of another one.
static bool keepsSum(OpOperand &use) {
  Operation *op = use.getOwner();
  return keepsPowers(use) && (!isa<stablehlo::MulOp, stablehlo::DivOp>(op) ||
                              isUniform(otherOperand(op, use.get())));
}

static bool normalizes(OpOperand &sum) {
  Operation *op = sum.getOwner();
  return isa<stablehlo::LogOp>(op) ||
         (isa<stablehlo::DivOp>(op) && sum.getOperandNumber() == 1) ||
         (isa<stablehlo::PowOp>(op) && sum.getOperandNumber() == 0);
}

bool mlir::sp::isNormalized(Operation *exponential) {
  llvm::SetVector<Operation *> powers, sums;
  powers.insert(exponential);
  for (size_t i = 0; i < powers.size(); ++i)
    for (OpOperand &use : powers[i]->getUses())
      if (reducesBy<stablehlo::AddOp>(use.getOwner()))
        sums.insert(use.getOwner());
      else if (keepsPowers(use))
        powers.insert(use.getOwner());
  for (size_t i = 0; i < sums.size(); ++i)
    for (OpOperand &use : sums[i]->getUses()) {
      if (normalizes(use))
        return true;
      if (reducesBy<stablehlo::AddOp>(use.getOwner()) || keepsSum(use))
        sums.insert(use.getOwner());
    }
  return false;
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
