// Ranks that fail or stall, arrays that do not fit: one status that says it
// all.

#include "Programs.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sprt::test {
namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

class Injected : public testing::Test {
protected:
  /// Runs a ring of 4 in which rank 2 breaks at `command`.
  std::string run(int64_t command, bool stalls, double timeout) {
    runner = std::make_unique<Runner>(
        ringSum(4, 16, plan::LayoutKind::contiguous), 1, timeout);
    runner->options.inject_rank = 2;
    runner->options.inject_command = command;
    runner->options.inject_stall = stalls;
    return runner->run({ramp(16 * kRingWidth)});
  }
  std::unique_ptr<Runner> runner;
};

TEST_F(Injected, failureEndsEveryRankWithRankCommandStepAndPeer) {
  auto start = std::chrono::steady_clock::now();
  std::string text = run(4, false, 30);
  EXPECT_LT(secondsSince(start), 15);
  EXPECT_EQ(
      text.find(
          "rank 2, command 4 \"shift\", step 0: failed on request (--inject)"),
      0U)
      << text;
  for (const char *other : {"\nrank 0, ", "\nrank 1, ", "\nrank 3, "})
    EXPECT_THAT_CONTAINS(text, other);
  EXPECT_THAT_CONTAINS(text, " because rank 2 ended the run");
  EXPECT_EQ(runner->run({ramp(16 * kRingWidth)}),
            "this session has failed; create a new one");
}

TEST_F(Injected, stallEndsWithinTheLimitAndNamesThePeer) {
  auto start = std::chrono::steady_clock::now();
  std::string text = run(4, true, 0.5);
  EXPECT_LT(secondsSince(start), 15);
  // Whose limit ends first speaks first.
  EXPECT_THAT_CONTAINS(text, ": waited 0.5 s to ");
  for (const char *other :
       {"rank 0, ", "rank 1, ", "rank 3, ",
        "rank 2, command 4 \"shift\", step 0: stalled on request"})
    EXPECT_THAT_CONTAINS(text, other);
}

TEST_F(Injected, failingKernelIsNoticedByItsPeers) {
  std::string text = run(5, false, 30);
  EXPECT_EQ(text.find("rank 2, command 5 \"add\", step 0: failed on request"),
            0U)
      << text;
}

TEST_F(Injected, statusKnowsRankAndCommand) {
  runner = std::make_unique<Runner>(ringSum(2, 4, plan::LayoutKind::contiguous),
                                    1, 30);
  runner->options.inject_rank = 1;
  runner->options.inject_command = 4;
  ASSERT_EQ(runner->open(runner->options), "");
  std::vector<float> x = ramp(4 * kRingWidth), out(x.size());
  int64_t shape[] = {4, kRingWidth};
  sprt_array in = {sizeof in, SPRT_F32, 2, shape, x.data()};
  sprt_array result = {sizeof result, SPRT_F32, 2, shape, out.data()};
  sprt_status *status = sprt_session_run(runner->session, &in, 1, &result, 1);
  EXPECT_EQ(sprt_status_code(status), SPRT_FAILED);
  EXPECT_EQ(sprt_status_rank(status), 1);
  EXPECT_EQ(sprt_status_command(status), 4);
  sprt_status_free(status);
}

TEST(SingleRank, stallEndsWithoutAnyPeer) {
  Runner runner(ringSum(1, 2, plan::LayoutKind::contiguous), 1, 0.2);
  runner.options.inject_rank = 0;
  runner.options.inject_command = 0;
  runner.options.inject_stall = 1;
  EXPECT_THAT_CONTAINS(runner.run({ramp(2 * kRingWidth)}),
                       "stalled on request");
}

TEST(Options, thatDoNotFitAreRefused) {
  Runner runner(ringSum(2, 4, plan::LayoutKind::contiguous));
  sprt_session_options options = runner.options;
  options.communicator = "pigeon";
  EXPECT_EQ(runner.open(options),
            "expected communicator \"thread\" or \"mpi\" for executor \"cpu\" "
            "but got \"pigeon\"");
  options = runner.options;
  options.executor = "tpu";
  EXPECT_EQ(runner.open(options),
            "expected executor \"cpu\" or \"cuda\" but got \"tpu\"");
  options = runner.options;
  options.inject_rank = 2;
  EXPECT_THAT_CONTAINS(runner.open(options),
                       "expected a rank below 2 and a command below 7");
  options = runner.options;
  options.size = 8;
  EXPECT_THAT_CONTAINS(runner.open(options), "set its size field");
}

TEST(Arguments, thatDoNotFitAreRefusedByName) {
  Runner runner(ringSum(2, 4, plan::LayoutKind::contiguous));
  ASSERT_EQ(runner.open(runner.options), "");
  std::vector<float> x = ramp(4 * kRingWidth), out(x.size());
  int64_t shape[] = {4, kRingWidth}, other[] = {5, kRingWidth};
  sprt_array good = {sizeof good, SPRT_F32, 2, shape, x.data()};
  sprt_array result = {sizeof result, SPRT_F32, 2, shape, out.data()};
  auto run = [&](sprt_array in, int64_t count) {
    return take(sprt_session_run(runner.session, &in, count, &result, 1));
  };
  sprt_array bad = good;
  bad.shape = other;
  EXPECT_EQ(run(bad, 1), "expected shape 4x1024 for \"x\" but got 5x1024");
  bad = good;
  bad.dimensions = 1;
  EXPECT_EQ(run(bad, 1), "expected shape 4x1024 for \"x\" but got 4");
  bad = good;
  bad.dtype = SPRT_F64;
  EXPECT_EQ(run(bad, 1), "expected elements of type f32 for \"x\" but got f64");
  bad = good;
  bad.data = nullptr;
  EXPECT_EQ(run(bad, 1), "no data for \"x\"");
  EXPECT_EQ(run(good, 0), "expected 1 inputs but got 0");
  EXPECT_EQ(run(good, 1), "");
}

TEST(Results, areAllocatedWhereTheCallerHasNone) {
  Runner runner(ringSum(2, 4, plan::LayoutKind::zigzag));
  ASSERT_EQ(runner.open(runner.options), "");
  std::vector<float> x = ramp(4 * kRingWidth);
  int64_t shape[] = {4, kRingWidth};
  sprt_array in = {sizeof in, SPRT_F32, 2, shape, x.data()};
  sprt_array result = {};
  result.size = sizeof result;
  ASSERT_EQ(take(sprt_session_run(runner.session, &in, 1, &result, 1)), "");
  EXPECT_EQ(result.dtype, SPRT_F32);
  ASSERT_EQ(result.dimensions, 2);
  EXPECT_EQ(result.shape[0], 4);
  const float *data = static_cast<const float *>(result.data);
  EXPECT_EQ(std::vector<float>(data, data + x.size()),
            ringSumReference(2, 4, plan::LayoutKind::zigzag, x));
  sprt_buffer_free(result.data);
}

TEST(Results, knowTheRankOfAnElement) {
  Runner runner(ringSum(2, 4, plan::LayoutKind::zigzag));
  for (auto [row, owner] : {std::pair(0, 0), {1, 1}, {2, 1}, {3, 0}}) {
    int64_t rank = -1;
    ASSERT_EQ(take(sprt_program_result_rank(runner.program, 0,
                                            row * kRingWidth + 5, &rank)),
              "");
    EXPECT_EQ(rank, owner) << row;
  }
}

} // namespace
} // namespace sprt::test
