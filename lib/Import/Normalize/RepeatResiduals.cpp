//===- RepeatResiduals.cpp - Saves what is repeated once ------------------===//
//
//   forward                             backward
//     %r = broadcast_in_dim %k            %k = read saved k
//     save %k, no more %r          ->     %r = broadcast_in_dim %k
//
//===----------------------------------------------------------------------===//

#include "sp/Import/Passes.h"
#include "sp/StableHLO/LoopPairs.h"
#include "sp/StableHLO/Operations.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::sp {
#define GEN_PASS_DEF_REPEATRESIDUALSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

static int64_t numElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// The operations of a block by which a saved value repeats a smaller one, the
/// last first; none where it repeats nothing.
static SmallVector<Operation *> repetition(Value saved, Block &body) {
  SmallVector<Operation *> all;
  size_t kept = 0;
  Value value = saved;
  int64_t least = numElements(saved);
  while (Operation *op = value.getDefiningOp()) {
    if (op->getBlock() != &body || !isLayout(op))
      break;
    all.push_back(op);
    value = op->getOperand(0);
    if (numElements(value) < least) {
      least = numElements(value);
      kept = all.size();
    }
  }
  all.truncate(kept);
  return all;
}

/// Has one residual saved before it is repeated.
static bool narrow(LoopPair &loops) {
  for (Residual &residual : loops.residuals) {
    if (llvm::all_of(residual.uses, [](Value use) { return use.use_empty(); }))
      continue;
    SmallVector<Operation *> steps = repetition(residual.saved, loops.ahead());
    // A repeated number is no more than a constant.
    if (steps.empty() || numElements(steps.back()->getOperand(0)) == 1)
      continue;
    Value source = steps.back()->getOperand(0);
    IRMapping mapping;
    mapping.map(source, loops.handOver(source, residual, residual.read));
    OpBuilder builder(residual.read);
    for (Operation *step : llvm::reverse(steps))
      builder.clone(*step, mapping);
    for (Value use : residual.uses)
      use.replaceAllUsesWith(mapping.lookup(residual.saved));
    return true;
  }
  return false;
}

namespace {

struct RepeatResidualsPass
    : sp::impl::RepeatResidualsPassBase<RepeatResidualsPass> {
  void runOnOperation() override {
    while (changeLoopPair(getOperation(), narrow))
      ;
  }
};

} // namespace
