/// Writes the plan of a module that has passed Memory.
///
/// Index values become expressions of a rank's coordinates and loop counters,
/// tensor values become views of the arena or of the constants, operations
/// become commands in program order.
#ifndef SP_LIB_CODEGEN_PLANWRITER_H
#define SP_LIB_CODEGEN_PLANWRITER_H

#include "Plan/KernelInfo.h"

#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/SP.h"
#include "sprt/plan_generated.h"

namespace mlir::sp {

/// The whole plan of `@main`; `liveBytes` as emitProgram has it.
FailureOr<sprt::plan::PlanT>
writePlan(ModuleOp module, KernelLookup lookup, const EmittedProgram &program,
          function_ref<int64_t(Operation *)> liveBytes);

} // namespace mlir::sp

#endif // SP_LIB_CODEGEN_PLANWRITER_H
