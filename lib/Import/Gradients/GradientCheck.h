/// Whether a node is a gradient of an attention, by structure and by samples.
#ifndef SP_LIB_IMPORT_GRADIENTCHECK_H
#define SP_LIB_IMPORT_GRADIENTCHECK_H

#include "Gradients/Gradient.h"

namespace mlir::sp {

/// Whether a node has the axes of a gradient.
bool isOver(const AttentionMatch &match, const Node *node, Gradient kind);

/// Whether data may hide all keys of a row from a score function.
bool meetsEmptyRows(const AttentionMatch &match);

/// The derivative of every exponent by a node in rows without a visible key: 0
/// where the mask's fill takes the place of scores; nothing where pairs differ.
std::optional<double> slopeOfEmptyRows(const AttentionMatch &match,
                                       const Node *by,
                                       ArrayRef<const Node *> others = {});

/// Of a node made of pairs and, but for a sink's, of the leaf `with`, the
/// number that the gradient of the forward's operand has to be multiplied with;
/// nothing if it is no multiple. A sink's may be 0, as is what a gradient
/// through a row's maximum comes to. A term's is that with respect to the node
/// `with`, where the nodes of `others` are as they are.
std::optional<double> gradientFactor(const AttentionMatch &match,
                                     const Node *node, Gradient kind,
                                     const Node *with, const Anchor *pairs,
                                     unsigned cotangentOperand,
                                     ArrayRef<const Node *> others = {});

/// What a gradient is linear in, and what it is by.
struct GradientParts {
  mlir::Value cotangent;
  const Node *values; ///< what meets the cotangent, or null
  const Node *by;     ///< of a term's, or null
};
/// What in a node is no operation of a gradient of kind `kind`, which is linear
/// in the cotangent, in the weight of each pair and in the values that meet the
/// cotangent, or results of the forward, and free of scores that
/// exponents only scale, mask and shift, but for one factor in a term's; null
/// without one.
const Node *findNonlinear(const AttentionMatch &match, const Node *node,
                          Gradient kind, const GradientParts &parts);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_GRADIENTCHECK_H
