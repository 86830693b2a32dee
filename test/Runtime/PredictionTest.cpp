// What is said of a run before it: as much as is measured, and the same whether
// ranks are counted together or one by one.

#include "BackwardRing.h"
#include "CudaRing.h"
#include "Programs.h"

#include "sprt/pages.h"
#include "walk/Prediction.h"
#include "walk/Sameness.h"
#include "walk/TouchedMemory.h"

#include <gtest/gtest.h>

using namespace sprt;
using namespace sprt::test;

namespace {

struct Case {
  int64_t ranks, length;
  plan::LayoutKind kind;
};
std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return plan::EnumNameLayoutKind(info.param.kind) +
         std::to_string(info.param.length) + "on" +
         std::to_string(info.param.ranks);
}

/// The loop of a ring with one step of attention a turn, whatever the turn:
/// what is left when step `number` and all conditions are gone.
PlanBuilder unconditional(PlanBuilder builder, size_t number) {
  for (auto &command : builder.plan.commands)
    if (plan::LoopT *loop = command->operation.AsLoop()) {
      loop->body.erase(loop->body.begin() + static_cast<ptrdiff_t>(number));
      for (auto &inner : loop->body)
        inner->when = nullptr;
    }
  return builder;
}

bool isLoopSame(const PlanBuilder &builder) {
  Program program;
  std::vector<uint8_t> bytes = builder.bytes();
  Status failure = program.read(bytes.data(), bytes.size(), nullptr);
  EXPECT_FALSE(failure) << failure->text;
  Sameness same(program, program.bindings, /*looks=*/true);
  bool isSame = false;
  for (const Step *step : program.stepOf)
    if (step->command->operation.AsLoop())
      isSame = same.of(*step);
  return isSame;
}

class Predictions : public testing::TestWithParam<Case> {
protected:
  static std::vector<Prediction> of(const PlanBuilder &builder) {
    Program program;
    std::vector<uint8_t> bytes = builder.bytes();
    Status failure = program.read(bytes.data(), bytes.size(), nullptr);
    EXPECT_FALSE(failure) << failure->text;
    std::vector<Prediction> together, oneByOne;
    EXPECT_FALSE(predict(program, together));
    EXPECT_FALSE(predict(program, oneByOne, Counting::oneByOne));
    EXPECT_EQ(together.size(), oneByOne.size());
    for (size_t rank = 0; rank < together.size(); ++rank) {
      SCOPED_TRACE("rank " + std::to_string(rank));
      EXPECT_EQ(together[rank].bytesSent, oneByOne[rank].bytesSent);
      EXPECT_EQ(together[rank].flops, oneByOne[rank].flops);
      // Of many rows one more counts for all.
      EXPECT_GE(together[rank].touchedBytes, oneByOne[rank].touchedBytes);
      EXPECT_LE(static_cast<double>(together[rank].touchedBytes),
                1.02 * static_cast<double>(oneByOne[rank].touchedBytes));
      EXPECT_EQ(together[rank].isExact, oneByOne[rank].isExact);
    }
    return together;
  }
};

TEST_P(Predictions, areMeasured) {
  auto [ranks, length, kind] = GetParam();
  PlanBuilder builder = ringSum(ranks, length, kind);
  std::vector<Prediction> predictions = of(builder);
  Runner runner(builder);
  ASSERT_EQ(runner.run({ramp(static_cast<size_t>(length * kRingWidth))}), "");
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const Prediction &each = predictions[static_cast<size_t>(rank)];
    EXPECT_EQ(each.bytesSent, runner.statistics(rank).bytes_sent);
    EXPECT_GE(each.touchedBytes, runner.statistics(rank).peak_bytes);
    EXPECT_LE(0.95 * static_cast<double>(each.touchedBytes),
              static_cast<double>(runner.statistics(rank).peak_bytes));
    EXPECT_TRUE(each.isExact);
  }
}

