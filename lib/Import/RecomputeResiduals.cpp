//===- RecomputeResiduals.cpp - Weights that a loop need not save ---------===//
//
//   forward                              backward, in reverse
//     %s = dot_general %q, %k              %e = read saved e
//     %e = exponential %s            ->    %q, %k = read saved q, k
//     save %q, %k, %e                      %s = dot_general %q, %k
//                                          %e = exponential %s
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include "sp/Import/Passes.h"
#include "sp/StableHLO/Loops.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::sp {
#define GEN_PASS_DEF_RECOMPUTERESIDUALSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// A scalar of a loop's body where the counter has a value.
static std::optional<int64_t> evaluateAt(Value value, Value counter,
                                         int64_t at) {
  if (value == counter)
    return at;
  if (std::optional<int64_t> constant = constantInteger(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  SmallVector<int64_t, 3> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = evaluateAt(operand, counter, at);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  if (isa<stablehlo::AddOp>(op))
    return operands[0] + operands[1];
  if (isa<stablehlo::SubtractOp>(op))
    return operands[0] - operands[1];
  if (isa<stablehlo::ConvertOp>(op))
    return operands[0];
  if (isa<stablehlo::SelectOp>(op))
    return operands[0] != 0 ? operands[1] : operands[2];
  auto compare = dyn_cast<stablehlo::CompareOp>(op);
  if (compare &&
      compare.getComparisonDirection() == stablehlo::ComparisonDirection::LT)
    return operands[0] < operands[1];
  return std::nullopt;
}

/// Whether starts are `row(trip)` and zeros in every trip.
static bool startsAt(OperandRange starts, Value counter, int64_t trips,
                     function_ref<int64_t(int64_t)> row) {
  for (int64_t trip = 0; trip < trips; ++trip)
    for (auto [dim, start] : llvm::enumerate(starts))
      if (evaluateAt(start, counter, trip) != (dim == 0 ? row(trip) : 0))
        return false;
  return true;
}

/// What a value is without a first dimension of 1, or null.
static Value withoutRow(Value update) {
  Operation *op = update.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op))
    return Value();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(update.getType());
  bool keeps = to.getRank() == from.getRank() + 1 && to.getDimSize(0) == 1 &&
               to.getShape().drop_front() == from.getShape();
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      keeps &= dim == int64_t(i) + 1;
  return keeps ? op->getOperand(0) : Value();
}

namespace {

/// A value of the forward loop's body, and where the backward loop reads it.
struct Residual {
  Value saved;
  stablehlo::DynamicSliceOp read;
  SmallVector<Value> uses; ///< the read without its first dimension
};

class LoopPair {
public:
  LoopPair(stablehlo::WhileOp forward, stablehlo::WhileOp backward)
      : forward(forward), backward(backward),
        builder(OpBuilder::atBlockBegin(&backward.getBody().front())) {}
  void run();

private:
  void findResiduals();
  std::optional<Residual> readResidual(unsigned result, unsigned operand);
  void findPairs();
  bool isMadeOfConstants(Value value, unsigned depth = 32) const;
  Value rebuild(Value value, unsigned depth = 128);
  Value rebuildOutside(Value value, unsigned depth);
  Value readAgain(const Residual &residual);
  Value cloneWith(Operation *op, Value result,
                  function_ref<Value(Value)> operandOf);

  stablehlo::WhileOp forward, backward;
  OpBuilder builder;
  std::optional<CountedLoop> ahead, back;
  SmallVector<Residual> residuals;
  /// Score contractions, and all that is made of them without another one.
  llvm::SmallPtrSet<Operation *, 4> scores;
  llvm::SmallPtrSet<Operation *, 32> pairs;
  IRMapping mapping;
};

struct RecomputeResidualsPass
    : sp::impl::RecomputeResidualsPassBase<RecomputeResidualsPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::WhileOp> loops;
    getOperation().walk(
        [&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    for (stablehlo::WhileOp forward : loops)
      for (stablehlo::WhileOp backward : loops)
        if (forward != backward && forward->getBlock() == backward->getBlock())
          LoopPair(forward, backward).run();
    eraseDead(getOperation());
  }
};

} // namespace

std::optional<Residual> LoopPair::readResidual(unsigned result,
                                               unsigned operand) {
  Block &body = forward.getBody().front(), &other = backward.getBody().front();
  BlockArgument stack = body.getArgument(result);
  auto update = body.getTerminator()
                    ->getOperand(result)
                    .getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  if (!update || update.getOperand() != stack || !stack.hasOneUse() ||
      !startsAt(update.getStartIndices(), body.getArgument(ahead->counter),
                ahead->trips, [](int64_t trip) { return trip; }))
    return std::nullopt;
  Residual residual;
  residual.saved = withoutRow(update.getUpdate());
  BlockArgument saved = other.getArgument(operand);
  if (!residual.saved || other.getTerminator()->getOperand(operand) != saved)
    return std::nullopt;
  for (Operation *user : saved.getUsers()) {
    if (user == other.getTerminator())
      continue;
    auto slice = dyn_cast<stablehlo::DynamicSliceOp>(user);
    int64_t last = ahead->trips - 1;
    if (!slice || slice.getOperand() != saved ||
        slice.getType() != update.getUpdate().getType() ||
        !startsAt(slice.getStartIndices(), other.getArgument(back->counter),
                  back->trips, [&](int64_t trip) { return last - trip; }))
      return std::nullopt;
    residual.read = slice;
    for (Operation *reshape : slice->getUsers()) {
      if (!isa<stablehlo::ReshapeOp>(reshape) ||
          reshape->getResult(0).getType() != residual.saved.getType())
        return std::nullopt;
      residual.uses.push_back(reshape->getResult(0));
    }
  }
  return residual.read ? std::optional(residual) : std::nullopt;
}

