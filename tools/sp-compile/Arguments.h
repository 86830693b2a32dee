/// What the arguments of a program are, and how they lie.
#ifndef SP_TOOLS_SPCOMPILE_ARGUMENTS_H
#define SP_TOOLS_SPCOMPILE_ARGUMENTS_H

#include "sp/Partition/ParameterRoles.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>

namespace mlir::sp {

struct NotedArgument {
  std::string name; ///< the model's, or "arg3"
  ArgumentRole role;
  RankedTensorType type; ///< global
};

/// The arguments of a module that has passed Plan, whose donations this
/// resolves: later ones no longer say how the model reads them. Fails after a
/// diagnostic.
FailureOr<SmallVector<NotedArgument>> noteArguments(ModuleOp module);

/// As the report lists them: those of one role, type and layout together.
/// `module` past Partition.
nlohmann::json describeArguments(ModuleOp module,
                                 ArrayRef<NotedArgument> arguments);

/// The same for people, on one screen.
void printArguments(const nlohmann::json &arguments, raw_ostream &os);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_ARGUMENTS_H
