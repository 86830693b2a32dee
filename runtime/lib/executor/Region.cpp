#include "executor/Region.h"

#include "sprt/pages.h"

#include <algorithm>
#include <vector>

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace sprt {

static const auto kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
static constexpr auto kLargePage = static_cast<size_t>(kLargePageBytes);

/// What kernels want of their buffers.
static constexpr size_t kRegionAlignment = 64;

static size_t roundUp(size_t size, size_t grain) {
  return (size + grain - 1) / grain * grain;
}

Region::~Region() {
  if (base)
    munmap(pages - kPage, pageBytes + 2 * kPage);
}

/// What this machine could ever hold at once.
static uint64_t machineBytes() {
  struct sysinfo info = {};
  if (sysinfo(&info) != 0)
    return UINT64_MAX;
  return (uint64_t(info.totalram) + info.totalswap) * info.mem_unit;
}

Status Region::map(int64_t size, bool prefault) {
  if (size == 0)
    return Status::success();
  auto length = static_cast<size_t>(size);
  auto large = static_cast<size_t>(prefault ? 0 : largePagesOf(size));
  size_t grain = large ? kLargePage : kPage, kept = roundUp(length, kPage);
  size_t whole = kept + kPage + grain;
  void *mapped = MAP_FAILED;
  if (length <= machineBytes())
    mapped = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                      (prefault ? MAP_POPULATE : 0),
                  -1, 0);
  if (mapped == MAP_FAILED)
    return fail(SPRT_FAILED)
           << "this machine cannot reserve " << size << " bytes for a rank";
  auto *first = static_cast<std::byte *>(mapped);
  size_t before = roundUp(reinterpret_cast<uintptr_t>(first) + kPage, grain) -
                  reinterpret_cast<uintptr_t>(first);
  pages = first + before;
  pageBytes = kept;
  if (before > kPage)
    munmap(first, before - kPage);
  if (size_t after = whole - before - kept; after > kPage)
    munmap(pages + kept + kPage, after - kPage);
  mprotect(pages - kPage, kPage, PROT_NONE);
  mprotect(pages + kept, kPage, PROT_NONE);
  // What is touched whole ends with its last page, so that nobody may read
  // behind it; of what is not, promises count pages from its beginning.
  base = prefault ? pages + kept - roundUp(length, kRegionAlignment) : pages;
  bytes = size;
  // A wish: where it is not granted, nothing is lost.
  if (large > 0)
    (void)madvise(base, large, MADV_HUGEPAGE);
  return Status::success();
}

int64_t Region::residentBytes() const {
  if (!base)
    return 0;
  std::vector<unsigned char> resident(pageBytes / kPage);
  if (mincore(pages, pageBytes, resident.data()) != 0)
    return bytes;
  auto page = static_cast<int64_t>(kPage), first = pages - base,
       sum = int64_t(0);
  for (size_t i = 0; i < resident.size(); ++i) {
    int64_t begin = first + static_cast<int64_t>(i) * page;
    if (resident[i] & 1)
      sum += std::min(begin + page, bytes) - std::max<int64_t>(begin, 0);
  }
  return sum;
}

} // namespace sprt
