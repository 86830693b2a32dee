// Sessions and threads: what may go on at once, what is refused, and runs that
// are ended from outside.

#include "Programs.h"

#include "tiles/SliceTable.h"
#include "tiles/TilePool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace sprt::test {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr int64_t kLength = 16;
const std::string kBusy =
    "this session is in use: another call or a run that sprt_session_start "
    "began is under way; create a session for each thread";

/// A session of a ring of 4, and its arrays.
struct Ring : Runner {
  Ring() : Runner(ringSum(4, kLength, plan::LayoutKind::contiguous)) {}
  ~Ring() {
    // A run that is under way reads what goes next.
    sprt_session_free(session);
    session = nullptr;
  }

  /// Rank 2 stalls, until the run is ended.
  std::string openStalling() {
    options.inject_rank = 2;
    options.inject_command = 4;
    options.inject_stall = 1;
    return open(options);
  }
  std::string start() {
    return take(sprt_session_start(session, &in, 1, &out, 1));
  }
  std::string run() { return take(sprt_session_run(session, &in, 1, &out, 1)); }
  std::string wait(double seconds, int32_t &done) const {
    return take(sprt_session_wait(session, seconds, &done));
  }
  /// What other calls say.
  std::vector<std::string> callOthers() {
    sprt_rank_statistics statistics = {};
    statistics.size = sizeof statistics;
    sprt_command_statistics command = {};
    command.size = sizeof command;
    return {start(),
            run(),
            take(sprt_session_step(session, &in, 1, &out, 1)),
            take(sprt_session_collect(session, &out, 1)),
            take(sprt_session_feed(session, 0, 0)),
            take(sprt_session_rank_statistics(session, 0, &statistics)),
            take(sprt_session_command_statistics(session, 0, &command)),
            take(sprt_session_write_trace(session, "/dev/null"))};
  }

  std::vector<float> x = ramp(kLength * kRingWidth),
                     sum = std::vector<float>(x.size());
  int64_t shape[2] = {kLength, kRingWidth};
  sprt_array in = {sizeof in, SPRT_F32, 2, shape, x.data()};
  sprt_array out = {sizeof out, SPRT_F32, 2, shape, sum.data()};
};

double secondsOf(const std::function<void()> &body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

TEST(Session, startsAndWaits) {
  Ring ring;
  ASSERT_EQ(ring.open(ring.options), "");
  int32_t done = 0;
  EXPECT_EQ(ring.wait(-1, done), "");
  EXPECT_EQ(done, 1);
  for (int64_t runs : {1, 2, 3}) {
    std::fill(ring.sum.begin(), ring.sum.end(), 0.0F);
    ASSERT_EQ(ring.start(), "");
    ASSERT_EQ(ring.wait(-1, done), "");
    EXPECT_EQ(done, 1);
    EXPECT_EQ(ring.sum, ringSumReference(4, kLength,
                                         plan::LayoutKind::contiguous, ring.x));
    EXPECT_EQ(sprt_session_runs(ring.session), runs);
  }
}

TEST(Session, refusesOtherCallsWhileItRuns) {
  Ring ring;
  ASSERT_EQ(ring.openStalling(), "");
  ASSERT_EQ(ring.start(), "");
  for (const std::string &text : ring.callOthers())
    EXPECT_EQ(text, kBusy);
  sprt_status *status =
      sprt_session_run(ring.session, &ring.in, 1, &ring.out, 1);
  EXPECT_EQ(sprt_status_code(status), SPRT_BUSY);
  sprt_status_free(status);
  int32_t done = 1;
  EXPECT_EQ(ring.wait(0.01, done), "");
  EXPECT_EQ(done, 0);
  EXPECT_EQ(sprt_session_runs(ring.session), 0);
}

TEST(Session, refusesAnotherThreadWhileItIsCalled) {
  Ring ring;
  ASSERT_EQ(ring.openStalling(), "");
  std::string text;
  std::thread other([&] { text = ring.run(); });
  // Until the other thread has come to it, there is nothing to wait for.
  int32_t done = 1;
  while (ring.wait(0, done).empty())
    std::this_thread::yield();
  for (const std::string &refused : ring.callOthers())
    EXPECT_EQ(refused, kBusy);
  EXPECT_EQ(ring.wait(0, done), "another call uses this session");
  sprt_session_interrupt(ring.session);
  other.join();
  EXPECT_EQ(text, "the run was interrupted");
}

TEST(Session, endsAtOnceWhenItIsInterrupted) {
  Ring ring;
  ASSERT_EQ(ring.openStalling(), "");
  // Nothing is under way: the next run is not meant.
  sprt_session_interrupt(ring.session);
  ASSERT_EQ(ring.start(), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  int32_t done = 0;
  sprt_status *status = nullptr;
  EXPECT_LT(secondsOf([&] {
              sprt_session_interrupt(ring.session);
              sprt_session_interrupt(ring.session);
              status = sprt_session_wait(ring.session, -1, &done);
            }),
            15);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(sprt_status_code(status), SPRT_INTERRUPTED);
  sprt_status_free(status);
  EXPECT_EQ(sprt_session_runs(ring.session), -1);
  EXPECT_EQ(ring.run(), "this session was interrupted; create a new one");
}

TEST(Session, isInterruptedByAnyThreadAtAnyMoment) {
  Ring ring;
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(ring.open(ring.options), "");
    std::atomic<bool> running{true};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
      sprt_session_interrupt(ring.session);
      running.store(false);
    });
    std::string text;
    while (running.load() && text.empty())
      text = ring.run();
    other.join();
    if (text != "the run was interrupted" && !text.empty())
      EXPECT_EQ(text, "this session was interrupted; create a new one");
    EXPECT_EQ(sprt_session_runs(ring.session) < 0 || text.empty(), true);
  }
}

