// What holds of every plan.

#include "Draw.h"

#include <cinttypes>
#include <cstdio>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace sprt;

namespace {

TEST(RandomBatch, PassesTheCheckAndIsPlannedAlike) {
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    Case drawn = Draw(seed).batch();
    BatchPlan plan, again;
    ASSERT_EQ(text(planBatch(drawn.lengths, drawn.options, plan)), "") << seed;
    ASSERT_EQ(text(checkBatch(plan, drawn.lengths, drawn.options)), "") << seed;
    ASSERT_EQ(text(planBatch(drawn.lengths, drawn.options, again)), "") << seed;
    ASSERT_EQ(plan.hash(), again.hash()) << seed;
  }
}

/// As few micro-batches as may be, or a few more: a plan that fits, or none.
TEST(RandomBatch, KeepsToItsMicroBatches) {
  int64_t planned = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Draw draw(seed);
    Case drawn = draw.batch();
    int64_t tokens = 0, room = drawn.options.ranks * drawn.options.capacity;
    for (int64_t length : drawn.lengths)
      tokens += length;
    drawn.options.maxMicroBatches =
        std::max<int64_t>(1, (tokens + room - 1) / room + draw.number(0, 3));
    BatchPlan plan;
    std::string failure = text(planBatch(drawn.lengths, drawn.options, plan));
    if (!failure.empty()) {
      size_t number = 0;
      int64_t length = 0;
      ASSERT_EQ(std::sscanf(failure.c_str(),
                            "expected room for document %zu of %" SCNd64,
                            &number, &length),
                2)
          << failure;
      ASSERT_LT(number, drawn.lengths.size()) << seed;
      ASSERT_EQ(length, drawn.lengths[number]) << seed;
      // As few ranks as hold them leave most room.
      drawn.options.spread = false;
      EXPECT_NE(text(planBatch(drawn.lengths, drawn.options, plan)), "")
          << seed;
      continue;
    }
    ++planned;
    ASSERT_EQ(text(checkBatch(plan, drawn.lengths, drawn.options)), "") << seed;
  }
  EXPECT_GT(planned, 3000);
}

/// Each goes to the least loaded rank.
RC_GTEST_PROP(Batch, OfWholeDocumentsIsBalancedToOneOfThem,
              (const std::vector<uint8_t> &drawn)) {
  BatchOptions options;
  options.ranks = *rc::gen::inRange<int64_t>(1, 65);
  options.capacity = *rc::gen::inRange<int64_t>(256, 1000);
  std::vector<int64_t> lengths;
  for (uint8_t length : drawn)
    lengths.push_back(int64_t(length) + 1);
  BatchPlan plan;
  RC_ASSERT(text(planBatch(lengths, options, plan)) == "");
  RC_ASSERT(text(checkBatch(plan, lengths, options)) == "");
  auto [least, most] =
      std::minmax_element(plan.costs.begin(), plan.costs.end());
  int64_t longest =
      lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  RC_ASSERT(*most - *least <=
            longest * options.tokenCost + longest * (longest + 1) / 2);
}

/// The order in which documents lie names them, and changes nothing else.
RC_GTEST_PROP(Batch, CostsTheSameInAnyOrder,
              (const std::vector<uint16_t> &drawn)) {
  BatchOptions options;
  options.ranks = *rc::gen::inRange<int64_t>(64, 100);
  options.capacity = 1024;
  std::vector<int64_t> lengths;
  for (uint16_t length : drawn)
    lengths.push_back(int64_t(length) + 1);
  BatchPlan plan, reversed;
  RC_ASSERT(text(planBatch(lengths, options, plan)) == "");
  std::reverse(lengths.begin(), lengths.end());
  RC_ASSERT(text(planBatch(lengths, options, reversed)) == "");
  RC_ASSERT(text(checkBatch(reversed, lengths, options)) == "");
  RC_ASSERT(plan.costs == reversed.costs);
}

/// 32 Mi tokens, of which one document has 2 Mi, on 1 024 ranks.
TEST(LargeBatch, IsBalanced) {
  Draw draw(1);
  std::vector<int64_t> lengths;
  int64_t tokens = 2 << 20;
  while (tokens < 32 << 20) {
    // Powers of two down to 16, each half as often as the one before it.
    int64_t length = 16;
    while (length < 65536 && draw.number(0, 2))
      length *= 2;
    length = std::min<int64_t>(draw.number(length, 2 * length - 1),
                               (32 << 20) - tokens);
    lengths.push_back(length);
    tokens += length;
  }
  lengths.insert(lengths.begin() + 100, 2 << 20);
  BatchOptions options;
  options.ranks = 1024;
  options.capacity = 8192;
  for (bool spread : {false, true}) {
    options.spread = spread;
    BatchPlan plan;
    ASSERT_EQ(text(planBatch(lengths, options, plan)), "");
    ASSERT_EQ(text(checkBatch(plan, lengths, options)), "");
    int64_t all = 0, most = 0;
    for (int64_t cost : plan.costs) {
      all += cost;
      most = std::max(most, cost);
    }
    // No rank has more than one of the 256 that share the longest document.
    int64_t share = 8192 * options.tokenCost + (int64_t(1) << 41) / 256 + 8192;
    int64_t bound = spread ? all / 1024 : std::max(all / 1024, share);
    EXPECT_LE(most, bound + bound / 100);
  }
}

} // namespace
