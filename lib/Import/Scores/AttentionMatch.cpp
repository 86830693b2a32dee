//===- AttentionMatch.cpp - What a match is made of
//------------------------===//

#include "Scores/AttentionMatch.h"

using namespace mlir;
using namespace mlir::sp;

NodeKey mlir::sp::keyOf(const AxisLabels &labels, const Node *node) {
  Axes axes = labels.resolve(flatten(node->labels));
  return {node->value.getAsOpaquePointer(), {axes.begin(), axes.end()}};
}

llvm::SetVector<const Node *> mlir::sp::below(const Node *node) {
  llvm::SetVector<const Node *> all;
  all.insert(node);
  for (size_t i = 0; i < all.size(); ++i)
    all.insert_range(all[i]->operands);
  return all;
}

llvm::SmallPtrSet<Operation *, 32>
mlir::sp::operationsOf(const AttentionMatch &match) {
  llvm::SmallPtrSet<Operation *, 32> operations;
  for (const std::unique_ptr<Node> &node : match.component->nodes.all())
    if (node->scored && node->op)
      operations.insert(node->op);
  return operations;
}
