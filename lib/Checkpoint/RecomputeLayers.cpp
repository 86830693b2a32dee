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
// and stay, unless what the loss is made of behind them is larger than anything
// in them. What is made of constants alone belongs to no layer.
//
//===----------------------------------------------------------------------===//

#include "LayerKinds.h"

#include "sp/Checkpoint/Passes.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "sp-recompute-layers"

namespace mlir::sp {
#define GEN_PASS_DEF_RECOMPUTELAYERSPASS
#include "sp/Checkpoint/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct RecomputeLayersPass
    : sp::impl::RecomputeLayersPassBase<RecomputeLayersPass> {
  void runOnOperation() override;
};

using Kind = LayerKind;

/// The operations of a block by number.
class Layers {
public:
  Layers(Block &block, ArrayRef<AttentionOp> attentions);
  void recompute();

private:
  /// Live across the place after an operation.
  struct Cut {
    int64_t after = -1;
    llvm::SetVector<Value> live;
  };
  Cut findCut(int64_t from, int64_t to) const;
  int64_t largestBetween(int64_t from, int64_t to) const;
  void recompute(const Cut &begin, const Cut &end);
  Value findGradient(ArrayRef<OpOperand *> uses, Operation *before) const;
  int64_t numberOf(Operation *op) const { return numbers.lookup(op); }

  Block &block;
  SmallVector<AttentionOp> attentions;
  LayerKinds kinds;
  std::vector<Operation *> operations;
  DenseMap<Operation *, int64_t> numbers;
};

} // namespace

Layers::Layers(Block &block, ArrayRef<AttentionOp> attentions)
    : block(block), attentions(attentions), kinds(block, attentions.back()) {
  kinds.sinkDerivatives();
  for (Operation &op : block) {
    numbers[&op] = operations.size();
    operations.push_back(&op);
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
            kinds.is(Kind::Forward, own))
          lastUse[result] = std::max(lastUse[result], numberOf(own));
  for (int64_t number = 0; number < to; ++number) {
    Operation *op = operations[number];
    here.after = number;
    for (Value value : llvm::to_vector(here.live))
      if (lastUse[value] <= number) {
        here.live.remove(value);
        bytes -= bytesOf(value);
      }
    for (Value result : op->getResults())
      if (!kinds.is(Kind::Constant, op) && lastUse.lookup(result) > number &&
          here.live.insert(result))
        bytes += bytesOf(result);
    // The later of two alike leaves less of the last layer.
    if (number >= from && bytes <= least) {
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
  if (Operation *head = kinds.findHead()) {
    int64_t end = operations.size(), begin = cuts.back().after;
    Cut cut = findCut(numberOf(attentions.back()), numberOf(head));
    if (largestBetween(cut.after + 1, end) >
        largestBetween(begin + 1, cut.after + 1))
      cuts.push_back(cut);
  }
  for (size_t i = cuts.size(); --i > 0;)
    recompute(cuts[i - 1], cuts[i]);
}

/// Bytes of the largest value that operations of the forward make.
int64_t Layers::largestBetween(int64_t from, int64_t to) const {
  int64_t largest = 0;
  for (int64_t number = from; number < to; ++number)
    if (kinds.is(Kind::Forward, operations[number]))
      for (Value result : operations[number]->getResults())
        largest = std::max(largest, bytesOf(result));
  return largest;
}

/// A gradient that is there `before`, and which the first product or attention
/// of `uses` takes: in memory anyway.
Value Layers::findGradient(ArrayRef<OpOperand *> uses,
                           Operation *before) const {
  Operation *product = nullptr;
  Value gradient;
  for (OpOperand *use : uses) {
    Operation *own = kinds.ownerOf(*use);
    if ((!contracts(own) && !isa<AttentionBackwardOp>(own)) ||
        (product && product->isBeforeInBlock(own)))
      continue;
    for (Value operand : own->getOperands())
      if (Operation *from = operand.getDefiningOp();
          kinds.is(Kind::Gradient, from) && from->isBeforeInBlock(before)) {
        product = own;
        gradient = operand;
      }
  }
  return gradient;
}

void Layers::recompute(const Cut &begin, const Cut &end) {
  auto isInside = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || !numbers.count(op))
      return false;
    int64_t number = numbers.lookup(op);
    return number > begin.after && number <= end.after &&
           !end.live.contains(value) && !kinds.is(Kind::Constant, op) &&
           isMemoryEffectFree(op);
  };
  // Uses by gradients, and what they need in the order of the forward.
  SmallVector<OpOperand *> uses;
  Operation *first = nullptr;
  for (int64_t number = begin.after + 1; number <= end.after; ++number)
    for (Value result : operations[number]->getResults()) {
      if (!isInside(result))
        continue;
      for (OpOperand &use : result.getUses()) {
        Operation *own = kinds.ownerOf(use);
        if (kinds.is(Kind::Forward, own) || numberOf(own) <= end.after ||
            own == block.getTerminator())
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
      if (isa<BlockArgument>(value))
        arguments.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (again.insert(op))
      llvm::append_range(open, kinds.readBy(op));
  }
  SmallVector<Operation *> ordered = again.takeVector();
  llvm::sort(ordered, [&](Operation *a, Operation *b) {
    return numbers.lookup(a) < numbers.lookup(b);
  });
  OpBuilder builder(first);
  // The first layer begins with arguments.
  SmallVector<Value> inputs = (saved.empty() ? arguments : saved).takeVector();
  IRMapping mapping;
  // Not before its gradients come, whatever else could be done earlier.
  Value gradient = findGradient(uses, first);
  SmallVector<Value> all = inputs;
  if (gradient)
    all.push_back(gradient);
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, first->getLoc(), ValueRange(all).getTypes(), all);
  mapping.map(ValueRange(inputs),
              barrier->getResults().take_front(inputs.size()));
  for (Operation *op : ordered)
    builder.clone(*op, mapping);
  for (OpOperand *use : uses)
    use->set(mapping.lookup(use->get()));
}