TEST_P(Predictions, countPairsOfAllTurns) {
  auto [ranks, length, kind] = GetParam();
  for (bool isCausal : {false, true}) {
    SCOPED_TRACE(isCausal);
    int64_t pairs = isCausal ? length * (length + 1) / 2 : length * length;
    auto flopsOf = [&](const PlanBuilder &ring) {
      int64_t flops = 0;
      for (const Prediction &each : of(ring))
        flops += each.flops;
      return flops;
    };
    PlanBuilder forward = cudaRing({ranks, length, kind, isCausal}),
                gradients = backwardRing({ranks, length, kind, isCausal});
    int64_t flops = pairs * kRingHeads * 2 * (kRingHead + kRingHead);
    EXPECT_EQ(flopsOf(forward), flops);
    EXPECT_EQ(flopsOf(unconditional(std::move(forward), 1)), flops);
    using namespace backward;
    flops = pairs * kHeads * 2 * (3 * kHead + 2 * kValue);
    EXPECT_EQ(flopsOf(gradients), flops);
    EXPECT_EQ(flopsOf(unconditional(std::move(gradients), 0)), flops);
  }
}

constexpr auto kContiguous = plan::LayoutKind::contiguous,
               kZigzag = plan::LayoutKind::zigzag,
               kStriped = plan::LayoutKind::striped;
INSTANTIATE_TEST_SUITE_P(
    Rings, Predictions,
    testing::Values(Case{1, 8, kContiguous}, Case{4, 16, kContiguous},
                    Case{3, 7, kContiguous}, Case{4, 16, kZigzag},
                    Case{5, 23, kZigzag}, Case{6, 3, kZigzag},
                    Case{4, 32, kStriped}, Case{7, 20, kStriped},
                    Case{3, 331, kContiguous}, Case{5, 333, kZigzag}),
    nameOf);

TEST(Prediction, turnsOfRingsAreLookedAtOnce) {
  auto ring = [](int64_t ranks, int64_t length) {
    return unconditional(cudaRing({ranks, length, kZigzag, /*causal=*/true}),
                         1);
  };
  EXPECT_TRUE(isLoopSame(ring(4, 16)));
  EXPECT_TRUE(isLoopSame(ring(4, 257))); // one of 65 rows may be missing
  EXPECT_FALSE(isLoopSame(ring(4, 15)));
  EXPECT_FALSE(isLoopSame(cudaRing({4, 16, kZigzag, true})));
  EXPECT_TRUE(isLoopSame(ringSum(4, 16, kZigzag)));
}

TEST(Prediction, touchesRunsThatLieCloseAtOnce) {
  constexpr int64_t kArena = 3 * kLargePageBytes + 5 * kSmallPageBytes + 7;
  for (int64_t gap : {0, 1, 4095, 4096, 4097, 8191, 8192, 9000})
    for (int64_t page : {kSmallPageBytes, kLargePageBytes})
      for (int64_t begin : {int64_t(0), page - 1, 5 * kLargePageBytes / 2}) {
        SCOPED_TRACE(testing::Message() << gap << " " << page << " " << begin);
        int64_t bytes = 100, stride = bytes + page - kSmallPageBytes + gap,
                count = std::min<int64_t>((kArena - begin) / stride, 90);
        TouchedMemory together(kArena), oneByOne(kArena);
        together.touch(begin, bytes, count, stride);
        for (int64_t i = 0; i < count; ++i)
          oneByOne.touch(begin + i * stride, bytes);
        EXPECT_EQ(together.bytes(), oneByOne.bytes());
      }
  // More than anybody waits for one by one.
  constexpr int64_t kRuns = int64_t(1) << 44;
  TouchedMemory many(16 * kRuns);
  many.touch(0, 8, kRuns, 16);
  EXPECT_EQ(many.bytes(), 16 * kRuns);
}

