#include "sprt/algebra/Ranges.h"

#include "Arithmetic.h"

#include <cassert>

namespace sprt::algebra {

void append(Ranges &ranges, Range range) {
  if (range.count <= 0)
    return;
  if (range.count == 1)
    range.stride = 1;
  if (!ranges.empty()) {
    Range &last = ranges.back();
    if (last.stride == range.stride && last.at(last.count) == range.first) {
      last.count += range.count;
      return;
    }
  }
  ranges.push_back(range);
}

int64_t countRows(const Ranges &ranges) {
  int64_t rows = 0;
  for (const Range &range : ranges)
    rows += range.count;
  return rows;
}

int64_t positionOf(const Ranges &ranges, int64_t row) {
  for (const Range &range : ranges) {
    if (row < range.count)
      return range.at(row);
    row -= range.count;
  }
  assert(false && "row is beyond the ranges");
  return 0;
}

Interval indicesIn(const Range &range, int64_t lo, int64_t hi) {
  auto firstFrom = [&](int64_t position) {
    Wide index = ceilDiv(Wide(position) - range.first, range.stride);
    return int64_t(std::clamp<Wide>(index, 0, range.count));
  };
  Interval indices{firstFrom(lo), firstFrom(hi)};
  return indices.empty() ? Interval{} : indices;
}

std::vector<Interval> rowsIn(const Ranges &ranges, int64_t lo, int64_t hi) {
  std::vector<Interval> rows;
  int64_t base = 0;
  for (const Range &range : ranges) {
    Interval indices = indicesIn(range, lo, hi);
    if (!indices.empty()) {
      if (!rows.empty() && rows.back().end == base + indices.begin)
        rows.back().end = base + indices.end;
      else
        rows.push_back({base + indices.begin, base + indices.end});
    }
    base += range.count;
  }
  return rows;
}

} // namespace sprt::algebra
