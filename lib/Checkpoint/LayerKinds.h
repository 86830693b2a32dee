/// What the operations of a block with attention and its gradients are for.
///
///   kind         operations
///   constant     made of constants alone
///   forward      what the last attention and the loss are made of; the loss is
///                the scalars that the block returns, those of gradients apart.
///                Without one, all that depends on no attention's gradients
///   derivative   depend on no attention's gradients, but nothing else reads
///                them: the slope of a function at a value of a layer, say
///   gradient     the rest
#ifndef SP_LIB_CHECKPOINT_LAYERKINDS_H
#define SP_LIB_CHECKPOINT_LAYERKINDS_H

#include "sp/IR/SP.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::sp {

enum class LayerKind { Constant, Forward, Derivative, Gradient };

class LayerKinds {
public:
  LayerKinds(Block &block, AttentionOp last);

  bool is(LayerKind kind, Operation *op) const {
    auto entry = kinds.find(op);
    return entry != kinds.end() && entry->second == kind;
  }
  /// Values of the block that an operation or its regions read.
  SmallVector<Value> readBy(Operation *op) const;
  /// The operation of the block that the use belongs to.
  Operation *ownerOf(OpOperand &use) const {
    return block.findAncestorOpInBlock(*use.getOwner());
  }
  /// The last product that the loss is made of, or null.
  Operation *findHead() const;
  /// Moves derivatives to the first gradient that reads them, wherever the
  /// model writes them.
  void sinkDerivatives();

private:
  void classify();
  llvm::DenseSet<Operation *> sourcesOf(ArrayRef<Operation *> ops) const;
  SmallVector<Operation *> findLoss() const;
  void findDerivatives(const llvm::DenseSet<Operation *> &layers);

  Block &block;
  Operation *last;
  bool hasLoss = false;
  DenseMap<Operation *, LayerKind> kinds;
};

} // namespace mlir::sp

#endif // SP_LIB_CHECKPOINT_LAYERKINDS_H
