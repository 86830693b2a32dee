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

void TouchedMemory::touch(int64_t offset, int64_t bytes, int64_t count,
                          int64_t stride) {
  if (bytes <= 0 || count <= 0)
    return;
  int64_t reach = (count - 1) * stride + bytes;
  // Where no page fits between two runs, each holds some of a run. Large pages
  // come first, so that the last is the smallest.
  if (stride - bytes < pageAt(offset + reach - 1))
    return touch(offset, reach);
  for (int64_t i = 0; i < count; ++i)
    touch(offset + i * stride, bytes);
}

} // namespace sprt
