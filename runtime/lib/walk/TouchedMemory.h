#ifndef SPRT_LIB_WALK_TOUCHEDMEMORY_H
#define SPRT_LIB_WALK_TOUCHEDMEMORY_H

#include <cstdint>
#include <map>

namespace sprt {

/// The bytes of an arena that a run reads or writes, in whole pages as an
/// operating system hands them out: large ones where it may (sprt/pages.h).
class TouchedMemory {
public:
  explicit TouchedMemory(int64_t arenaBytes) : arenaBytes(arenaBytes) {}

  void touch(int64_t offset, int64_t bytes);
  /// So many runs of bytes, `stride` from each to the next.
  void touch(int64_t offset, int64_t bytes, int64_t count, int64_t stride);
  /// Of the arena: its last page counts up to the arena's end.
  int64_t bytes() const { return total; }

private:
  int64_t pageAt(int64_t offset) const;

  int64_t arenaBytes, total = 0;
  std::map<int64_t, int64_t> spans; ///< begin to end, disjoint
};

} // namespace sprt

#endif // SPRT_LIB_WALK_TOUCHEDMEMORY_H
