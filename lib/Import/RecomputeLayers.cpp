//===- RecomputeLayers.cpp - What gradients compute again -----------------===//
//
//   forward                     backward
//     %1 = layer(%0)
//     %2 = layer(%1)              gradient of %2, which reads values of its
//     ...                         layer:
//                                   %b = optimization_barrier %1
//                                   the layer again, of %b
//
// A layer reaches from one attention to the next, cut where the fewest bytes
// live: the values that live there are saved, others of the layer that its
// gradients read are computed again. Those of the last layer are needed at once
// and stay.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include "sp/IR/SP.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "sp-recompute-layers"

namespace mlir::sp {
#define GEN_PASS_DEF_FORGETCHECKPOINTSPASS
#define GEN_PASS_DEF_RECOMPUTELAYERSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct ForgetCheckpointsPass
    : sp::impl::ForgetCheckpointsPassBase<ForgetCheckpointsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::OptimizationBarrierOp barrier) {
      barrier->replaceAllUsesWith(barrier->getOperands());
      barrier.erase();
    });
  }
};

struct RecomputeLayersPass
    : sp::impl::RecomputeLayersPassBase<RecomputeLayersPass> {
  void runOnOperation() override;
};

/// The operations of a block by number, and the forward of its attentions.
class Layers {
public:
  Layers(Block &block, ArrayRef<AttentionOp> attentions);
  /// Computes all layers but the last again.
  void recompute();

private:
  /// Live across the place after an operation.
  struct Cut {
    int64_t after = -1;
    llvm::SetVector<Value> live;
  };
  Cut findCut(int64_t from, int64_t to) const;
  void recompute(const Cut &begin, const Cut &end);
  bool isForward(Operation *op) const { return forward.contains(op); }
  int64_t numberOf(Operation *op) const {
    return numbers.lookup(block.findAncestorOpInBlock(*op));
  }

  Block &block;
  SmallVector<AttentionOp> attentions;
  std::vector<Operation *> operations;
  DenseMap<Operation *, int64_t> numbers;
  /// What the last attention is made of, and itself.
  llvm::DenseSet<Operation *> forward;
};

} // namespace

Layers::Layers(Block &block, ArrayRef<AttentionOp> attentions)
    : block(block), attentions(attentions) {
  for (Operation &op : block) {
    numbers[&op] = operations.size();
    operations.push_back(&op);
  }
  SmallVector<Operation *> open = {attentions.back()};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!forward.insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *from = operand.getDefiningOp())
          if (Operation *own = block.findAncestorOpInBlock(*from))
            open.push_back(own);
    });
  }
}

static int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() *
                    llvm::divideCeil(
                        type.getElementType().getIntOrFloatBitWidth(), 8)
              : 0;
}

/// The place between operations `from` and `to` where the fewest bytes of the
/// forward live.
Layers::Cut Layers::findCut(int64_t from, int64_t to) const {
  Cut best, here;
  int64_t least = std::numeric_limits<int64_t>::max(), bytes = 0;
  DenseMap<Value, int64_t> lastUse;
  for (Operation *op : operations)
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers())
        if (Operation *own = block.findAncestorOpInBlock(*user);
            own && isForward(own))
          lastUse[result] = std::max(lastUse[result], numberOf(own));
  for (int64_t number = 0; number < to; ++number) {
    Operation *op = operations[number];
    here.after = number;
    for (Value value : llvm::to_vector(here.live))
      if (lastUse[value] <= number) {
        here.live.remove(value);
        bytes -= bytesOf(value);
      }
    // Constants are made wherever they are read.
    bool isConstant = op->hasTrait<OpTrait::ConstantLike>();
    for (Value result : op->getResults())
      if (!isConstant && lastUse.lookup(result) > number &&
          here.live.insert(result))
        bytes += bytesOf(result);
    if (number >= from && bytes < least) {
      least = bytes;
      best = here;
    }
  }
  return best;
}

void Layers::recompute() {
  // The first layer begins with the arguments.
  SmallVector<Cut> cuts(1);
  for (size_t i = 0; i + 1 < attentions.size(); ++i)
    cuts.push_back(
        findCut(numberOf(attentions[i]), numberOf(attentions[i + 1])));
  for (size_t i = cuts.size(); --i > 0;)
    recompute(cuts[i - 1], cuts[i]);
}

void Layers::recompute(const Cut &begin, const Cut &end) {
  auto isInside = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || !numbers.count(op))
      return false;
    int64_t number = numbers.lookup(op);
    return number > begin.after && number <= end.after &&
           !end.live.contains(value) && isMemoryEffectFree(op);
  };
  // Uses by gradients, and what they need in the order of the forward.
  SmallVector<OpOperand *> uses;
  Operation *first = nullptr;
  for (int64_t number = begin.after + 1; number <= end.after; ++number)
    for (Value result : operations[number]->getResults()) {
      if (!isInside(result))
        continue;
      for (OpOperand &use : result.getUses()) {
        Operation *own = block.findAncestorOpInBlock(*use.getOwner());
        if (isForward(own) || numberOf(own) <= end.after)
          continue;
        uses.push_back(&use);
        if (!first || own->isBeforeInBlock(first))
          first = own;
      }
    }
  if (uses.empty())
    return;
  llvm::SetVector<Operation *> again;
  SmallVector<Value> open =
      llvm::map_to_vector(uses, [](OpOperand *use) { return use->get(); });
  llvm::SetVector<Value> saved, arguments;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!isInside(value)) {
      if (begin.live.contains(value))
        saved.insert(value);
      if (isa<BlockArgument>(value) && value.getParentBlock() == &block)
        arguments.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (again.insert(op))
      op->walk([&](Operation *inner) {
        llvm::append_range(open, inner->getOperands());
      });
  }
  SmallVector<Operation *> ordered = again.takeVector();
  llvm::sort(ordered, [&](Operation *a, Operation *b) {
    return numbers.lookup(a) < numbers.lookup(b);
  });
  OpBuilder builder(first);
  IRMapping mapping;
  // The first layer begins with arguments.
  SmallVector<Value> inputs = (saved.empty() ? arguments : saved).takeVector();
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, first->getLoc(), ValueRange(inputs).getTypes(), inputs);
  mapping.map(ValueRange(inputs), barrier->getResults());
  for (Operation *op : ordered)
    builder.clone(*op, mapping);
  for (OpOperand *use : uses)
    use->set(mapping.lookup(use->get()));
}

void RecomputeLayersPass::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isPrivate())
    return;
  SmallVector<AttentionOp> attentions;
  Operation *inLoop = nullptr;
  func.walk([&](AttentionOp op) {
    if (op->getBlock() != &func.front())
      inLoop = op;
    else if (op.getLse())
      attentions.push_back(op);
  });
  if (inLoop) {
    inLoop->emitError("expected layers outside of loops to compute again with "
                      "--checkpoint=full; write jax.checkpoint around the body "
                      "of the loop, or use --checkpoint=attention-out");
    return signalPassFailure();
  }
  if (attentions.size() < 2) {
    func.emitError("expected two layers with gradients or more for "
                   "--checkpoint=full, which computes all but the last again, "
                   "but found ")
        << attentions.size() << "; leave the option out";
    return signalPassFailure();
  }
  Layers(func.front(), attentions).recompute();
}
