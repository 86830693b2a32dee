/// Mesh axes by what the module's shardings use them for.
#ifndef SP_LIB_PLAN_DERIVEROLES_H
#define SP_LIB_PLAN_DERIVEROLES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sp {

/// Axes of the sequence and the batch; empty where the module does not say.
struct Roles {
  StringRef sequence, batch;
};

/// The axes on those dimensions of arguments, results and constraints that the
/// sequence and the batch of the attentions' queries are.
Roles deriveRoles(ModuleOp module);

} // namespace mlir::sp

#endif // SP_LIB_PLAN_DERIVEROLES_H
