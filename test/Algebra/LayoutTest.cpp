#include "LayoutDealing.h"

#include "sprt/algebra/Heads.h"

#include <rapidcheck/gtest.h>

using namespace sprt::algebra;

namespace {

TEST(Layout, EveryFunctionAgreesWithTheDefinition) {
  forSmallLayouts([](const Layout &layout) {
    std::vector<std::vector<int64_t>> dealt = deal(layout);
    ASSERT_EQ(layout.ranks(), int64_t(dealt.size()));
    for (int64_t owner = 0; owner < layout.ranks(); ++owner) {
      const std::vector<int64_t> &rows = dealt[size_t(owner)];
      ASSERT_EQ(layout.count(owner), int64_t(rows.size()));
      Ranges ranges = layout.ranges(owner);
      ASSERT_LE(ranges.size(), 2u * size_t(layout.blocks().count));
      ASSERT_EQ(countRows(ranges), int64_t(rows.size()));
      for (int64_t row = 0; row < layout.count(owner); ++row) {
        int64_t position = rows[size_t(row)];
        ASSERT_EQ(positionOf(ranges, row), position);
        ASSERT_EQ(layout.toGlobal(owner, row), position);
        Layout::Place place = layout.toLocal(position);
        ASSERT_EQ(place.owner, owner);
        ASSERT_EQ(place.row, row);
      }
    }
  });
}

TEST(Layout, FirstPositionsStayWhereTheyLie) {
  for (LayoutKind kind : kinds) {
    Layout whole(kind, 19, 3, 2);
    for (int64_t length = 0; length <= 19; ++length) {
      Layout layout(kind, length, 3, 2, 19);
      SCOPED_TRACE(layout.str());
      EXPECT_EQ(layout == whole, length == 19);
      EXPECT_EQ(layout.maxCount(), std::min(length, whole.maxCount()));
      for (int64_t position = 0; position < length; ++position) {
        Layout::Place place = layout.toLocal(position);
        EXPECT_EQ(place.owner, whole.toLocal(position).owner);
        EXPECT_EQ(place.row, whole.toLocal(position).row);
        EXPECT_LT(place.row, layout.count(place.owner));
      }
    }
  }
}

TEST(Layout, CountsDifferByAtMostOne) {
  forWholeLayouts([](const Layout &layout) {
    int64_t least = layout.length(), most = 0;
    for (int64_t owner = 0; owner < layout.ranks(); ++owner) {
      least = std::min(least, layout.count(owner));
      most = std::max(most, layout.count(owner));
    }
    ASSERT_LE(most - least, 1);
    ASSERT_EQ(layout.maxCount(), most);
  });
}

TEST(Layout, RangesAreInNormalForm) {
  forSmallLayouts([](const Layout &layout) {
    for (int64_t owner = 0; owner < layout.ranks(); ++owner) {
      Ranges ranges = layout.ranges(owner), again;
      for (const Range &range : ranges) {
        ASSERT_GT(range.count, 0);
        append(again, range);
      }
      ASSERT_EQ(ranges, again);
    }
  });
}

TEST(Layout, RowsInAnIntervalOfPositions) {
  forSmallLayouts([](const Layout &layout) {
    if (layout.length() % 7 != 2)
      return;
    for (int64_t owner = 0; owner < layout.ranks(); ++owner)
      for (int64_t lo = -1; lo <= layout.length() + 1; ++lo)
        for (int64_t hi = lo - 1; hi <= layout.length() + 1; hi += 3) {
          std::vector<bool> in(size_t(layout.count(owner)), false);
          int64_t last = -1;
          for (Interval rows : layout.rowsIn(owner, lo, hi)) {
            ASSERT_LT(last, rows.begin);
            ASSERT_FALSE(rows.empty());
            for (int64_t row = rows.begin; row < rows.end; ++row)
              in[size_t(row)] = true;
            last = rows.end;
          }
          for (int64_t row = 0; row < layout.count(owner); ++row) {
            int64_t position = layout.toGlobal(owner, row);
            ASSERT_EQ(in[size_t(row)], lo <= position && position < hi);
          }
        }
  });
}

TEST(Layout, PublishedIndexMaps) {
  // TransformerEngine's example of dual chunk swap: 12 positions on 2 ranks.
  Layout zigzag(LayoutKind::zigzag, 12, 2);
  EXPECT_EQ(zigzag.ranges(0), (Ranges{{0, 3, 1}, {9, 3, 1}}));
  EXPECT_EQ(zigzag.ranges(1), (Ranges{{3, 6, 1}}));
  // USP: the ring rank's two chunks, concatenated, cut for the head ranks.
  Layout usp(LayoutKind::zigzag, 12, 2, 2);
  EXPECT_EQ(usp.ranges(0), (Ranges{{0, 3, 1}}));
  EXPECT_EQ(usp.ranges(1), (Ranges{{9, 3, 1}}));
  Layout blocks(LayoutKind::zigzag, 16, 2, 1, 0, {2, false});
  EXPECT_EQ(blocks.ranges(0), (Ranges{{0, 2, 1}, {6, 4, 1}, {14, 2, 1}}));
  EXPECT_EQ(Layout(LayoutKind::zigzag, 16, 2, 1, 0, {2, true}).ranges(2),
            (Ranges{{8, 2, 1}, {14, 2, 1}}));
  // Striped attention: position mod ring.
  EXPECT_EQ(Layout(LayoutKind::striped, 11, 4).ranges(3), (Ranges{{3, 2, 4}}));
}

TEST(Layout, JoinsThePartsOfAnOwnerBlockByBlock) {
  Layout parts(LayoutKind::contiguous, 15, 2, 2, 16, {2, false});
  EXPECT_EQ(joined(parts),
            Layout(LayoutKind::contiguous, 15, 2, 1, 16, {2, false}));
  // Parts 0 and 1 of the first owner, which has 0 1 2 3 8 9 10 11.
  EXPECT_EQ(parts.ranges(1), (Ranges{{2, 2, 1}, {10, 2, 1}}));
  EXPECT_EQ(joined(parts).toLocal(10).row, 6);
  forSmallLayouts([](const Layout &layout) {
    if (layout.blocks().apart)
      return;
    Layout ring = joined(layout);
    for (int64_t position = 0; position < layout.length(); ++position)
      ASSERT_EQ(ring.toLocal(position).owner,
                layout.toLocal(position).owner / layout.split());
  });
}

// Four positions on three ranks, whose first turn would have room for six: the
// parts of all ranks are exchanged with that room.
TEST(Layout, ABlockMayBeLongerThanAllPositions) {
  Layout parts(LayoutKind::zigzag, 4, 1, 3, 12, {2, true});
  EXPECT_EQ(parts.maxCount(), 2);
  EXPECT_EQ(joined(parts).maxCount(), 3 * parts.maxCount());
  EXPECT_EQ(joined(parts).count(0), 4);
  EXPECT_EQ(joined(parts).count(1), 0);
}

TEST(Layout, OneOwnerHoldsEverythingInOrder) {
  for (LayoutKind kind : kinds) {
    Layout layout(kind, 17, 1);
    EXPECT_TRUE(layout.isDense());
    EXPECT_EQ(layout.ranges(0), denseRanges(17));
    EXPECT_EQ(layout, Layout::dense(17));
    EXPECT_FALSE(Layout(kind, 17, 1, 2).isDense());
    EXPECT_FALSE(Layout(kind, 16, 1, 1, 0, {2, true}).isDense());
    EXPECT_NE(Layout(kind, 17, 2), Layout::dense(17));
  }
  EXPECT_NE(Layout(LayoutKind::zigzag, 17, 2),
            Layout(LayoutKind::striped, 17, 2));
  EXPECT_EQ(Layout().ranges(0), Ranges{});
}

TEST(Layout, OwnersBeyondTheRanksHoldNothing) {
  Layout layout(LayoutKind::zigzag, 100, 3, 2);
  for (int64_t owner : {int64_t(-1), int64_t(6), INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(layout.count(owner), 0);
    EXPECT_TRUE(layout.ranges(owner).empty());
    EXPECT_TRUE(layout.rowsIn(owner, 0, 100).empty());
  }
}

TEST(Layout, TextRoundTrips) {
  EXPECT_EQ(Layout(LayoutKind::zigzag, 4096, 8).str(), "zigzag(4096 over 8)");
  EXPECT_EQ(Layout(LayoutKind::striped, 9, 4, 2).str(), "striped(9 over 4x2)");
  EXPECT_EQ(Layout(LayoutKind::zigzag, 7, 4, 1, 9).str(),
            "zigzag(7 within 9 over 4)");
  EXPECT_EQ(Layout(LayoutKind::zigzag, 16, 2, 1, 0, {2, false}).str(),
            "zigzag(16 over 2 in 2 blocks)");
  EXPECT_EQ(Layout(LayoutKind::striped, 7, 2, 1, 8, {2, true}).str(),
            "striped(7 within 8 over 2 in 2 turns)");
  forSmallLayouts([](const Layout &layout) {
    std::optional<Layout> parsed = Layout::parse(layout.str());
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->str(), layout.str());
  });
  for (const char *text :
       {"", "zigzag", "zigzag()", "zigzag(9)", "zigzag(9 over 0)", "(9 over 2)",
        "zigzag(9 over 2) ", "zigzag(9 over 2x)", "zigzag(9 over 2x0)",
        "zigzag(-1 over 2)", "Zigzag(9 over 2)", "zigzag(9 over 2",
        "zigzag(99999999999999999999 over 2)", "zigzag(9 within 8 over 2)",
        "zigzag(9 within over 2)", "zigzag(16 over 2 in 3 blocks)",
        "zigzag(16 over 2 in 1 blocks)", "zigzag(16 over 2 in 2)"})
    EXPECT_FALSE(Layout::parse(text)) << text;
  EXPECT_EQ(parseLayoutKind("striped"), LayoutKind::striped);
  EXPECT_FALSE(parseLayoutKind("stripe"));
}

TEST(Layout, CheckNamesWhatIsWrong) {
  EXPECT_EQ(Layout::check(LayoutKind::zigzag, 0, 1), "");
  EXPECT_EQ(Layout::check(LayoutKind(4), 1, 1),
            "expected layout kind 0, 1, 2 or 3 but got 4");
  EXPECT_EQ(Layout::check(LayoutKind::batch, 9, 4, 1, 0, {}, 2),
            "expected layout of batches alone to hold a number of rows that is "
            "enough for 9 positions over 4 owners but got 2");
  EXPECT_EQ(
      Layout::check(LayoutKind::batch, 8, 2, 1, 0, {2, false}, 7),
      "expected layout of a batch in 2 blocks to hold a multiple of so many "
      "rows but got 7");
  EXPECT_EQ(Layout::check(LayoutKind::zigzag, -1, 1),
            "expected layout length from 0 to 1099511627776 but got -1");
  EXPECT_EQ(Layout::check(LayoutKind::zigzag, 1, 0),
            "expected layout over 1 to 1048576 ranks but got 0 owners split "
            "in 1");
  EXPECT_NE(Layout::check(LayoutKind::zigzag, 1, 1 << 19, 4), "");
  EXPECT_NE(Layout::check(LayoutKind::zigzag, 1, INT64_MAX, INT64_MAX), "");
}

TEST(Heads, GroupsAreWhatEachHeadReads) {
  for (int64_t total = 1; total <= 24; ++total)
    for (int64_t kv = 1; kv <= total; ++kv) {
      std::vector<bool> read(size_t(kv), false);
      for (int64_t h0 = 0; h0 < total; ++h0) {
        read[size_t(kvHeadOf(h0, total, kv))] = true;
        for (int64_t h1 = h0 + 1; h1 <= total; ++h1) {
          Interval heads = kvHeadsOf({h0, h1}, total, kv);
          EXPECT_EQ(heads.begin, kvHeadOf(h0, total, kv));
          EXPECT_EQ(heads.end - 1, kvHeadOf(h1 - 1, total, kv));
        }
      }
      EXPECT_EQ(std::count(read.begin(), read.end(), true), kv);
    }
  EXPECT_TRUE(kvHeadsOf({3, 3}, 8, 2).empty());
}

RC_GTEST_PROP(LayoutProperty, LargeLayoutsAreBijections, ()) {
  LayoutKind kind = *rc::gen::elementOf(
      std::vector<LayoutKind>(std::begin(kinds), std::end(kinds)));
  int64_t length = *rc::gen::oneOf(
      rc::gen::inRange<int64_t>(1, Layout::maxLength + 1),
      rc::gen::inRange<int64_t>(Layout::maxLength - 4, Layout::maxLength + 1),
      rc::gen::inRange<int64_t>(1, 1 << 21));
  int64_t split = *rc::gen::inRange<int64_t>(1, 17);
  int64_t ring = *rc::gen::inRange<int64_t>(1, Layout::maxRanks / split + 1);
  Layout layout(kind, length, ring, split);
  RC_LOG(layout.str());

  int64_t position = *rc::gen::inRange<int64_t>(0, length);
  Layout::Place place = layout.toLocal(position);
  RC_ASSERT(place.owner >= 0 && place.owner < layout.ranks());
  RC_ASSERT(place.row >= 0 && place.row < layout.count(place.owner));
  RC_ASSERT(layout.toGlobal(place.owner, place.row) == position);

  int64_t owner = *rc::gen::inRange<int64_t>(0, layout.ranks());
  int64_t count = layout.count(owner);
  RC_ASSERT(count == layout.maxCount() || count == layout.maxCount() - 1);
  Ranges ranges = layout.ranges(owner);
  RC_ASSERT(countRows(ranges) == count);
  if (count == 0)
    return;
  int64_t row = *rc::gen::inRange<int64_t>(0, count);
  position = layout.toGlobal(owner, row);
  RC_ASSERT(positionOf(ranges, row) == position);
  RC_ASSERT(layout.toLocal(position).owner == owner);
  RC_ASSERT(layout.toLocal(position).row == row);
  RC_ASSERT(layout.rowsIn(owner, position, position + 1) ==
            (std::vector<Interval>{{row, row + 1}}));
}

} // namespace
