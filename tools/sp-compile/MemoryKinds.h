/// What values in a rank's memory are for.
#ifndef SP_TOOLS_SPCOMPILE_MEMORYKINDS_H
#define SP_TOOLS_SPCOMPILE_MEMORYKINDS_H

#include "Arguments.h"

#include "sp/Memory/LivePlaces.h"

namespace mlir::sp {

/// From the bottom of a stack up. A place of several kinds has the first one.
enum class MemoryKind {
  Constants,
  Parameters,
  State,
  Caches,
  InputsAndResults,
  Communication,
  Sums,
  Attention,
  Kept,
  Others,
  Scratch
};
constexpr size_t kMemoryKinds = size_t(MemoryKind::Scratch) + 1;

/// For legends: "parameters".
StringRef nameOf(MemoryKind kind);
/// For programs: one word.
StringRef wordOf(MemoryKind kind);
StringRef colourOf(MemoryKind kind);

/// "model.py:12", without folders, or "".
std::string shortSourceLine(Location location);

/// Tells kinds and names of the places of a program that has passed Memory.
class MemoryKinds {
public:
  MemoryKinds(func::FuncOp placed, const LivePlaces &places,
              ArrayRef<NotedArgument> arguments);

  MemoryKind of(const LivePlace &place) const;
  /// "p['wq']", "layer0", "gemm (model.py:12)": what has made the first value.
  std::string nameOf(const LivePlace &place) const;

private:
  MemoryKind ofArgument(unsigned number) const;
  MemoryKind of(Value value) const;

  func::FuncOp func;
  ArrayRef<NotedArgument> arguments;
  DenseMap<Value, MemoryKind> returned;
  /// Where gradients of attention begin, or -1.
  int64_t turn = -1;
};

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_MEMORYKINDS_H
