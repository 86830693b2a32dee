#include "executor/Region.h"

#include <algorithm>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace sprt {

Region::~Region() {
  if (base)
    munmap(base, static_cast<size_t>(bytes));
}

Status Region::map(int64_t size, bool prefault) {
  if (size == 0)
    return Status::success();
  void *mapped =
      mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
               (prefault ? MAP_POPULATE : 0),
           -1, 0);
  if (mapped == MAP_FAILED)
    return fail(SPRT_FAILED)
           << "this machine cannot reserve " << size << " bytes for a rank";
  base = static_cast<std::byte *>(mapped);
  bytes = size;
  return Status::success();
}

void Region::preferLargePages(std::byte *from, int64_t length) const {
  constexpr uintptr_t kLarge = uintptr_t(2) << 20;
  auto begin = reinterpret_cast<uintptr_t>(from);
  uintptr_t end = (begin + static_cast<uintptr_t>(length)) & -kLarge;
  begin = (begin + kLarge - 1) & -kLarge;
  // A wish: where it is not granted, nothing is lost.
  if (begin < end)
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

int64_t Region::residentBytes() const {
  if (!base)
    return 0;
  int64_t page = sysconf(_SC_PAGESIZE);
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
