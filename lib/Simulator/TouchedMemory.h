#ifndef SP_LIB_SIMULATOR_TOUCHEDMEMORY_H
#define SP_LIB_SIMULATOR_TOUCHEDMEMORY_H

#include <cstdint>
#include <map>

namespace mlir::sp {

/// The bytes of an arena that a run reads or writes, in whole pages as an
/// operating system hands them out: large ones where it may (sprt/pages.h).
class TouchedMemory {
public:
  explicit TouchedMemory(int64_t arenaBytes) : arenaBytes(arenaBytes) {}

  void touch(int64_t offset, int64_t bytes);
  /// Of the arena: its last page counts up to the arena's end.
  int64_t bytes() const { return total; }

private:
  int64_t pageAt(int64_t offset) const;

  int64_t arenaBytes, total = 0;
  std::map<int64_t, int64_t> spans; ///< begin to end, disjoint
};

} // namespace mlir::sp

#endif // SP_LIB_SIMULATOR_TOUCHEDMEMORY_H
