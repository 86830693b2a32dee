// Gradients of attention divide a step of training: what depends on them comes
// after the layer, what does not is forward, or leads from the loss to them.

#include "LayerKinds.h"

#include "sp/StableHLO/Operations.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::sp;

LayerKinds::LayerKinds(Block &block, AttentionOp last)
    : block(block), last(last) {
  classify();
  SmallVector<Operation *> ends = findLoss();
  hasLoss = !ends.empty();
  llvm::DenseSet<Operation *> layers = sourcesOf(this->last);
  findDerivatives(layers);
  if (!hasLoss)
    return;
  ends.push_back(this->last);
  llvm::DenseSet<Operation *> forward = sourcesOf(ends);
  forward.insert(ends.begin(), ends.end());
  for (auto &[op, kind] : kinds)
    if (kind == LayerKind::Forward && !forward.contains(op))
      kind = LayerKind::Gradient;
}

SmallVector<Value> LayerKinds::readBy(Operation *op) const {
  SmallVector<Value> values;
  forEachRead(op, [&](Value value) {
    if (value.getParentBlock() == &block)
      values.push_back(value);
  });
  return values;
}

/// What depends on gradients of attention, what on nothing, and the rest.
void LayerKinds::classify() {
  for (Operation &op : block) {
    SmallVector<Value> values = readBy(&op);
    auto isMadeOf = [this](LayerKind kind) {
      return
          [this, kind](Value value) { return is(kind, value.getDefiningOp()); };
    };
    LayerKind kind = LayerKind::Forward;
    if (isa<AttentionBackwardOp>(op) ||
        llvm::any_of(values, isMadeOf(LayerKind::Gradient)))
      kind = LayerKind::Gradient;
    else if (isMemoryEffectFree(&op) &&
             llvm::all_of(values, isMadeOf(LayerKind::Constant)))
      kind = LayerKind::Constant;
    kinds[&op] = kind;
  }
}

/// What operations are made of, constants apart.
llvm::DenseSet<Operation *>
LayerKinds::sourcesOf(ArrayRef<Operation *> ops) const {
  llvm::DenseSet<Operation *> sources;
  SmallVector<Operation *> open(ops);
  while (!open.empty())
    for (Value value : readBy(open.pop_back_val()))
      if (Operation *op = value.getDefiningOp();
          op && !is(LayerKind::Constant, op) && sources.insert(op).second)
        open.push_back(op);
  return sources;
}

SmallVector<Operation *> LayerKinds::findLoss() const {
  SmallVector<Operation *> loss;
  for (Value value : block.getTerminator()->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType());
        type && type.getRank() == 0 && isa<FloatType>(type.getElementType()) &&
        is(LayerKind::Forward, value.getDefiningOp()))
      loss.push_back(value.getDefiningOp());
  return loss;
}

/// layers: what the last attention is made of.
void LayerKinds::findDerivatives(const llvm::DenseSet<Operation *> &layers) {
  // Products, with weights or of gradients of weights, are worth their place.
  for (Operation &op : block)
    if (is(LayerKind::Forward, &op) && !layers.contains(&op) &&
        isMemoryEffectFree(&op) && !contracts(&op) && !isa<AttentionOp>(op) &&
        llvm::any_of(readBy(&op), [&](Value value) {
          Operation *from = value.getDefiningOp();
          return layers.contains(from) || is(LayerKind::Derivative, from);
        }))
      kinds[&op] = LayerKind::Derivative;
  for (Operation &op : llvm::reverse(block))
    if (is(LayerKind::Derivative, &op) &&
        !llvm::all_of(op.getUses(), [&](OpOperand &use) {
          Operation *reader = ownerOf(use);
          return reader != block.getTerminator() &&
                 (is(LayerKind::Gradient, reader) ||
                  is(LayerKind::Derivative, reader));
        }))
      kinds[&op] = LayerKind::Forward;
}

void LayerKinds::sinkDerivatives() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!is(LayerKind::Derivative, &op) || op.use_empty())
      continue;
    Operation *first = nullptr;
    for (OpOperand &use : op.getUses())
      if (Operation *reader = ownerOf(use);
          !first || reader->isBeforeInBlock(first))
        first = reader;
    op.moveBefore(first);
  }
}

Operation *LayerKinds::findHead() const {
  if (!hasLoss)
    return nullptr;
  for (Operation &op : llvm::reverse(block)) {
    if (&op == last)
      return nullptr;
    bool hasProduct = false;
    op.walk([&](Operation *inner) { hasProduct |= contracts(inner); });
    if (hasProduct && is(LayerKind::Forward, &op))
      return &op;
  }
  return nullptr;
}