/// any: an attention, if there is one; count: those with gradients.
static void refuse(func::FuncOp func, AttentionOp any, size_t count) {
  Location location = any ? any.getLoc() : func.getLoc();
  // JAX's functions have no place of their own.
  if (isa<UnknownLoc>(location))
    location = func->getParentOp()->getLoc();
  InFlightDiagnostic diagnostic = emitError(location);
  diagnostic << "expected two layers with gradients or more for "
                "--checkpoint=full, which computes them again, but found ";
  if (any)
    diagnostic << count << "; leave the option out";
  else
    diagnostic << "no attention that could be taken; --explain says why";
}

/// Whether the trip of a loop makes the queries of an attention's gradients by
/// products, rather than read what the forward has saved: the model has a
/// checkpoint around the body.
static bool computesAgain(AttentionBackwardOp op) {
  SmallVector<Value> open = {op.getQuery()};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *from = open.pop_back_val().getDefiningOp();
    if (!from || from->getBlock() != op->getBlock() ||
        !seen.insert(from).second)
      continue;
    if (contracts(from))
      return true;
    llvm::append_range(open, from->getOperands());
  }
  return false;
}

static void refuseLoop(Operation *inLoop, bool isAgain) {
  InFlightDiagnostic diagnostic = inLoop->emitError(
      "expected layers outside of loops to compute again with "
      "--checkpoint=full; ");
  if (isAgain)
    diagnostic << "the body of the loop is a jax.checkpoint already, so that "
                  "its gradients compute it again as it is written: leave the "
                  "option out";
  else
    diagnostic << "write jax.checkpoint around the body of the loop";
  diagnostic << ", or use --checkpoint=attention-out";
}

void RecomputeLayersPass::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isPrivate())
    return;
  SmallVector<AttentionOp> attentions;
  Operation *inLoop = nullptr;
  AttentionOp any;
  func.walk([&](AttentionOp op) {
    if (!any)
      any = op;
    if (op->getBlock() != &func.front())
      inLoop = op;
    else if (op.getLse())
      attentions.push_back(op);
  });
  if (inLoop) {
    bool isAgain = false;
    func.walk([&](AttentionBackwardOp op) {
      isAgain |= op->getBlock() != &func.front() && computesAgain(op);
    });
    refuseLoop(inLoop, isAgain);
    return signalPassFailure();
  }
  if (attentions.size() < 2) {
    refuse(func, any, attentions.size());
    return signalPassFailure();
  }
  Layers(func.front(), attentions).recompute();
}

#undef DEBUG_TYPE
