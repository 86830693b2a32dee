// Small batches, whose plans are known.

#include "Draw.h"

#include <gtest/gtest.h>

using namespace sprt;

namespace {

struct Expected {
  const char *name;
  std::vector<int64_t> lengths;
  int64_t ranks;
  int64_t capacity;
  int64_t maxMicroBatches;
  const char *plan;
};

class Batch : public testing::TestWithParam<Expected> {};

TEST_P(Batch, HasThisPlan) {
  const Expected &expected = GetParam();
  BatchOptions options;
  options.ranks = expected.ranks;
  options.capacity = expected.capacity;
  options.maxMicroBatches = expected.maxMicroBatches;
  BatchPlan plan;
  ASSERT_EQ(text(planBatch(expected.lengths, options, plan)), "");
  EXPECT_EQ(text(plan), expected.plan);
  EXPECT_EQ(text(checkBatch(plan, expected.lengths, options)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, Batch,
    testing::Values(
        Expected{"OfNothing", {}, 2, 4, 0, "\n\n"},
        Expected{"OfOneRank", {3, 1, 2}, 1, 4, 0, "| [0,3) [3,4)| [4,6)\n"},
        Expected{"OfOneToken", {1}, 2, 1, 0, "| [0,1)\n\n"},
        // Falling lengths to the least loaded rank, ties by number.
        Expected{"OfWholeDocuments",
                 {2, 5, 3, 4},
                 2,
                 8,
                 0,
                 "| [0,2) [2,7)\n| [7,10) [10,14)\n"},
        // A document of exactly the capacity stays whole.
        Expected{"OfFullRanks", {4, 4}, 2, 4, 0, "| [0,4)\n| [4,8)\n"},
        // Six chunks of 2 2 2 1 1 1.
        Expected{"OfThreeSharingOne",
                 {9},
                 3,
                 4,
                 0,
                 "| 0-2: [0,2) [8,9)\n| 0-2: [2,4) [7,8)\n| 0-2: [4,7)\n"},
        Expected{"OfSharedAndWhole",
                 {9, 3, 2, 5, 4},
                 3,
                 4,
                 0,
                 "| 0-2: [0,2) [8,9)| 0-1: [14,16) [18,19)| [12,14)\n"
                 "| 0-2: [2,4) [7,8)| 0-1: [16,18)| [9,12)\n"
                 "| 0-2: [4,7)| [19,23)\n"},
        // Balanced, the last document would find no room.
        Expected{"InOneMicroBatch",
                 {3, 3, 2, 2, 2},
                 2,
                 6,
                 1,
                 "| [0,3) [3,6)\n| [6,8) [8,10) [10,12)\n"},
        Expected{"InTwoMicroBatches",
                 {8, 2, 2, 5, 4},
                 3,
                 4,
                 2,
                 "| 0-1: [0,2) [6,8)| 0-1: [12,14) [16,17)\n"
                 "| 0-1: [2,6)| 0-1: [14,16)\n"
                 "| [17,21)| [8,10) [10,12)\n"},
        // Two groups beside each other, and the third does not fit there.
        Expected{"OfGroupsInTurn",
                 {6, 8, 7},
                 4,
                 4,
                 0,
                 "| 0-1: [6,8) [12,14)| 0-1: [0,2) [5,6)\n"
                 "| 0-1: [8,12)| 0-1: [2,5)\n"
                 "| 2-3: [14,16) [20,21)\n"
                 "| 2-3: [16,20)\n"}),
    [](const testing::TestParamInfo<Expected> &info) {
      return info.param.name;
    });

TEST(Batch, MayBeSpreadOverMoreRanksThanHoldIt) {
  BatchOptions options;
  options.ranks = 4;
  options.capacity = 8;
  options.spread = true;
  BatchPlan plan;
  ASSERT_EQ(text(planBatch({16}, options, plan)), "");
  EXPECT_EQ(text(plan), "| 0-3: [0,2) [14,16)\n| 0-3: [2,4) [12,14)\n"
                        "| 0-3: [4,6) [10,12)\n| 0-3: [6,10)\n");
  EXPECT_EQ(text(checkBatch(plan, {16}, options)), "");
  options.spread = false;
  EXPECT_EQ(text(checkBatch(plan, {16}, options)),
            "document 0: expected a group of 2 ranks but got 4");
}

TEST(Batch, CostsAreThoseOfTokensAndPairs) {
  BatchOptions options;
  options.ranks = 2;
  options.capacity = 4;
  options.tokenCost = 100;
  BatchPlan plan;
  ASSERT_EQ(text(planBatch({8, 3}, options, plan)), "");
  // Queries 0 1 6 7 of the first and all of the second; then 2 3 4 5.
  EXPECT_EQ(plan.costs, (std::vector<int64_t>{400 + 1 + 2 + 7 + 8 + 300 + 6,
                                              400 + 3 + 4 + 5 + 6}));
}

TEST(Batch, HashTellsPlansApart) {
  BatchOptions options;
  options.ranks = 2;
  options.capacity = 4;
  BatchPlan plan, other;
  ASSERT_EQ(text(planBatch({8, 3}, options, plan)), "");
  ASSERT_EQ(text(planBatch({8, 2}, options, other)), "");
  // The same in every process and on every machine.
  EXPECT_EQ(plan.hash(),
            "f5eb4b4e50cb6d3fde92fe943903ded724ae10ec54b0ef3758536c7548b050c4");
  EXPECT_NE(plan.hash(), other.hash());
}

} // namespace
