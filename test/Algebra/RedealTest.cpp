#include "sprt/algebra/Redeal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

using namespace sprt::algebra;

namespace {

/// A layout over so many ranks, of all positions or of the first ones.
Layout drawLayout(int64_t ranks) {
  std::vector<int64_t> splits;
  for (int64_t split = 1; split <= ranks; ++split)
    if (ranks % split == 0)
      splits.push_back(split);
  int64_t split = *rc::gen::elementOf(splits);
  int64_t within = *rc::gen::inRange<int64_t>(1, 40);
  int64_t length = *rc::gen::inRange<int64_t>(0, within + 1);
  return Layout(*rc::gen::element(LayoutKind::contiguous, LayoutKind::zigzag,
                                  LayoutKind::striped),
                length, ranks / split, split, within);
}

/// (owner, row) of each position.
std::map<int64_t, std::pair<int64_t, int64_t>> rowsOf(const Layout &layout) {
  std::map<int64_t, std::pair<int64_t, int64_t>> rows;
  for (int64_t owner = 0; owner < layout.ranks(); ++owner)
    for (int64_t row = 0; row < layout.count(owner); ++row)
      rows[layout.toGlobal(owner, row)] = {owner, row};
  return rows;
}

RC_GTEST_PROP(RedealProperty, RowsAreThoseOfTheirPositions, ()) {
  int64_t ranks = *rc::gen::inRange<int64_t>(2, 7);
  Layout from = drawLayout(ranks);
  Layout onto = *rc::gen::inRange(0, 4) == 0
                    ? Layout::dense(*rc::gen::inRange<int64_t>(0, 40))
                    : drawLayout(ranks);
  int64_t by = *rc::gen::inRange<int64_t>(-45, 45);
  RC_LOG(from.str() + " onto " + onto.str() + " by " + std::to_string(by));
  Redeal redeal(from, onto, by);
  auto before = rowsOf(from), after = rowsOf(onto);
  std::map<int64_t, int64_t> toOthers;
  for (int64_t receiver = 0; receiver < ranks; ++receiver) {
    // Row of the receiver -> (giver, row of the giver).
    std::map<int64_t, std::pair<int64_t, int64_t>> expected, found;
    for (auto [position, place] : after)
      if (before.count(position + by) &&
          (onto.isDense() || place.first == receiver))
        expected[place.second] = before[position + by];
    for (int64_t giver = 0; giver < ranks; ++giver)
      for (const RowPairs &rows : redeal.rows(giver, receiver))
        for (int64_t i = 0; i < rows.a.count; ++i) {
          RC_ASSERT(found.count(rows.b.at(i)) == 0u);
          found[rows.b.at(i)] = {giver, rows.a.at(i)};
          toOthers[giver] += giver != receiver;
        }
    RC_ASSERT(found == expected);
    int64_t received = 0;
    for (Interval rows : redeal.received(receiver))
      for (int64_t row = rows.begin; row < rows.end; ++row, ++received)
        RC_ASSERT(expected.count(row) == 1u);
    RC_ASSERT(received == int64_t(expected.size()));
  }
  for (int64_t giver = 0; giver < ranks; ++giver) {
    RC_ASSERT(redeal.rowsToOthers(giver) == toOthers[giver]);
    for (Interval rows : redeal.given(giver))
      for (int64_t row = rows.begin; row < rows.end; ++row)
        RC_ASSERT(after.count(from.toGlobal(giver, row) - by) == 1u);
  }
}

TEST(Redeal, AShiftMovesTheEnds) {
  for (int64_t by : {1, -1, 3}) {
    Layout zigzag(LayoutKind::zigzag, 1 << 20, 4),
        striped(LayoutKind::striped, 1 << 20, 4);
    for (int64_t member = 0; member < 4; ++member) {
      EXPECT_LE(Redeal(zigzag, zigzag, by).rowsToOthers(member),
                2 * std::abs(by));
      // All rows of a stripe have another owner then.
      EXPECT_GE(Redeal(striped, striped, by).rowsToOthers(member),
                (1 << 18) - 1);
    }
  }
}

} // namespace
