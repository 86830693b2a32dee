/// What --memory-limit changes where nobody has asked for anything else.
#ifndef SP_TOOLS_SPCOMPILE_LEVERS_H
#define SP_TOOLS_SPCOMPILE_LEVERS_H

#include "Stages.h"

namespace mlir::sp {

/// Options with which a rank keeps to a limit, or those that need least.
struct Levers {
  CompileOptions options;
  std::string taken; ///< "--offload=host --checkpoint=full", or ""
  NeededBytes needed;
};

/// The Import stage, by the options.
using ImportStage =
    function_ref<LogicalResult(ModuleOp, const CompileOptions &)>;

/// The first of some combinations that fits, by the price of what they change:
/// as asked for, far memory, state there, what gradients compute again, and
/// queries in turns.
/// `model` stays as it is; what was tried is a remark.
FailureOr<Levers> chooseLevers(ModuleOp model, const CompileOptions &options,
                               const Target &target, ImportStage import,
                               RemarkLog &log);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_LEVERS_H
