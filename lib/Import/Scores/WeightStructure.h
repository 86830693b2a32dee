/// What weights may be by structure, where samples would not show it.
#ifndef SP_LIB_IMPORT_WEIGHTSTRUCTURE_H
#define SP_LIB_IMPORT_WEIGHTSTRUCTURE_H

#include "Expression/Component.h"

namespace mlir::sp {

/// What in weights is no operation of a softmax over scores that are scaled,
/// masked and shifted, or, `asFunction`, made anything of; null without one.
const Node *findNonlinear(const Component &component, AxisId keys,
                          bool asFunction);

/// What in a node made of weights is not the same whatever the extremes and
/// other values of rows are that exponents are shifted by; null without one.
/// `power` may be left undivided by its sum.
const Node *findUnbalanced(const Component &component, AxisId keys,
                           const Node *node, const Node *power = nullptr);

} // namespace mlir::sp

#endif // SP_LIB_IMPORT_WEIGHTSTRUCTURE_H
