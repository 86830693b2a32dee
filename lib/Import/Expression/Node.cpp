#include "Expression/Node.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

const Node *mlir::sp::narrowest(const Node *node) {
  while (node->op &&
         isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(node->op))
    node = node->operands[0];
  return node;
}

Axes mlir::sp::axesOver(const AxisLabels &labels, const Node *node) {
  Axes axes = labels.resolve(flatten(node->labels));
  llvm::erase_if(axes, [&](AxisId axis) { return labels.size(axis) == 1; });
  return axes;
}

bool mlir::sp::runsOver(const AxisLabels &labels, const Node *node,
                        AxisId axis) {
  return llvm::is_contained(labels.resolve(flatten(node->labels)), axis);
}
