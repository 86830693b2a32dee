// What computes without an end, ends with the time that a session has for it.

#include "PlanBuilder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace sprt::test {
namespace {

constexpr double kLimit = 0.2;

/// The status of a run on two ranks, which comes soon after the limit.
std::string run(const PlanBuilder &builder, int threads = 1,
                double limit = kLimit) {
  auto begin = std::chrono::steady_clock::now();
  std::string text = Runner(builder, threads, limit).run({});
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LT(taken.count(), 15);
  return text;
}

plan::LoopT loopTo(int64_t upper) {
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = Expr(upper).build();
  return loop;
}

plan::FillT fill(int64_t at, int64_t bytes, uint8_t value) {
  plan::FillT fill;
  fill.target = view(at, bytes);
  fill.value = value;
  return fill;
}

TEST(Limit, endsLoopsOfAbsurdBounds) {
  for (bool hasOtherStream : {false, true}) {
    PlanBuilder builder(2);
    int64_t at = builder.arena(64);
    plan::LoopT loop = loopTo(int64_t(1) << 60);
    builder.add(fill(at, 64, 1), &loop.body).stream =
        hasOtherStream ? plan::Stream::comm : plan::Stream::compute;
    builder.add(std::move(loop)).name = "absurd";
    std::string text = run(builder);
    EXPECT_THAT_CONTAINS(text, ", command 0 \"absurd\", step ");
    EXPECT_THAT_CONTAINS(text, "a loop has taken more than 0.2 s; "
                               "--timeout=<seconds> lets it take longer");
  }
}

TEST(Limit, countsTheOutermostLoop) {
  PlanBuilder builder(1);
  int64_t at = builder.arena(64);
  plan::LoopT inner = loopTo(10), outer = loopTo(int64_t(1) << 60);
  builder.add(fill(at, 64, 1), &inner.body);
  builder.add(std::move(inner), &outer.body);
  builder.add(std::move(outer));
  EXPECT_THAT_CONTAINS(run(builder), "a loop has taken more than 0.2 s");
}

TEST(Limit, endsLoopsThatDataKeepsGoing) {
  PlanBuilder builder(1);
  int64_t at = builder.arena(64);
  plan::WhileT loop;
  builder.add(fill(at, 1, 1), &loop.condition);
  loop.predicate = view(at, 1);
  builder.add(std::move(loop)).name = "for ever";
  std::string text = run(builder);
  EXPECT_THAT_CONTAINS(text, "rank 0, command 0 \"for ever\"");
  EXPECT_THAT_CONTAINS(text, "a loop has taken more than 0.2 s");
}

void sleepATile(void *const *, const int64_t *, int64_t first, int64_t last,
                void *) {
  for (; first < last; ++first)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(Limit, endsKernels) {
  for (int threads : {1, 3}) {
    PlanBuilder builder(1);
    plan::LaunchT launch;
    launch.kernel = builder.kernel("sleep", sleepATile);
    launch.tiles = 150000;
    builder.add(std::move(launch)).name = "long";
    EXPECT_THAT_CONTAINS(run(builder, threads),
                         "rank 0, command 0 \"long\": a kernel has taken more "
                         "than 0.2 s");
  }
}

TEST(Limit, isOfEachLoopAndKernel) {
  PlanBuilder builder(1);
  uint32_t kernel = builder.kernel("sleep", sleepATile);
  for (int i = 0; i < 6; ++i) {
    plan::LoopT loop = loopTo(2);
    plan::LaunchT launch;
    launch.kernel = kernel;
    launch.tiles = 100;
    builder.add(std::move(launch), &loop.body);
    builder.add(std::move(loop));
  }
  EXPECT_EQ(run(builder, 1, 2), "");
}

} // namespace
} // namespace sprt::test
