#include "walk/TouchedMemory.h"

#include "sprt/pages.h"

#include <algorithm>

namespace sprt {

int64_t TouchedMemory::pageAt(int64_t offset) const {
  return offset < largePagesOf(arenaBytes) ? kLargePageBytes : kSmallPageBytes;
}

void TouchedMemory::touch(int64_t offset, int64_t bytes) {
  if (bytes <= 0)
    return;
  int64_t last = offset + bytes - 1;
  int64_t begin = offset / pageAt(offset) * pageAt(offset);
  int64_t end = std::min((last / pageAt(last) + 1) * pageAt(last), arenaBytes);
  auto next = spans.upper_bound(begin);
  if (next != spans.begin() && std::prev(next)->second >= begin)
    --next;
  while (next != spans.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    total -= next->second - next->first;
    next = spans.erase(next);
  }
  spans.emplace(begin, end);
  total += end - begin;
}

} // namespace sprt
