/// The stages behind Import, as the options say.
#ifndef SP_TOOLS_SPCOMPILE_STAGES_H
#define SP_TOOLS_SPCOMPILE_STAGES_H

#include "Explain.h"
#include "Options.h"

#include "sp/Codegen/ProgramEmission.h"

#include "mlir/Pass/PassManager.h"

namespace mlir::sp {

struct Stage {
  StringRef name; ///< as --emit names it, where the stage changes anything
  std::function<void(OpPassManager &)> build;
};

/// Plan to Memory. All-gather takes `gatherGroups` groups of heads where
/// --head-groups does not say.
std::vector<Stage> stagesOf(const CompileOptions &options,
                            int64_t gatherGroups);

/// The fewest groups of heads in which all-gather keeps a rank within
/// --memory-limit, or those that need least where none does: 1 where nothing is
/// to be chosen. `imported` stays as it is; the choice is a remark.
FailureOr<int64_t> chooseGatherGroups(ModuleOp imported,
                                      const CompileOptions &options,
                                      const Target &target, RemarkLog &log);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_STAGES_H
