/// What a compilation made, for programs.
#ifndef SP_TOOLS_SPCOMPILE_REPORT_H
#define SP_TOOLS_SPCOMPILE_REPORT_H

#include "sp/Codegen/ProgramEmission.h"

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json.hpp>

namespace mlir::sp {

/// The attentions of a module that has passed Plan, as the report lists them.
nlohmann::json describeAttentions(ModuleOp module);

/// What the constants of a module take that has passed Memory: weights, say,
/// that the model captures. Every rank has them.
int64_t constantBytesOf(ModuleOp module);

/// The report of a compilation, but for the time that it and this take;
/// `attentions` from describeAttentions, `module` past Memory. Fails with a
/// diagnostic where the plan makes no sense.
FailureOr<nlohmann::json> makeReport(ModuleOp module, nlohmann::json attentions,
                                     const EmittedProgram &program);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_REPORT_H
