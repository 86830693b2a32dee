/// Zeroed memory whose touched part can be measured: arenas and scratch. A page
/// that nobody may touch lies before and behind it.
#ifndef SPRT_LIB_EXECUTOR_REGION_H
#define SPRT_LIB_EXECUTOR_REGION_H

#include "support/Status.h"

#include <cstddef>

namespace sprt {

class Region {
public:
  Region() = default;
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  ~Region();

  /// Reserves `size` bytes, 64-byte aligned. Pages cost nothing until they are
  /// touched, which `prefault` does at once; otherwise they are of 2 MiB
  /// wherever these fit into the region whole, if the system has them: rows
  /// that lie far apart, and copies, then need few translations.
  Status map(int64_t size, bool prefault = false);

  std::byte *data() const { return base; }
  int64_t size() const { return bytes; }
  /// How many of the bytes lie on pages that have been touched.
  int64_t residentBytes() const;

private:
  std::byte *base = nullptr;
  std::byte *pages = nullptr; ///< that hold it
  size_t pageBytes = 0;
  int64_t bytes = 0;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_REGION_H
