/// What a rank's memory holds over a program.
#ifndef SP_TOOLS_SPCOMPILE_MEMORYPICTURE_H
#define SP_TOOLS_SPCOMPILE_MEMORYPICTURE_H

#include "MemoryPeak.h"
#include "Svg.h"

namespace mlir::sp {

/// What is known of the rank that needs most, beside where values lie.
struct MemoryNeeds {
  int64_t rank = 0, peakBytes = 0; ///< as the report has them
  MemoryBeside beside;
};

/// Draws stacked areas by kind of value from `top` on, near memory and then
/// far memory; returns where they end. `module` past Memory.
double drawMemory(ModuleOp module, ArrayRef<NotedArgument> arguments,
                  const MemoryNeeds &needs, double top, sprt::tools::Svg &svg);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_MEMORYPICTURE_H
