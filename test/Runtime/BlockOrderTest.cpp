// In which order blocks of queries begin.

#include "CudaRing.h"
#include "tiles/SliceTable.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace sprt::test {
namespace {

TEST(BlockOrder, followsWhatBlocksSee) {
  using plan::BlockOrder;
  auto ordered = [](int64_t queries, int64_t hi, BlockOrder order) {
    return orderBlocks(
        {{0, queries, 0, queries, algebra::unboundedBelow, hi, 1, 1, 0}},
        queries, 4, order);
  };
  using Blocks = std::vector<int64_t>;
  EXPECT_EQ(ordered(12, 0, BlockOrder::heaviestFirst), (Blocks{2, 1, 0}));
  EXPECT_EQ(ordered(12, 0, BlockOrder::lightestFirst), (Blocks{0, 1, 2}));
  // Of equals the first one first; the last block has fewer queries.
  int64_t all = algebra::unboundedAbove;
  EXPECT_EQ(ordered(10, all, BlockOrder::heaviestFirst), (Blocks{0, 1, 2}));
  EXPECT_EQ(ordered(10, all, BlockOrder::lightestFirst), (Blocks{2, 0, 1}));
}

TEST(BlockOrder, blocksSayWhichSlicesTheyMeet) {
  using plan::BlockOrder;
  constexpr int64_t none = algebra::unboundedBelow,
                    all = algebra::unboundedAbove;
  // Documents of 6, 2 and 4 rows.
  std::vector<sprt_slice> documents;
  for (auto [first, end] : {std::pair(0, 6), std::pair(6, 8), std::pair(8, 12)})
    documents.push_back({first, end, first, end, none, all, 1, 1, 0});
  BlockList list =
      listBlocks(documents, 12, 4, BlockOrder::heaviestFirst, false);
  EXPECT_EQ(list.order, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(list.ranges, (std::vector<int32_t>{0, 1, 0, 2, 2, 3}));
  EXPECT_FALSE(list.isEven);
}

TEST(BlockOrder, aCarriedStateIsLeftWhereNothingIsSeen) {
  using plan::BlockOrder;
  constexpr int64_t none = algebra::unboundedBelow,
                    all = algebra::unboundedAbove;
  // The second half of a zigzag's rows sees all keys; then a causal corner.
  std::vector<sprt_slice> half = {{8, 16, 0, 16, none, all, 1, 1, 0}};
  BlockList list = listBlocks(half, 16, 4, BlockOrder::heaviestFirst, true);
  EXPECT_EQ(list.order, (std::vector<int32_t>{2, 3}));
  EXPECT_TRUE(list.isEven);
  EXPECT_EQ(listBlocks(half, 16, 4, BlockOrder::heaviestFirst, false).order,
            (std::vector<int32_t>{2, 3, 0, 1}));
  std::vector<sprt_slice> corner = {{0, 16, 0, 16, none, -9, 1, 1, 0}};
  EXPECT_EQ(listBlocks(corner, 16, 4, BlockOrder::heaviestFirst, true).order,
            (std::vector<int32_t>{3, 2}));
}

TEST(BlockOrder, asFewPairsTogetherAsKeepTheGridBusy) {
  BlockList even, uneven;
  even.order = uneven.order = std::vector<int32_t>(16);
  uneven.isEven = false;
  // A grid of 132: 17 pairs of 16 items are more than two items a block; of 128
  // pairs that makes seven groups, of which the last one is about as large.
  EXPECT_EQ(groupPairs(even, 128, 1, 132), 1);
  EXPECT_EQ(groupPairs(uneven, 128, 1, 132), 19);
  // Those of a kv head stay together.
  EXPECT_EQ(groupPairs(even, 128, 4, 132), 4);
  EXPECT_EQ(groupPairs(uneven, 128, 4, 132), 20);
  EXPECT_EQ(groupPairs(uneven, 33, 1, 132), 0);
  EXPECT_EQ(groupPairs(uneven, 34, 1, 132), 17);
  EXPECT_EQ(groupPairs(even, 1, 1, 132), 0);
  uneven.order.clear();
  EXPECT_EQ(groupPairs(uneven, 128, 1, 132), 0);
}

/// Fails with the order of blocks.
int tellOrder(const void *raw, int64_t, uint64_t, char *error,
              int64_t errorBytes) {
  const auto &a = *static_cast<const cuda::AttendArguments *>(raw);
  std::string blocks = "order";
  for (int i = 0; i < a.queryBlocks; ++i)
    blocks += " " + std::to_string(a.order[i]);
  std::snprintf(error, static_cast<size_t>(errorBytes), "%s", blocks.c_str());
  return 1;
}

TEST(BlockOrder, kernelsTakeThePlans) {
  using plan::BlockOrder;
  for (auto [order, expected] :
       {std::pair(BlockOrder::heaviestFirst, "order 3 2 1 0"),
        std::pair(BlockOrder::lightestFirst, "order 0 1 2 3")}) {
    PlanBuilder builder = cudaRing({1, 12, plan::LayoutKind::contiguous, true});
    plan::LoopT &loop = *builder.plan.commands[2]->operation.AsLoop();
    loop.body[1]->operation.AsAttend()->order = order;
    builder.emulateAttention("attend", tellOrder);
    EXPECT_THAT_CONTAINS(Runner(builder, 1, 5).run(RingInputs(12).arrays()),
                         expected);
  }
}

} // namespace
} // namespace sprt::test
