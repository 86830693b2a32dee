/// The picture of a compilation: --svg.
#ifndef SP_TOOLS_SPCOMPILE_PICTURE_H
#define SP_TOOLS_SPCOMPILE_PICTURE_H

#include "Arguments.h"
#include "AttentionPicture.h"

#include "sp/Codegen/ProgramEmission.h"

namespace mlir::sp {

/// Attentions as squares of queries by keys, and under them what memory holds
/// over the program. `report` and `module` as makeReport has them.
std::string drawCompilation(ModuleOp module,
                            ArrayRef<DrawnAttention> attentions,
                            ArrayRef<NotedArgument> arguments,
                            const EmittedProgram &program,
                            const nlohmann::json &report);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_PICTURE_H
