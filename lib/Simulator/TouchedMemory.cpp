#include "TouchedMemory.h"

#include <algorithm>

using namespace mlir::sp;

void TouchedMemory::touch(int64_t offset, int64_t bytes) {
  if (bytes <= 0)
    return;
  int64_t begin = offset / kPageBytes * kPageBytes;
  int64_t end = (offset + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  end = std::min(end, arenaBytes);
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
