/// When most of a rank's memory is in use, and what for.
#ifndef SP_TOOLS_SPCOMPILE_MEMORYPEAK_H
#define SP_TOOLS_SPCOMPILE_MEMORYPEAK_H

#include "MemoryKinds.h"

#include <nlohmann/json.hpp>

#include <array>

namespace mlir::sp {

/// Bytes by kind.
using MemoryStack = std::array<int64_t, kMemoryKinds>;
int64_t sumOf(const MemoryStack &stack);

/// What a rank has beside its arena as long as it runs.
struct MemoryBeside {
  int64_t constantBytes = 0, scratchBytes = 0;

  MemoryStack stack() const;
};

/// Places that differ in numbers alone, as those of layers do.
struct AlikePlaces {
  std::string name; ///< of the first; as the kind where no place is known
  MemoryKind kind = MemoryKind::Others;
  int64_t count = 0, bytes = 0; ///< of all
};

/// What is in use of one space, operation by operation.
class MemoryInUse {
public:
  /// `always` is in use all the time.
  MemoryInUse(const LivePlaces &places, const MemoryKinds &kinds, Space space,
              const MemoryStack &always);

  const MemoryStack &at(int64_t point) const { return stacks[point]; }
  /// The first operation at which most is in use.
  int64_t peak() const { return fullest; }
  /// What is in use at the peak, the largest first, with what always is.
  std::vector<AlikePlaces> atPeak() const;

private:
  const MemoryKinds &kinds;
  MemoryStack always;
  std::vector<MemoryStack> stacks;
  SmallVector<const LivePlace *> ours;
  int64_t fullest = 0;
};

/// All that is in use at the peak of near memory as a report lists it, the
/// largest first: `kind`, `name`, `count` and `bytes`. `module` past Memory.
nlohmann::json describePeak(ModuleOp module, ArrayRef<NotedArgument> arguments,
                            const MemoryBeside &beside);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_MEMORYPEAK_H
