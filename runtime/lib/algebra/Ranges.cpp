#include "sprt/algebra/Ranges.h"

#include "Arithmetic.h"

#include <cassert>
#include <numeric>

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

/// The least index from `first` on that is `residue` mod `modulus`.
static Wide indexFrom(Wide first, Wide residue, Wide modulus) {
  return first + (residue - first % modulus + modulus) % modulus;
}

/// The x in [0, modulus) with factor * x = 1 mod modulus, which are coprime:
/// the extended Euclidean algorithm.
static Wide inverse(Wide factor, Wide modulus) {
  Wide before = modulus, now = factor % modulus, sum = 0, x = 1;
  while (now != 0) {
    Wide quotient = before / now;
    std::swap(before -= quotient * now, now);
    std::swap(sum -= quotient * x, x);
  }
  return (sum % modulus + modulus) % modulus;
}

/// Indices of two ranges at the same positions.
static RowPairs pairIndices(const Range &a, const Range &b) {
  Wide apart = Wide(b.first) - a.first, common = std::gcd(a.stride, b.stride);
  if (a.count <= 0 || b.count <= 0 || apart % common != 0)
    return {};
  // a.first + i * a.stride = b.first + j * b.stride holds for every stepA-th i.
  Wide stepA = b.stride / common, stepB = a.stride / common;
  Wide residue =
      (apart / common % stepA + stepA) % stepA * inverse(stepB, stepA) % stepA;
  Wide i =
      indexFrom(std::max<Wide>(ceilDiv(apart, a.stride), 0), residue, stepA);
  Wide j = (Wide(a.first) + i * a.stride - b.first) / b.stride;
  if (i >= a.count || j >= b.count)
    return {};
  Wide count =
      std::min((a.count - 1 - i) / stepA, (b.count - 1 - j) / stepB) + 1;
  return {{int64_t(i), int64_t(count), int64_t(stepA)},
          {int64_t(j), int64_t(count), int64_t(stepB)}};
}

std::vector<RowPairs> pairRows(const Ranges &a, const Ranges &b,
                               int64_t offset) {
  std::vector<RowPairs> pairs;
  int64_t rowA = 0;
  for (const Range &rangeA : a) {
    int64_t rowB = 0;
    for (Range rangeB : b) {
      rangeB.first += offset;
      RowPairs both = pairIndices(rangeA, rangeB);
      both.a.first += rowA;
      both.b.first += rowB;
      if (both.a.count > 0)
        pairs.push_back(both);
      rowB += rangeB.count;
    }
    rowA += rangeA.count;
  }
  return pairs;
}

} // namespace sprt::algebra
