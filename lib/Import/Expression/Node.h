/// The values of an expression.
#ifndef SP_LIB_IMPORT_NODE_H
#define SP_LIB_IMPORT_NODE_H

#include "Expression/AxisLabels.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::sp {

/// Where the values of a component come from that it does not compute: the
/// operands of its contractions, and any other data.
enum class Role { None, Left, Right, Value, Factor, Data };

/// One value, asked for over given axes.
struct Node {
  mlir::Value value;
  /// Null for a leaf: a random tensor over its axes.
  Operation *op = nullptr;
  Role role = Role::None;
  Labels labels;
  SmallVector<Node *, 3> operands;
  /// Axes that a reduction or contraction sums over.
  Axes bound;
  /// Depends on the score contraction.
  bool scored = false;
  /// A leaf, or made of one.
  bool random = false;
  /// Counts the nodes of a request.
  unsigned number = 0;

  ArrayRef<int64_t> shape() const {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  Type elementType() const {
    return cast<RankedTensorType>(value.getType()).getElementType();
  }
  bool hasTruths() const { return elementType().isInteger(1); }
};

/// What a node repeats by broadcasts only, or the node itself.
const Node *narrowest(const Node *node);

/// The axes that a node runs over, but for those of one position, which is 0
/// whatever they are an axis of.
Axes axesOver(const AxisLabels &labels, const Node *node);

/// Whether a node has an element for each position of an axis.
bool runsOver(const AxisLabels &labels, const Node *node, AxisId axis);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_NODE_H
