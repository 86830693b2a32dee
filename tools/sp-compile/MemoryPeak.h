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

/// Places that differ in numbers alone, as those of layers do.
struct AlikePlaces {
  std::string name; ///< of the first
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
  /// Places that live at the peak, the largest first.
  std::vector<AlikePlaces> atPeak() const;

private:
  const MemoryKinds &kinds;
  std::vector<MemoryStack> stacks;
  SmallVector<const LivePlace *> ours;
  int64_t fullest = 0;
};

/// The peak of near memory as a report lists it: `kind`, `name`, `count` and
/// `bytes` of the largest. `module` past Memory.
nlohmann::json describePeak(ModuleOp module, ArrayRef<NotedArgument> arguments);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_MEMORYPEAK_H
