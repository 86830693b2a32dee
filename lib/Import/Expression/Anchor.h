/// Contractions of a component, and what their operands come from.
#ifndef SP_LIB_IMPORT_ANCHOR_H
#define SP_LIB_IMPORT_ANCHOR_H

#include "Expression/Node.h"

namespace mlir::sp {

/// What may stand for an operand of a contraction: the chain of layout
/// operations and widening conversions from the operand itself (first) to its
/// root (last), each with the axes of its dimensions.
struct SourceChain {
  struct Link {
    mlir::Value value;
    Labels labels;
  };
  SmallVector<Link, 4> links;
};

/// A contraction whose axes all requests of a component are unified with. Of
/// its operands some are leaves, the others are made of what the component
/// computes.
struct Anchor {
  Operation *op;
  /// Of each operand: the role of the leaf that it is, or none.
  Role roles[2];
  /// Axes of the operands and of the result.
  Labels labels[3];
  Axes bound;
  /// Leaves that have all these axes, whatever they were broadcast from.
  bool keepsAxes[2] = {};
  // Of the last request:
  Node *node = nullptr;
  Node *leaves[2] = {};
  SourceChain chains[2];

  /// The operand that is the leaf of a role; the first if none is.
  unsigned operandOf(Role role) const { return roles[1] == role; }
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_ANCHOR_H
