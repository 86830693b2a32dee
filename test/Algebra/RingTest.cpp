#include "MaskGen.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

using namespace sprt::algebra;

namespace {

constexpr LayoutKind kinds[] = {LayoutKind::contiguous, LayoutKind::zigzag,
                                LayoutKind::striped};

RC_GTEST_PROP(RingReachProperty, LastRankThatSeesTheBlock, ()) {
  RingWay way;
  way.stride = *rc::gen::inRange<int64_t>(1, 4);
  way.size = *rc::gen::inRange<int64_t>(1, 6);
  way.step = *rc::gen::element(1, -1);
  way.hops = *rc::gen::inRange<int64_t>(0, way.size + 1);
  way.first = *rc::gen::inRange<int64_t>(0, 3);
  int64_t rings = *rc::gen::inRange<int64_t>(1, 3),
          ranks = way.first + way.stride * way.size * rings;
  auto layout = [&](int64_t length) {
    return Layout(*rc::gen::elementOf(std::vector<LayoutKind>(std::begin(kinds),
                                                              std::end(kinds))),
                  length, ranks);
  };
  Layout queries = layout(*rc::gen::inRange<int64_t>(0, 65));
  Layout keys = layout(*rc::gen::inRange<int64_t>(0, 65));
  Bands mask = drawMask(queries.length(), keys.length());
  RC_LOG(queries.str() + " " + keys.str() + " " + text(mask));
  for (int64_t owner = way.first; owner < ranks; ++owner) {
    std::vector<int64_t> last(static_cast<size_t>(rings));
    for (int64_t i = 0; i < queries.length(); ++i)
      for (int64_t row = 0; row < keys.count(owner); ++row)
        if (mask.visible(i, keys.toGlobal(owner, row))) {
          int64_t reader = queries.toLocal(i).owner;
          if (reader < way.first)
            continue;
          int64_t hops = way.hopsTo(owner, reader);
          int64_t &most = last[static_cast<size_t>(way.above(reader))];
          most = std::max(most, hops <= way.hops ? hops : 0);
        }
    for (int64_t ring = 0; ring < rings; ++ring)
      RC_ASSERT(mask.ringReach(queries, keys, owner, way, ring) ==
                last[static_cast<size_t>(ring)]);
  }
}

RC_GTEST_PROP(SeenRowsProperty, HoldWhatIsSeenAndKnowItsReaders, ()) {
  int64_t ring = *rc::gen::inRange<int64_t>(1, 12),
          split = *rc::gen::inRange<int64_t>(1, 3);
  auto layout = [&](int64_t length) {
    return Layout(*rc::gen::elementOf(std::vector<LayoutKind>(std::begin(kinds),
                                                              std::end(kinds))),
                  length, ring, split);
  };
  Layout queries = layout(*rc::gen::inRange<int64_t>(0, 65));
  Layout keys = layout(*rc::gen::inRange<int64_t>(0, 65));
  Bands mask = drawMask(queries.length(), keys.length());
  RC_LOG(queries.str() + " " + keys.str() + " " + text(mask));
  std::set<int64_t> distances;
  int64_t ranks = keys.ranks();
  for (int64_t owner = 0; owner < ranks; ++owner)
    for (int64_t reader = 0; reader < ranks; ++reader) {
      std::set<int64_t> seen, rows;
      for (int64_t i = 0; i < queries.count(reader); ++i)
        for (int64_t row = 0; row < keys.count(owner); ++row)
          if (mask.visible(queries.toGlobal(reader, i),
                           keys.toGlobal(owner, row)))
            seen.insert(row);
      int64_t last = -1;
      for (Interval each : mask.seenRows(queries, reader, keys, owner)) {
        RC_ASSERT(last < each.begin && !each.empty());
        last = each.end;
        RC_ASSERT(seen.count(each.begin) && seen.count(each.end - 1));
        for (int64_t row = each.begin; row < each.end; ++row)
          rows.insert(row);
      }
      RC_ASSERT(
          std::includes(rows.begin(), rows.end(), seen.begin(), seen.end()));
      if (!seen.empty() && reader != owner)
        distances.insert((reader - owner + ranks) % ranks);
    }
  std::vector<int64_t> all(distances.begin(), distances.end());
  RC_ASSERT(mask.readerDistances(queries, keys, all.size()) == all);
  if (!all.empty())
    RC_ASSERT(!mask.readerDistances(queries, keys, all.size() - 1));
}

TEST(SeenRows, OfAWindowAreThoseAtTheEndsOfChunks) {
  // Chunks of 4: owner 1 of 4 has 4 to 7 and 24 to 27.
  Layout layout(LayoutKind::zigzag, 32, 4);
  Bands window = Bands::window(32, 32, -2, 0);
  using Rows = std::vector<Interval>;
  EXPECT_EQ(window.seenRows(layout, 2, layout, 1), (Rows{{2, 4}}));
  EXPECT_EQ(window.seenRows(layout, 0, layout, 1), (Rows{{6, 8}}));
  EXPECT_EQ(window.seenRows(layout, 3, layout, 1), (Rows{}));
  EXPECT_EQ(window.readerDistances(layout, layout, 2),
            (std::vector<int64_t>{1, 3}));
  // However many ranks there are.
  for (LayoutKind kind : kinds) {
    Layout many(kind, int64_t(1) << 32, 1 << 14);
    Bands narrow = Bands::window(many.length(), many.length(), -1, 0);
    size_t ways = kind == LayoutKind::zigzag ? 2 : 1;
    EXPECT_EQ(narrow.readerDistances(many, many, ways)->size(), ways);
    EXPECT_FALSE(Bands::causal(many.length(), many.length())
                     .readerDistances(many, many, 8));
  }
}

TEST(RingWay, HandsOnAlongOneDigit) {
  // Rank 10 is number 2 of those of 3 that are 4 apart.
  RingWay way{4, 3, -1, 2};
  EXPECT_EQ(way.digit(10), 2);
  EXPECT_EQ(way.above(10), 0);
  EXPECT_EQ(way.moved(10, -1), 6);
  EXPECT_EQ(way.moved(10, 2), 6);
  EXPECT_EQ(way.moved(22, 1), 14);
  EXPECT_EQ(way.hopsTo(10, 2), 2);
  EXPECT_EQ(way.hopsTo(2, 10), 1);
  // Ranks 2 to 4 by themselves.
  RingWay group{1, 3, 1, 2, 2};
  EXPECT_EQ(group.digit(4), 2);
  EXPECT_EQ(group.above(3), 0);
  EXPECT_EQ(group.moved(4, 1), 2);
  EXPECT_EQ(group.hopsTo(4, 3), 2);
}

} // namespace
