#include "executor/Region.h"

#include <algorithm>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace sprt {

static const auto kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
static constexpr size_t kLargePage = size_t(2) << 20;

Region::~Region() {
  if (base)
    munmap(base, static_cast<size_t>(bytes));
}

/// Address space without memory, or null.
static std::byte *reserve(size_t size, int flags) {
  void *mapped =
      mmap(nullptr, size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte *>(mapped);
}

/// The same, beginning with a large page.
static std::byte *reserveAligned(size_t size) {
  std::byte *mapped = reserve(size + kLargePage, 0);
  if (!mapped)
    return nullptr;
  size_t before = -reinterpret_cast<uintptr_t>(mapped) % kLargePage;
  // What lies behind begins with a page.
  size_t kept = (size + kPage - 1) / kPage * kPage;
  if (before > 0)
    munmap(mapped, before);
  if (size_t after = size + kLargePage - before; after > kept)
    munmap(mapped + before + kept, after - kept);
  return mapped + before;
}

Status Region::map(int64_t size, bool prefault) {
  if (size == 0)
    return Status::success();
  auto length = static_cast<size_t>(size);
  bool isLarge = !prefault && length >= kLargePage;
  base = isLarge ? reserveAligned(length)
                 : reserve(length, prefault ? MAP_POPULATE : 0);
  if (!base)
    return fail(SPRT_FAILED)
           << "this machine cannot reserve " << size << " bytes for a rank";
  bytes = size;
  // A wish: where it is not granted, nothing is lost.
  if (isLarge)
    (void)madvise(base, length / kLargePage * kLargePage, MADV_HUGEPAGE);
  return Status::success();
}

int64_t Region::residentBytes() const {
  if (!base)
    return 0;
  auto page = static_cast<int64_t>(kPage);
  std::vector<unsigned char> pages(
      static_cast<size_t>((bytes + page - 1) / page));
  if (mincore(base, static_cast<size_t>(bytes), pages.data()) != 0)
    return bytes;
  int64_t resident = 0;
  for (size_t i = 0; i < pages.size(); ++i)
    if (pages[i] & 1)
      resident += std::min(page, bytes - static_cast<int64_t>(i) * page);
  return resident;
}

} // namespace sprt
