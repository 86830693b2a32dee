#ifndef SP_LIB_SIMULATOR_TOUCHEDMEMORY_H
#define SP_LIB_SIMULATOR_TOUCHEDMEMORY_H

#include <cstdint>
#include <map>

namespace mlir::sp {

/// The bytes of an arena that a run reads or writes, in whole pages as an
/// operating system hands them out.
class TouchedMemory {
public:
  explicit TouchedMemory(int64_t arenaBytes) : arenaBytes(arenaBytes) {}

  void touch(int64_t offset, int64_t bytes);
  /// Of the arena: its last page counts up to the arena's end.
  int64_t bytes() const { return total; }

private:
  static constexpr int64_t kPageBytes = 4096;

  int64_t arenaBytes, total = 0;
  std::map<int64_t, int64_t> spans; ///< begin to end, disjoint
};

} // namespace mlir::sp

#endif // SP_LIB_SIMULATOR_TOUCHEDMEMORY_H
