//===- RecomputeResiduals.cpp - Weights that a loop need not save ---------===//
//
//   forward                              backward, in reverse
//     %s = dot_general %q, %k              %e = read saved e
//     %e = exponential %s            ->    %q, %k = read saved q, k
//     save %q, %k, %e                      %s = dot_general %q, %k
//                                          %e = exponential %s
//
//===----------------------------------------------------------------------===//

#include "Normalize/Softmaxes.h"

#include "sp/Import/Passes.h"
#include "sp/StableHLO/LoopPairs.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_RECOMPUTERESIDUALSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

class Recomputation {
public:
  explicit Recomputation(LoopPair &loops)
      : loops(loops), builder(OpBuilder::atBlockBegin(&loops.behind())) {}
  void run();

private:
  void findPairs();
  bool isBesidePairs(Value value) const;
  bool isOfFewer(Value value) const;
  Value rebuild(Value value, unsigned depth = 128);
  Value rebuildOutside(Value value, unsigned depth);
  Value readAgain(const Residual &residual);
  Value readRow(stablehlo::DynamicSliceOp slice, unsigned depth);
  Value cloneWith(Operation *op, Value result,
                  function_ref<Value(Value)> operandOf);

  LoopPair &loops;
  OpBuilder builder;
  /// Score contractions, and all that is made of them without another one.
  llvm::SmallPtrSet<Operation *, 4> scores;
  llvm::SmallPtrSet<Operation *, 32> pairs;
  /// Masks and the like that are made again.
  DenseSet<Value> cheap;
  IRMapping mapping;
};

struct RecomputeResidualsPass
    : sp::impl::RecomputeResidualsPassBase<RecomputeResidualsPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::WhileOp> loops;
    getOperation().walk(
        [&](stablehlo::WhileOp loop) { loops.push_back(loop); });
    for (stablehlo::WhileOp &forward : loops)
      for (stablehlo::WhileOp &backward : loops)
        if (std::optional<LoopPair> pair = LoopPair::find(forward, backward)) {
          Recomputation(*pair).run();
          forward = pair->forward;
          backward = pair->backward;
        }
    eraseDead(getOperation());
  }
};

} // namespace

void Recomputation::findPairs() {
  Block &body = loops.ahead();
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

/// Whether a value, or a layout of it, goes into what is made of scores, as a
/// mask does.
bool Recomputation::isBesidePairs(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return pairs.contains(user) ||
           (isLayout(user) && isBesidePairs(user->getResult(0)));
  });
}

/// Whether a few element-wise operations make a value of ones with fewer
/// elements, and of what is the same in all trips.
bool Recomputation::isOfFewer(Value value) const {
  constexpr size_t most = 64;
  SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    Value source = lookThroughLoops(open[i]);
    if (source.getParentBlock() != &loops.ahead() ||
        typeOf(source).getNumElements() < typeOf(value).getNumElements())
      continue;
    Operation *op = source.getDefiningOp();
    if (!op || open.size() > most ||
        (!isElementwise(op) && !isLayout(op) && op->getNumOperands() != 0))
      return false;
    open.insert_range(op->getOperands());
  }
  return true;
}

Value Recomputation::cloneWith(Operation *op, Value result,
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

Value Recomputation::readAgain(const Residual &residual) {
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
Value Recomputation::rebuildOutside(Value value, unsigned depth) {
  Block &other = loops.behind();
  for (auto [number, operand] : llvm::enumerate(loops.backward->getOperands()))
    if (operand == value &&
        other.getTerminator()->getOperand(number) == other.getArgument(number))
      return other.getArgument(number);
  Operation *op = value.getDefiningOp();
  if (!op && value.getParentBlock() == loops.backward->getBlock()) {
    Value carried = loops.carry(value);
    mapping.map(value, carried);
    return carried;
  }
  if (!op || op->getNumRegions() > 1 || depth == 0)
    return Value();
  return cloneWith(op, value,
                   [&](Value operand) { return rebuild(operand, depth - 1); });
}

/// The row that a trip of the forward reads of what is outside, such as what a
/// scan is over.
Value Recomputation::readRow(stablehlo::DynamicSliceOp slice, unsigned depth) {
  const Residual &model = loops.residuals.front();
  bool isRow = lookThroughLoops(slice.getOperand()) != slice.getOperand() &&
               slice.getSliceSizes().front() == 1 &&
               loops.startsAtTrip(slice.getStartIndices(), /*inForward=*/true);
  if (!isRow || model.uses.empty())
    return Value();
  Value known = mapping.lookupOrNull(model.saved);
  if (!known)
    known = readAgain(model);
  Value stack = rebuild(slice.getOperand(), depth);
  if (!stack)
    return Value();
  Value first =
      known.getDefiningOp()->getOperand(0).getDefiningOp()->getOperand(1);
  Value zero = stablehlo::ConstantOp::create(
      builder, slice.getLoc(),
      cast<ElementsAttr>(builder.getZeroAttr(first.getType())));
  SmallVector<Value> starts(slice.getStartIndices().size(), zero);
  starts[0] = first;
  Value again = stablehlo::DynamicSliceOp::create(
      builder, slice.getLoc(), slice.getType(), stack, starts,
      slice.getSliceSizes());
  mapping.map(slice.getResult(), again);
  return again;
}

Value Recomputation::rebuild(Value value, unsigned depth) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Value outside = lookThroughLoops(value);
  Operation *op = outside.getDefiningOp();
  if (depth == 0)
    return Value();
  if (outside.getParentBlock() != &loops.ahead())
    return rebuildOutside(outside, depth);
  for (const Residual &residual : loops.residuals)
    if (residual.saved == value && !residual.uses.empty() &&
        !pairs.contains(op) && !isMadeOfConstants(value) &&
        !cheap.contains(value))
      return readAgain(residual);
  if (!op)
    return Value();
  if (contracts(op) && !scores.contains(op))
    return Value();
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
    if (Value again = readRow(slice, depth - 1))
      return again;
  return cloneWith(op, value,
                   [&](Value operand) { return rebuild(operand, depth - 1); });
}

void Recomputation::run() {
  findPairs();
  if (pairs.empty())
    return;
  SmallVector<std::pair<Residual *, Value>> rebuilt;
  for (Residual &residual : loops.residuals) {
    Value saved = residual.saved;
    if (!isBesidePairs(saved) || !isOfFewer(saved))
      continue;
    cheap.insert(saved);
    if (Value again = rebuild(saved))
      rebuilt.push_back({&residual, again});
    else
      cheap.erase(saved);
  }
  for (Residual &residual : loops.residuals) {
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
