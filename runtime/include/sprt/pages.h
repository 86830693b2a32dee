/// How a system hands out the memory of an arena, which promises of peak memory
/// count: whole pages of what is touched.
#ifndef SPRT_PAGES_H
#define SPRT_PAGES_H

#include <cstdint>

namespace sprt {

constexpr int64_t kSmallPageBytes = 4096;
/// Rows that lie far apart, and copies, need few translations with these.
constexpr int64_t kLargePageBytes = int64_t(2) << 20;

/// How many bytes from an arena's beginning may lie on large pages, as many of
/// which as fit into it whole.
constexpr int64_t largePagesOf(int64_t arenaBytes) {
  return arenaBytes / kLargePageBytes * kLargePageBytes;
}

} // namespace sprt

#endif // SPRT_PAGES_H
