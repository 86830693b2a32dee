/// Strided ranges of positions, and intervals of rows.
///
/// A rank holds some positions of a sequence as rows 0, 1, 2, ... in memory. A
/// list of ranges says which, in that order:
///
///     ranges (first, count, stride)       row       0  1  2  3  4  5
///     {(2, 3, 1), (9, 3, 1)}              position  2  3  4  9 10 11
///     {(1, 6, 4)}                         position  1  5  9 13 17 21
///
/// Positions reach 2^40, and so may counts and strides: no function overflows
/// as long as every position of a range fits in 62 bits.
#ifndef SPRT_ALGEBRA_RANGES_H
#define SPRT_ALGEBRA_RANGES_H

#include <cstdint>
#include <vector>

namespace sprt::algebra {

/// The positions first, first + stride, ... (`count` of them; stride >= 1).
struct Range {
  int64_t first = 0;
  int64_t count = 0;
  int64_t stride = 1;

  int64_t at(int64_t index) const { return first + index * stride; }
  bool operator==(const Range &other) const {
    return first == other.first && count == other.count &&
           stride == other.stride;
  }
  bool operator!=(const Range &other) const { return !(*this == other); }
};

/// The integers begin <= x < end.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
  bool operator==(const Interval &other) const {
    return begin == other.begin && end == other.end;
  }
  bool operator!=(const Interval &other) const { return !(*this == other); }
};

/// Pairwise disjoint ranges: the positions of local rows 0, 1, ... in order.
using Ranges = std::vector<Range>;

/// All positions of a sequence, in order: what a gathered sequence holds.
inline Ranges denseRanges(int64_t length) {
  return length > 0 ? Ranges{{0, length, 1}} : Ranges{};
}

/// Adds a range in normal form: an empty one vanishes, a single position has
/// stride 1, and one that continues the last range extends it.
void append(Ranges &ranges, Range range);

/// How many rows the ranges hold.
int64_t countRows(const Ranges &ranges);

/// The position of a local row, 0 <= row < countRows(ranges).
int64_t positionOf(const Ranges &ranges, int64_t row);

/// The indices of a range whose positions lie in [lo, hi).
Interval indicesIn(const Range &range, int64_t lo, int64_t hi);

/// The local rows whose positions lie in [lo, hi), as non-empty intervals in
/// row order, adjacent ones joined.
std::vector<Interval> rowsIn(const Ranges &ranges, int64_t lo, int64_t hi);

/// Rows of two lists of ranges, pair by pair: row a.at(i) of one list and row
/// b.at(i) of the other.
struct RowPairs {
  Range a, b;
};

/// The rows of `a` and `b` where a row of `a` lies `offset` positions behind
/// that of `b`, each pair once.
std::vector<RowPairs> pairRows(const Ranges &a, const Ranges &b,
                               int64_t offset);

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_RANGES_H
