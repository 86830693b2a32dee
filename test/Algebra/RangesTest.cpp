#include "MaskGen.h"
#include "SliceChecks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace sprt::algebra;

namespace {

/// Disjoint ranges in any order, some of one position and some empty; rows that
/// no kind of layout makes but a batch of documents may.
Ranges drawRanges() {
  Ranges ranges;
  std::set<int64_t> taken;
  for (int draws = *rc::gen::inRange(0, 5); draws > 0; --draws) {
    Range range{*rc::gen::inRange<int64_t>(0, 40),
                *rc::gen::inRange<int64_t>(0, 9),
                *rc::gen::inRange<int64_t>(1, 6)};
    std::set<int64_t> positions;
    for (int64_t index = 0; index < range.count; ++index)
      positions.insert(range.at(index));
    bool meets =
        std::any_of(positions.begin(), positions.end(), [&](int64_t position) {
          return taken.count(position) != 0;
        });
    if (meets)
      continue;
    ranges.push_back(range);
    taken.merge(positions);
  }
  return ranges;
}

std::vector<int64_t> positionsOf(const Ranges &ranges) {
  std::vector<int64_t> positions;
  for (const Range &range : ranges)
    for (int64_t index = 0; index < range.count; ++index)
      positions.push_back(range.at(index));
  return positions;
}

TEST(Ranges, AppendingKeepsNormalForm) {
  Ranges ranges;
  for (Range range : {Range{4, 0, 1}, Range{2, 3, 1}, Range{5, 1, 9},
                      Range{6, 2, 1}, Range{9, 2, 5}, Range{19, 2, 5}})
    append(ranges, range);
  EXPECT_EQ(ranges, (Ranges{{2, 6, 1}, {9, 4, 5}}));
  Ranges single;
  append(single, {7, 1, 4});
  EXPECT_EQ(single, (Ranges{{7, 1, 1}}));
}

RC_GTEST_PROP(RangesProperty, RowsFollowTheList, ()) {
  Ranges ranges = drawRanges(), normal;
  std::vector<int64_t> positions = positionsOf(ranges);
  for (const Range &range : ranges)
    append(normal, range);
  RC_ASSERT(positionsOf(normal) == positions);
  RC_ASSERT(countRows(ranges) == int64_t(positions.size()));
  int64_t lo = *rc::gen::inRange<int64_t>(-2, 90);
  int64_t hi = *rc::gen::inRange<int64_t>(-2, 90);
  std::vector<bool> in(positions.size(), false);
  for (Interval rows : rowsIn(ranges, lo, hi))
    for (int64_t row = rows.begin; row < rows.end; ++row)
      in[size_t(row)] = true;
  for (size_t row = 0; row < positions.size(); ++row) {
    RC_ASSERT(positionOf(ranges, int64_t(row)) == positions[row]);
    RC_ASSERT(in[row] == (lo <= positions[row] && positions[row] < hi));
  }
}

RC_GTEST_PROP(RangesProperty, PairsAreRowsOfOnePosition, ()) {
  Ranges a = drawRanges(), b = drawRanges();
  int64_t offset = *rc::gen::inRange<int64_t>(-70, 70);
  std::vector<int64_t> ofA = positionsOf(a), ofB = positionsOf(b);
  std::set<Pair> expected, found;
  for (size_t i = 0; i < ofA.size(); ++i)
    for (size_t j = 0; j < ofB.size(); ++j)
      if (ofA[i] == ofB[j] + offset)
        expected.insert({int64_t(i), int64_t(j)});
  size_t count = 0;
  for (const RowPairs &rows : pairRows(a, b, offset)) {
    RC_ASSERT(rows.a.count == rows.b.count && rows.a.count > 0);
    count += size_t(rows.a.count);
    for (int64_t i = 0; i < rows.a.count; ++i)
      found.insert({rows.a.at(i), rows.b.at(i)});
  }
  RC_ASSERT(found == expected);
  RC_ASSERT(count == expected.size());
}

TEST(Ranges, PairsOfFarPositions) {
  int64_t far = int64_t(1) << 40;
  std::vector<RowPairs> pairs =
      pairRows({{far - 3, far, 1 << 20}}, {{5, far, (1 << 20) - 1}}, 0);
  ASSERT_EQ(pairs.size(), 1u);
  const RowPairs &rows = pairs[0];
  EXPECT_EQ(rows.a.stride, (1 << 20) - 1);
  EXPECT_EQ(rows.b.stride, 1 << 20);
  EXPECT_EQ(far - 3 + rows.a.first * (1 << 20),
            5 + rows.b.first * ((1 << 20) - 1));
  EXPECT_LT(rows.a.first, rows.a.stride);
}

RC_GTEST_PROP(RangesProperty, RestrictingKeepsPairs, ()) {
  Ranges queries = drawRanges(), keys = drawRanges();
  Bands mask = drawMask(60, 60);
  RC_LOG(text(mask));
  std::vector<int64_t> i = positionsOf(queries), j = positionsOf(keys);
  std::set<Pair> shown;
  Area sum = 0;
  for (const Slice &slice : mask.restrict(queries, keys)) {
    RC_ASSERT(flawOf(slice) == "");
    sum += area(slice);
    shown.merge(pairsOf(slice));
  }
  // As many pairs as areas promise: no pair is in two slices.
  RC_ASSERT(sum == shown.size());
  for (size_t a = 0; a < i.size(); ++a)
    for (size_t b = 0; b < j.size(); ++b)
      RC_ASSERT((shown.count({int64_t(a), int64_t(b)}) != 0) ==
                mask.visible(i[a], j[b]));
}

} // namespace