TEST(Prediction, countsWhatKernelsMultiplyInEachTurn) {
  PlanBuilder builder = ringSum(3, 7, kZigzag);
  for (auto &command : builder.plan.commands)
    if (plan::LoopT *loop = command->operation.AsLoop())
      for (auto &inner : loop->body)
        if (plan::LaunchT *launch = inner->operation.AsLaunch())
          launch->flops = 14;
  Program program;
  std::vector<uint8_t> bytes = builder.bytes();
  Status failure = program.read(bytes.data(), bytes.size(), nullptr);
  ASSERT_FALSE(failure) << failure->text;
  std::vector<Prediction> predictions;
  ASSERT_FALSE(predict(program, predictions));
  for (const Prediction &each : predictions)
    EXPECT_EQ(each.flops, 3 * 14);
}

/// What keeps a ring of so many turns from being predicted, or "".
std::string wrongWithTurns(PlanBuilder builder, int64_t turns) {
  for (auto &command : builder.plan.commands)
    if (plan::LoopT *loop = command->operation.AsLoop())
      loop->upper = Expr(turns).build();
  Program program;
  std::vector<uint8_t> bytes = builder.bytes();
  Status failure = program.read(bytes.data(), bytes.size(), nullptr);
  std::vector<Prediction> predictions;
  if (!failure)
    failure = predict(program, predictions);
  return failure ? failure->text : "";
}

TEST(Prediction, refusesMoreTurnsThanItCanLookAt) {
  for (bool areSummed : {false, true}) {
    SCOPED_TRACE(areSummed);
    auto ring = [&] {
      PlanBuilder builder = cudaRing({4, 16, kZigzag, /*causal=*/true});
      return areSummed ? unconditional(std::move(builder), 1)
                       : std::move(builder);
    };
    EXPECT_EQ(wrongWithTurns(ring(), 1000), "");
    EXPECT_THAT_CONTAINS(
        wrongWithTurns(ring(), int64_t(1) << 33),
        "expected at most 4294967296 turns of loops, over all ranks, to "
        "predict what a run sends and touches but got 8589934592 after 0; do "
        "more in "
        "each turn, or leave out what asks for it (--explain, --report)");
    EXPECT_THAT_CONTAINS(wrongWithTurns(ring(), INT64_MAX), "turns of loops");
  }
}

TEST(Prediction, wantsRoomForEachRank) {
  std::vector<uint8_t> bytes =
      ringSum(3, 6, plan::LayoutKind::contiguous).bytes();
  sprt_prediction predictions[3] = {};
  predictions[0].size = predictions[1].size = sizeof *predictions;
  EXPECT_EQ(take(sprt_plan_predict(bytes.data(), bytes.size(), nullptr, 0, 2,
                                   predictions)),
            "expected room for 3 predictions but got 2");
  EXPECT_THAT_CONTAINS(take(sprt_plan_predict(bytes.data(), bytes.size(),
                                              nullptr, 0, 3, predictions)),
                       "sprt_prediction");
  predictions[2].size = sizeof *predictions;
  EXPECT_EQ(take(sprt_plan_predict(bytes.data(), bytes.size(), nullptr, 0, 3,
                                   predictions)),
            "");
  EXPECT_GT(predictions[2].bytes_sent, 0);
  EXPECT_EQ(predictions[2].exact, 1);
  EXPECT_NE(take(sprt_plan_predict(bytes.data(), bytes.size() / 2, nullptr, 0,
                                   3, predictions)),
            "");
}

// Owners of the last block's rows may have none, though all rows are a multiple
// of them.
TEST(Prediction, ownersOfUnevenBlocksDiffer) {
  using algebra::Layout;
  EXPECT_FALSE(Sameness::isEven(
      Layout(algebra::LayoutKind::zigzag, 45, 3, 1, 60, {5, false})));
  EXPECT_TRUE(Sameness::isEven(
      Layout(algebra::LayoutKind::zigzag, 60, 3, 1, 60, {5, false})));
  EXPECT_TRUE(Sameness::isEven(Layout(algebra::LayoutKind::contiguous, 45, 3)));
}

} // namespace
