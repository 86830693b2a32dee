// What checkBatch says of a plan, one text for each rule.

#include "Draw.h"

#include <gtest/gtest.h>

using namespace sprt;

namespace {

/// 0-2: [0,2) [8,9) | 0-1: [14,16) [18,19) | [12,14)
/// 0-2: [2,4) [7,8) | 0-1: [16,18) | [9,12)
/// 0-2: [4,7) | [19,23)
class BatchCheck : public testing::Test {
protected:
  BatchCheck() {
    options.ranks = 3;
    options.capacity = 4;
    EXPECT_EQ(text(planBatch(lengths, options, plan)), "");
    EXPECT_EQ(failure(), "");
  }

  std::string failure() const {
    return text(checkBatch(plan, lengths, options));
  }
  BatchPlan::Work &work(size_t rank, size_t microBatch) {
    return plan.work[rank][microBatch];
  }

  std::vector<int64_t> lengths = {9, 3, 2, 5, 4};
  BatchOptions options;
  BatchPlan plan;
};

TEST_F(BatchCheck, CountsRanks) {
  plan.work.pop_back();
  EXPECT_EQ(failure(), "expected a plan for 3 ranks but got 2");
}

TEST_F(BatchCheck, CountsMicroBatches) {
  options.maxMicroBatches = 2;
  EXPECT_EQ(failure(), "expected at most 2 micro-batches but got 3");
}

TEST_F(BatchCheck, WantsRanksInTheirGroups) {
  work(0, 2).group = {1, 1};
  EXPECT_EQ(failure(), "rank 0, micro-batch 2: expected a group of ranks with "
                       "this one but got 1 from rank 1");
}

TEST_F(BatchCheck, WantsMembersToAgree) {
  work(1, 0).group = {0, 2};
  EXPECT_EQ(failure(), "rank 0, micro-batch 0: expected rank 1 to be in the "
                       "group of 3 ranks from 0 but it is in one of 2 from 0");
}

TEST_F(BatchCheck, WantsMembersToComeAlong) {
  plan.work[1].resize(1);
  EXPECT_EQ(failure(), "rank 0, micro-batch 1: rank 1 of its group has no such "
                       "micro-batch");
}

TEST_F(BatchCheck, WantsDocumentsThatAreThere) {
  work(0, 2).pieces[0].document = 5;
  EXPECT_EQ(failure(),
            "rank 0, micro-batch 2: expected one of 5 documents but got 5");
}

TEST_F(BatchCheck, WantsPiecesInTheirDocuments) {
  work(0, 2).pieces[0].document = 1;
  EXPECT_EQ(failure(), "rank 0, micro-batch 2: expected positions of document "
                       "1, of [9, 12), but got [12, 14)");
}

TEST_F(BatchCheck, WantsPiecesInOrder) {
  std::swap(work(0, 0).pieces[0], work(0, 0).pieces[1]);
  EXPECT_EQ(failure(), "rank 0, micro-batch 0: expected ascending positions "
                       "but got 0 behind 9");
}

TEST_F(BatchCheck, KeepsToTheCapacity) {
  std::vector<BatchPlan::Piece> &pieces = work(2, 1).pieces;
  pieces.insert(pieces.begin(), work(0, 2).pieces[0]);
  work(0, 2).pieces.clear();
  EXPECT_EQ(failure(),
            "rank 2, micro-batch 1: expected at most 4 tokens but got 6");
}

TEST_F(BatchCheck, FindsPositionsThatAreLost) {
  work(1, 0).pieces[0].end = 3;
  EXPECT_EQ(failure(), "document 0: no rank has position 3");
}

TEST_F(BatchCheck, FindsLastPositionsThatAreLost) {
  work(1, 2).pieces[0].end = 11;
  EXPECT_EQ(failure(), "document 1: no rank has position 11");
}

TEST_F(BatchCheck, FindsPositionsThatAreThereTwice) {
  work(2, 0).pieces[0].begin = 3;
  EXPECT_EQ(failure(), "document 0: position 3 is there twice");
}

TEST_F(BatchCheck, WantsShortDocumentsWhole) {
  work(1, 2).pieces[0].end = 11;
  work(0, 2).pieces.insert(work(0, 2).pieces.begin(), {1, 11, 12});
  EXPECT_EQ(failure(), "document 1: expected its 3 tokens on one rank, whose "
                       "capacity is 4, but got 2 pieces");
}

TEST_F(BatchCheck, WantsDocumentsInOneMicroBatch) {
  work(0, 2).pieces.push_back(work(0, 1).pieces[1]);
  work(0, 1).pieces.pop_back();
  EXPECT_EQ(failure(), "document 3: expected one micro-batch but got 1 on rank "
                       "0 and 2 on rank 0");
}

TEST_F(BatchCheck, WantsDocumentsInTheirGroup) {
  lengths = {5};
  EXPECT_EQ(text(planBatch(lengths, options, plan)), "");
  plan.work[2].push_back({{2, 1}, {{0, 4, 5}}});
  work(0, 0).pieces.pop_back();
  EXPECT_EQ(failure(), "document 0: expected all of it in the group from rank "
                       "0 but rank 2 has a piece");
}

TEST_F(BatchCheck, WantsEqualChunks) {
  std::swap(work(0, 0).pieces, work(1, 0).pieces);
  EXPECT_EQ(failure(), "document 0: expected 2 tokens of chunk 0 of 6 on rank "
                       "0 but got 0");
}

TEST_F(BatchCheck, WantsOneDocumentInAGroup) {
  lengths = {6, 6};
  options.spread = true;
  plan.work = {{{{0, 3}, {{0, 0, 1}, {0, 5, 6}, {1, 6, 7}, {1, 11, 12}}}},
               {{{0, 3}, {{0, 1, 2}, {0, 4, 5}, {1, 7, 8}, {1, 10, 11}}}},
               {{{0, 3}, {{0, 2, 4}, {1, 8, 10}}}}};
  EXPECT_EQ(failure(), "document 1: its group has document 0 as well");
}

TEST_F(BatchCheck, WantsADocumentInAGroup) {
  lengths = {1, 1};
  EXPECT_EQ(text(planBatch(lengths, options, plan)), "");
  work(0, 0).group = work(1, 0).group = {0, 2};
  EXPECT_EQ(failure(), "expected 0 groups, one for each document on several "
                       "ranks, but got 1");
}

TEST_F(BatchCheck, CountsCosts) {
  ++plan.costs[1];
  EXPECT_EQ(failure(), "rank 1: expected a cost of 196636 but got 196637");
  plan.costs.pop_back();
  plan.costs[1]--;
  EXPECT_EQ(failure(), "expected the costs of 3 ranks but got 2");
}

} // namespace
