#ifndef SP_LIB_IMPORT_REFERENCECHECK_H
#define SP_LIB_IMPORT_REFERENCECHECK_H

#include "Scores/SamplePlan.h"

namespace mlir::sp {

/// Compares a node with the reference on sampled positions.
class ReferenceCheck {
public:
  explicit ReferenceCheck(const AttentionMatch &match) : match(match) {}
  /// Whether the node is the attention; `empty` becomes what it gives for rows
  /// that see nothing, the same in every call.
  bool equals(const Node *node, EmptyRow &empty) const;
  /// Whether the node is 0 where every exponent is -inf.
  bool guardsHiddenRows(const Node *node) const;

private:
  /// What the formula gives in a row: its sum, and the plain mean.
  struct Row {
    double sum = 0, weights = 0, mean = 0;
  };
  bool equalsOnce(const Node *node, EmptyRow &empty,
                  const SampleDraw &draw) const;

  const AttentionMatch &match;
};

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_REFERENCECHECK_H
