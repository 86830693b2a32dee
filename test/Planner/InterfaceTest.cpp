// The C ABI of batches.

#include "Draw.h"

#include "sprt/batch.h"
#include "sprt/sprt.h"

#include <gtest/gtest.h>

using namespace sprt;

namespace {

/// The status's text, which goes with it.
std::string textOf(sprt_status *status) {
  std::string text = sprt_status_text(status);
  sprt_status_free(status);
  return text;
}

TEST(BatchInterface, SaysWhatThePlanSays) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Case drawn = Draw(seed).batch();
    BatchPlan plan;
    ASSERT_EQ(text(planBatch(drawn.lengths, drawn.options, plan)), "");
    sprt_batch_options options;
    sprt_batch_options_init(&options);
    options.token_cost = drawn.options.tokenCost;
    options.pair_cost = drawn.options.pairCost;
    options.spread = drawn.options.spread;
    sprt_batch *batch = nullptr;
    ASSERT_EQ(textOf(sprt_batch_plan(drawn.lengths.data(),
                                     int64_t(drawn.lengths.size()),
                                     drawn.options.ranks,
                                     drawn.options.capacity, &options, &batch)),
              "");
    EXPECT_EQ(sprt_batch_hash(batch), plan.hash());
    EXPECT_EQ(sprt_batch_micro_batches(batch), plan.microBatches());
    std::vector<int64_t> costs(plan.costs.size());
    EXPECT_EQ(
        textOf(sprt_batch_costs(batch, int64_t(costs.size()), costs.data())),
        "");
    EXPECT_EQ(costs, plan.costs);
    int64_t all = 0, sum = 0;
    ASSERT_TRUE(sprt_batch_all_pieces(batch, &all) || !all);
    for (int64_t rank = 0; rank < drawn.options.ranks; ++rank) {
      const std::vector<BatchPlan::Work> &own = plan.work[size_t(rank)];
      int64_t count = -1;
      EXPECT_EQ(textOf(sprt_batch_rank_micro_batches(batch, rank, &count)), "");
      EXPECT_EQ(count, int64_t(own.size()));
      for (int64_t i = 0; i < plan.microBatches(); ++i) {
        BatchPlan::Work none{{rank, 1}, {}};
        const BatchPlan::Work &work = i < count ? own[size_t(i)] : none;
        int64_t first = -1, size = -1, pieces = -1;
        const sprt_batch_piece *piece = nullptr;
        EXPECT_EQ(textOf(sprt_batch_group(batch, i, rank, &first, &size)), "");
        EXPECT_EQ(first, work.group.first);
        EXPECT_EQ(size, work.group.size);
        EXPECT_EQ(textOf(sprt_batch_pieces(batch, i, rank, &piece, &pieces)),
                  "");
        ASSERT_EQ(size_t(pieces), work.pieces.size());
        for (const BatchPlan::Piece &each : work.pieces) {
          EXPECT_EQ(piece->rank, rank);
          EXPECT_EQ(piece->micro_batch, i);
          EXPECT_EQ(piece->document, each.document);
          EXPECT_EQ(piece->begin, each.begin);
          EXPECT_EQ((piece++)->end, each.end);
        }
        sum += pieces;
      }
    }
    EXPECT_EQ(sum, all);
    sprt_batch_free(batch);
  }
}

TEST(BatchInterface, SaysWhatDoesNotFit) {
  int64_t lengths[] = {5}, number = 0;
  sprt_batch *batch = nullptr;
  const sprt_batch_piece *pieces = nullptr;
  EXPECT_EQ(textOf(sprt_batch_plan(nullptr, 1, 1, 1, nullptr, &batch)),
            "expected \"lengths\" but got NULL");
  EXPECT_EQ(textOf(sprt_batch_plan(lengths, 1, 1, 1, nullptr, nullptr)),
            "expected \"out_batch\" but got NULL");
  EXPECT_EQ(textOf(sprt_batch_plan(lengths, -1, 1, 1, nullptr, &batch)),
            "expected at least 0 documents but got -1");
  sprt_batch_options options = {};
  EXPECT_EQ(textOf(sprt_batch_plan(lengths, 1, 1, 1, &options, &batch)),
            "expected a struct sprt_batch_options of 40 bytes but got 0; set "
            "its size field");
  EXPECT_EQ(textOf(sprt_batch_plan(lengths, 1, 2, 2, nullptr, &batch)),
            "expected documents of at most 4 tokens (2 ranks with a capacity "
            "of 2) but document 0 has 5; it fits on 3 ranks, or with a "
            "capacity of 3");
  EXPECT_EQ(batch, nullptr);
  ASSERT_EQ(textOf(sprt_batch_plan(lengths, 1, 2, 3, nullptr, &batch)), "");
  EXPECT_EQ(textOf(sprt_batch_group(batch, 0, 2, &number, &number)),
            "expected a rank of [0, 2) but got 2");
  EXPECT_EQ(textOf(sprt_batch_pieces(batch, 1, 0, &pieces, &number)),
            "expected a micro-batch of [0, 1) but got 1");
  EXPECT_EQ(textOf(sprt_batch_pieces(batch, 0, 0, nullptr, &number)),
            "expected \"out_pieces\" but got NULL");
  EXPECT_EQ(textOf(sprt_batch_costs(batch, 3, &number)),
            "expected room for 2 costs but got 3");
  EXPECT_EQ(textOf(sprt_batch_rank_micro_batches(nullptr, 0, &number)),
            "expected \"batch\" but got NULL");
  sprt_batch_free(batch);
  sprt_batch_free(nullptr);
}

TEST(BatchInterface, TakesNoDocuments) {
  sprt_batch *batch = nullptr;
  ASSERT_EQ(textOf(sprt_batch_plan(nullptr, 0, 3, 1, nullptr, &batch)), "");
  EXPECT_EQ(sprt_batch_micro_batches(batch), 0);
  sprt_batch_free(batch);
}

} // namespace
