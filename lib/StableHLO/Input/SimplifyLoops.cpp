//===- SimplifyLoops.cpp - No values carried for nothing ------------------===//
//
//   while(%mask, %x) { ... return %mask, %y }    ->   while(%x) { ... return %y
//   }
//
//===----------------------------------------------------------------------===//

#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SIMPLIFYLOOPSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Adds the arguments of `body` that `value` is computed from.
static void addSources(Value value, Block &body, llvm::BitVector &needed,
                       llvm::SmallPtrSetImpl<Operation *> &seen) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument && argument.getOwner() == &body)
      needed.set(argument.getArgNumber());
    if (argument)
      continue;
    Operation *op = body.findAncestorOpInBlock(*next.getDefiningOp());
    if (!op || !seen.insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(open, inner->getOperands());
    });
  }
}

/// The carried values that something outside or the condition depends on.
static llvm::BitVector findNeeded(stablehlo::WhileOp loop) {
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  llvm::BitVector needed(loop->getNumResults());
  llvm::SmallPtrSet<Operation *, 32> seen;
  for (unsigned i = 0; i < needed.size(); ++i)
    if (!loop->getResult(i).use_empty() ||
        !condition.getArgument(i).use_empty())
      needed.set(i);
  for (Operation &op : body.without_terminator())
    if (!isMemoryEffectFree(&op) && seen.insert(&op).second)
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          addSources(operand, body, needed, seen);
      });
  llvm::BitVector followed(needed.size());
  for (int i = needed.find_first(); i >= 0;) {
    followed.set(i);
    addSources(body.getTerminator()->getOperand(i), body, needed, seen);
    llvm::BitVector open = needed;
    open.reset(followed);
    i = open.find_first();
  }
  return needed;
}

/// The loop that takes its place, or itself.
static stablehlo::WhileOp simplify(stablehlo::WhileOp loop) {
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  for (unsigned i = 0; i < loop->getNumResults(); ++i)
    if (body.getTerminator()->getOperand(i) == body.getArgument(i))
      loop->getResult(i).replaceAllUsesWith(loop->getOperand(i));
  llvm::BitVector needed = findNeeded(loop);
  if (needed.all())
    return loop;
  // What only dead values are computed from goes with them.
  llvm::BitVector dead = needed;
  dead.flip();
  Operation *yield = body.getTerminator();
  yield->eraseOperands(dead);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  condition.eraseArguments(dead);
  body.eraseArguments(dead);

  OperationState state(loop.getLoc(), loop->getName());
  for (int i : needed.set_bits()) {
    state.operands.push_back(loop->getOperand(i));
    state.types.push_back(loop->getResult(i).getType());
  }
  state.addAttributes(loop->getDiscardableAttrs().empty()
                          ? ArrayRef<NamedAttribute>()
                          : llvm::to_vector(loop->getDiscardableAttrs()));
  state.addRegion()->takeBody(loop.getCond());
  state.addRegion()->takeBody(loop.getBody());
  OpBuilder builder(loop);
  Operation *smaller = builder.create(state);
  unsigned next = 0;
  for (int i : needed.set_bits())
    loop->getResult(i).replaceAllUsesWith(smaller->getResult(next++));
  loop.erase();
  return cast<stablehlo::WhileOp>(smaller);
}

/// Later loops first: what one reads for nothing an earlier one need not carry.
/// Outer ones before those inside, which may go with what is dead.
static void simplifyIn(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      Operation *now = &op;
      if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
        now = simplify(loop);
      for (Region &inner : now->getRegions())
        simplifyIn(inner);
    }
}

namespace {

class SimplifyLoopsPass
    : public sp::impl::SimplifyLoopsPassBase<SimplifyLoopsPass> {
public:
  void runOnOperation() override {
    for (Region &region : getOperation()->getRegions())
      simplifyIn(region);
    eraseDead(getOperation());
  }
};

} // namespace
