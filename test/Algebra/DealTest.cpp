#include "LayoutDealing.h"

#include <rapidcheck/gtest.h>

using namespace sprt::algebra;

namespace {

std::shared_ptr<const Deal> dealOf(std::vector<Ranges> ranges,
                                   std::vector<OwnerGroup> groups) {
  EXPECT_EQ(Deal::check(ranges, groups), "");
  return std::make_shared<Deal>(std::move(ranges), std::move(groups));
}

/// Each owner by itself.
std::vector<OwnerGroup> alone(int64_t owners) {
  std::vector<OwnerGroup> groups;
  for (int64_t owner = 0; owner < owners; ++owner)
    groups.push_back({owner, 1});
  return groups;
}

/// What a layout of another kind says, as a table.
Layout asTable(const Layout &layout) {
  Layout ring = joined(layout);
  std::vector<Ranges> ranges;
  for (int64_t owner = 0; owner < ring.ranks(); ++owner)
    ranges.push_back(ring.ranges(owner));
  Layout batch(LayoutKind::batch, layout.length(), layout.ring(),
               layout.split(), 0, {}, std::max<int64_t>(layout.length(), 1));
  return batch.dealtAs(dealOf(ranges, alone(layout.ring())));
}

void expectAlike(const Layout &table, const Layout &other) {
  ASSERT_EQ(table.ranks(), other.ranks());
  for (int64_t owner = 0; owner < other.ranks(); ++owner) {
    ASSERT_EQ(table.count(owner), other.count(owner));
    ASSERT_EQ(table.ranges(owner), other.ranges(owner));
    for (int64_t row = 0; row < other.count(owner); ++row)
      ASSERT_EQ(table.toGlobal(owner, row), other.toGlobal(owner, row));
  }
  for (int64_t position = 0; position < other.length(); ++position) {
    ASSERT_EQ(table.toLocal(position).owner, other.toLocal(position).owner);
    ASSERT_EQ(table.toLocal(position).row, other.toLocal(position).row);
  }
}

TEST(Deal, SaysWhatAFormulaSays) {
  forWholeLayouts([](const Layout &layout) {
    if (layout.kind() != LayoutKind::striped)
      expectAlike(asTable(layout), layout);
  });
}

TEST(Deal, IsZigzagBeforeThereIsOne) {
  for (int64_t length = 1; length <= 20; ++length)
    for (int64_t ring = 1; ring <= 4; ++ring)
      for (int64_t split = 1; split <= 2; ++split) {
        Layout zigzag(LayoutKind::zigzag, length, ring, split);
        Layout batch(LayoutKind::batch, length, ring, split, 0, {}, length);
        expectAlike(batch, zigzag);
        EXPECT_EQ(batch.maxCount(), length);
        EXPECT_EQ(batch.group(ring - 1), (OwnerGroup{0, ring}));
      }
}

RC_GTEST_PROP(Deal, GivesEachPositionItsPlace, ()) {
  const auto ring = *rc::gen::inRange<int64_t>(1, 6);
  const auto split = *rc::gen::inRange<int64_t>(1, 4);
  const auto owners = *rc::gen::container<std::vector<int64_t>>(
      rc::gen::inRange<int64_t>(0, ring));
  RC_PRE(!owners.empty());
  const auto length = static_cast<int64_t>(owners.size());
  std::vector<std::vector<int64_t>> held(static_cast<size_t>(ring));
  std::vector<Ranges> ranges(static_cast<size_t>(ring));
  for (int64_t position = 0; position < length; ++position) {
    auto owner = static_cast<size_t>(owners[static_cast<size_t>(position)]);
    held[owner].push_back(position);
    append(ranges[owner], {position, 1, 1});
  }
  const auto kept = *rc::gen::inRange<int64_t>(0, length + 1);
  const auto blocks = *rc::gen::inRange<int64_t>(1, 4);
  const bool apart = blocks > 1 && *rc::gen::arbitrary<bool>();
  // All may lie with one owner of a ring.
  const int64_t ofBlock = (length + blocks - 1) / blocks;
  Layout batch(LayoutKind::batch, kept, ring, split, length, {blocks, apart},
               ofBlock * blocks);
  Layout layout = batch.dealtAs(dealOf(ranges, alone(ring)));
  RC_ASSERT(layout != batch);
  int64_t sum = 0;
  for (int64_t owner = 0; owner < layout.ranks(); ++owner) {
    sum += layout.count(owner);
    RC_ASSERT(layout.count(owner) <= layout.maxCount());
    for (int64_t row = 0; row < layout.count(owner); ++row) {
      int64_t position = layout.toGlobal(owner, row);
      Layout::Place place = layout.toLocal(position);
      RC_ASSERT(place.owner == owner);
      RC_ASSERT(place.row == row);
      const int64_t ringOwner = owners[static_cast<size_t>(position)];
      RC_ASSERT(ringOwner == owner % (ring * split) / split);
      const auto &rows = held[static_cast<size_t>(ringOwner)];
      const int64_t ringRow =
          std::lower_bound(rows.begin(), rows.end(), position) - rows.begin();
      const int64_t block = ringRow / (ofBlock * split);
      RC_ASSERT((apart ? owner / (ring * split) : row / ofBlock) == block ||
                (!apart && blocks == 1));
      RC_ASSERT(positionOf(layout.ranges(owner), row) == position);
    }
  }
  RC_ASSERT(sum == kept);
}

TEST(Deal, RefusesWhatIsNone) {
  using Groups = std::vector<OwnerGroup>;
  const Ranges front = {{0, 4, 1}}, back = {{4, 4, 1}};
  const struct {
    std::vector<Ranges> ranges;
    Groups groups;
    const char *flaw;
  } cases[] = {
      {{front, {{5, 3, 1}}}, alone(2), "nobody has position 4"},
      {{front, {{3, 5, 1}}}, alone(2), "two have position 3"},
      {{front, {{6, 2, 1}, {4, 2, 1}}}, alone(2), "ranges that ascend"},
      {{front, {{4, 2, 2}}}, alone(2), "ranges that ascend"},
      {{front, back}, alone(1), "2 owners and 1 groups"},
      {{front, back}, Groups{{0, 2}, {1, 1}}, "that its members agree on"},
      {{front, back}, Groups{{0, 3}, {0, 3}}, "that its members agree on"},
      {{front, back}, Groups{{0, 1}, {0, 1}}, "owner 1 in a group"},
  };
  for (const auto &[ranges, groups, flaw] : cases)
    EXPECT_NE(Deal::check(ranges, groups).find(flaw), std::string::npos)
        << Deal::check(ranges, groups);
}

TEST(Deal, FitsItsLayout) {
  Layout batch(LayoutKind::batch, 8, 2, 1, 0, {}, 5);
  auto flaw = [&](const Layout &layout, std::vector<Ranges> ranges) {
    auto owners = static_cast<int64_t>(ranges.size());
    return checkDeal(layout, Deal(std::move(ranges), alone(owners)));
  };
  EXPECT_EQ(flaw(batch, {{{0, 5, 1}}, {{5, 3, 1}}}), "");
  EXPECT_NE(flaw(batch, {{{0, 6, 1}}, {{6, 2, 1}}}).find("0 has 6"),
            std::string::npos);
  EXPECT_NE(flaw(batch, {{{0, 8, 1}}}).find("for 1"), std::string::npos);
  EXPECT_NE(flaw(batch, {{{0, 3, 1}}, {{3, 3, 1}}}).find("got 6 for 2"),
            std::string::npos);
  EXPECT_NE(flaw(Layout(LayoutKind::zigzag, 8, 2), {{{0, 8, 1}}, {}})
                .find("zigzag(8 over 2)"),
            std::string::npos);
}

TEST(Deal, HasATextForItsLayout) {
  Layout batch(LayoutKind::batch, 7, 2, 2, 8, {}, 3);
  EXPECT_EQ(batch.str(), "batch(7 within 8 over 2x2 holding 3)");
  EXPECT_EQ(Layout::parse(batch.str()), batch);
  EXPECT_FALSE(Layout::parse("batch(8 over 2 holding 3)"));
  EXPECT_FALSE(Layout::parse("batch(8 over 2)"));
  EXPECT_FALSE(Layout::parse("zigzag(8 over 2 holding 4)"));
  EXPECT_EQ(joined(batch).str(), "batch(7 within 8 over 2 holding 6)");
}

} // namespace