void LoopPair::findResiduals() {
  ahead = countLoop(forward);
  back = countLoop(backward);
  if (!ahead || !back || ahead->first != 0 || back->first != 0 ||
      ahead->trips != back->trips)
    return;
  for (unsigned operand = 0; operand < backward->getNumOperands(); ++operand) {
    auto result = dyn_cast<OpResult>(backward->getOperand(operand));
    if (result && result.getOwner() == forward)
      if (auto residual = readResidual(result.getResultNumber(), operand))
        residuals.push_back(std::move(*residual));
  }
}

void LoopPair::findPairs() {
  Block &body = forward.getBody().front();
  for (Operation &op : body)
    if (isa<stablehlo::ExpOp>(op))
      if (Operation *contraction = findScores(&op))
        scores.insert(contraction);
  SmallVector<Operation *> open(scores.begin(), scores.end());
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers())
      if (user->getBlock() == &body && !contracts(user) &&
          !user->hasTrait<OpTrait::IsTerminator>() && pairs.insert(user).second)
        open.push_back(user);
}

bool LoopPair::isMadeOfConstants(Value value, unsigned depth) const {
  Operation *op = lookThroughLoops(value).getDefiningOp();
  return op && depth > 0 && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isMadeOfConstants(operand, depth - 1);
         });
}

Value LoopPair::cloneWith(Operation *op, Value result,
                          function_ref<Value(Value)> operandOf) {
  if (!isMemoryEffectFree(op))
    return Value();
  for (Value operand : op->getOperands()) {
    Value made = operandOf(operand);
    if (!made)
      return Value();
    mapping.map(operand, made);
  }
  builder.clone(*op, mapping);
  return mapping.lookup(result);
}

Value LoopPair::readAgain(const Residual &residual) {
  // The index is made of the counter alone: see evaluateAt.
  std::function<Value(Value)> again = [&](Value value) -> Value {
    if (mapping.contains(value))
      return mapping.lookup(value);
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == builder.getInsertionBlock()
               ? cloneWith(op, value, again)
               : value;
  };
  Value first = residual.uses.front();
  Value made = cloneWith(first.getDefiningOp(), first, again);
  // One read for all, so that a value is one value.
  for (Value use : residual.uses)
    use.replaceAllUsesWith(made);
  mapping.map(residual.saved, made);
  return made;
}

/// What lies outside the forward loop, inside the backward one.
Value LoopPair::rebuildOutside(Value value, unsigned depth) {
  Block &other = backward.getBody().front();
  for (auto [number, operand] : llvm::enumerate(backward->getOperands()))
    if (operand == value &&
        other.getTerminator()->getOperand(number) == other.getArgument(number))
      return other.getArgument(number);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() > 1 || depth == 0)
    return Value();
  return cloneWith(op, value,
                   [&](Value operand) { return rebuild(operand, depth - 1); });
}

Value LoopPair::rebuild(Value value, unsigned depth) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Value outside = lookThroughLoops(value);
  Operation *op = outside.getDefiningOp();
  if (depth == 0)
    return Value();
  if (outside.getParentBlock() != &forward.getBody().front())
    return rebuildOutside(outside, depth);
  for (const Residual &residual : residuals)
    if (residual.saved == value && !residual.uses.empty() &&
        !pairs.contains(op) && !isMadeOfConstants(value))
      return readAgain(residual);
  if (!op)
    return Value();
  if (contracts(op) && !scores.contains(op))
    return Value();
  return cloneWith(op, value,
                   [&](Value operand) { return rebuild(operand, depth - 1); });
}

void LoopPair::run() {
  findResiduals();
  findPairs();
  if (residuals.empty() || pairs.empty())
    return;
  SmallVector<std::pair<Residual *, Value>> rebuilt;
  for (Residual &residual : residuals) {
    Operation *op = residual.saved.getDefiningOp();
    bool isPairs = (op && pairs.contains(op)) || scores.contains(op) ||
                   isMadeOfConstants(residual.saved);
    if (!isPairs)
      continue;
    Value again = rebuild(residual.saved);
    if (!again)
      return;
    rebuilt.push_back({&residual, again});
  }
  for (auto [residual, again] : rebuilt)
    for (Value use : residual->uses)
      use.replaceAllUsesWith(again);
}