TEST(Session, mayBeFreedWhileItRuns) {
  Ring ring;
  ASSERT_EQ(ring.openStalling(), "");
  ASSERT_EQ(ring.start(), "");
  EXPECT_LT(secondsOf([&] {
              sprt_session_free(ring.session);
              ring.session = nullptr;
            }),
            15);

  Ring called;
  ASSERT_EQ(called.openStalling(), "");
  std::string text;
  std::thread other([&] { text = called.run(); });
  int32_t done = 1;
  while (called.wait(0, done).empty())
    std::this_thread::yield();
  sprt_session_free(called.session);
  called.session = nullptr;
  other.join();
  EXPECT_EQ(text, "the run was interrupted");
}

TEST(Session, ofOneProgramRunOnFourThreads) {
  Ring rings[4];
  const sprt_program *program = rings[0].program;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Ring &ring = rings[i];
      for (float &each : ring.x)
        each += static_cast<float>(i);
      sprt_session *session = nullptr;
      ASSERT_EQ(take(sprt_session_create(program, &ring.options, &session)),
                "");
      for (int round = 0; round < 10; ++round) {
        std::fill(ring.sum.begin(), ring.sum.end(), 0.0F);
        ASSERT_EQ(take(sprt_session_run(session, &ring.in, 1, &ring.out, 1)),
                  "");
        ASSERT_EQ(
            ring.sum,
            ringSumReference(4, kLength, plan::LayoutKind::contiguous, ring.x));
      }
      sprt_session_free(session);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// A kernel of which a tile takes long.
void sleepLong(void *const *, const int64_t *, int64_t first, int64_t last,
               void *) {
  for (int64_t tile = first; tile < last; ++tile)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Session, leavesKernelsBetweenTiles) {
  for (int threads : {1, 2}) {
    PlanBuilder builder(1);
    int64_t x = builder.arena(64);
    builder.input("x", plan::DType::f32, {{1}}, x);
    builder.result("y", plan::DType::f32, {{1}}, x);
    plan::LaunchT launch;
    launch.kernel = builder.kernel<sleepLong>("sleep_long");
    launch.buffers.push_back(view(x, 64));
    launch.tiles = 400000;
    builder.add(std::move(launch));
    Runner runner(builder, threads);
    ASSERT_EQ(runner.open(runner.options), "");
    int64_t shape[] = {1};
    float value = 1, result = 7;
    sprt_array in = {sizeof in, SPRT_F32, 1, shape, &value};
    sprt_array out = {sizeof out, SPRT_F32, 1, shape, &result};
    ASSERT_EQ(take(sprt_session_start(runner.session, &in, 1, &out, 1)), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    int32_t done = 0;
    EXPECT_LT(secondsOf([&] {
                sprt_session_interrupt(runner.session);
                EXPECT_EQ(take(sprt_session_wait(runner.session, -1, &done)),
                          "the run was interrupted");
              }),
              15);
    // What it left undone is not taken for a result.
    EXPECT_EQ(result, 7);
  }
}

TEST(Slices, ofRangesOfKeysShowTheSamePairs) {
  std::vector<sprt_slice> slices = {
      {0, 40, 3, 70, INT64_MIN, 0, 1, 1, 0},
      {2, 37, 64, 99, -9, 80, 2, 3, 0},
  };
  for (int64_t count : {1, 7, 32, 64, 98, 99, 512}) {
    std::vector<std::vector<sprt_slice>> parts = splitKeys(slices, 99, count);
    EXPECT_EQ(parts.size(), static_cast<size_t>((99 + count - 1) / count));
    for (int64_t query = 0; query < 40; ++query)
      for (int64_t key = 0; key < 99; ++key) {
        int whole = 0, split = 0;
        for (const sprt_slice &slice : slices)
          whole += algebra::visible(slice, query, key) && key >= slice.k0 &&
                   key < slice.k1;
        for (const sprt_slice &slice : parts[static_cast<size_t>(key / count)])
          split += algebra::visible(slice, query, key) && key >= slice.k0 &&
                   key < slice.k1;
        ASSERT_EQ(split, whole) << query << ", " << key << " by " << count;
      }
  }
}

} // namespace
} // namespace sprt::test
