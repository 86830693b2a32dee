// Whole programs on thread ranks: loops, streams, events, memory, measurements.

#include "Programs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

namespace sprt::test {
namespace {

using plan::LayoutKind;

/// What a rank does, whatever runs its commands.
class Run : public testing::TestWithParam<plan::Target> {
protected:
  static PlanBuilder ring(int64_t ranks, int64_t length, LayoutKind kind) {
    return ringSum(ranks, length, kind).target(GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, Run, testing::ValuesIn(kTargets));

TEST_P(Run, ringEqualsReferenceForAnyRanksAndLengths) {
  for (LayoutKind kind :
       {LayoutKind::contiguous, LayoutKind::zigzag, LayoutKind::striped})
    for (int64_t ranks : {1, 2, 3, 5, 8})
      for (int64_t length : {1, 7, 16}) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " +
                     std::to_string(length) + " rows");
        std::vector<float> x = ramp(static_cast<size_t>(length * kRingWidth));
        Runner runner(ring(ranks, length, kind), ranks == 1 ? 3 : 1);
        ASSERT_EQ(runner.run({x}), "");
        EXPECT_EQ(runner.results[0], ringSumReference(ranks, length, kind, x));
        // A second run starts from the same state.
        ASSERT_EQ(runner.run({x}), "");
        EXPECT_EQ(runner.results[0], ringSumReference(ranks, length, kind, x));
      }
}

TEST(SharedCores, ranksRunTheirStreamsInOneThread) {
  // More threads than cores, so that ranks share these.
  int threads = static_cast<int>(std::thread::hardware_concurrency()) + 1;
  for (int64_t ranks : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    std::vector<float> x = ramp(static_cast<size_t>(7 * kRingWidth));
    Runner runner(ringSum(ranks, 7, LayoutKind::zigzag), threads);
    ASSERT_EQ(runner.run({x}), "");
    EXPECT_EQ(runner.results[0],
              ringSumReference(ranks, 7, LayoutKind::zigzag, x));
    sprt_command_statistics shift = {};
    shift.size = sizeof shift;
    ASSERT_EQ(take(sprt_session_command_statistics(runner.session, 4, &shift)),
              "");
    EXPECT_EQ(shift.runs, ranks - 1);
  }
}

TEST_P(Run, bytesSentCountValidRowsOnly) {
  int64_t ranks = 3, length = 7;
  Runner runner(ring(ranks, length, LayoutKind::contiguous));
  ASSERT_EQ(runner.run({ramp(static_cast<size_t>(length * kRingWidth))}), "");
  // Rows 3, 2, 2; rank r passes on the blocks of r and r - 1.
  EXPECT_EQ(runner.statistics(0).bytes_sent, (3 + 2) * kRingWidth * 4);
  EXPECT_EQ(runner.statistics(1).bytes_sent, (2 + 3) * kRingWidth * 4);
  EXPECT_EQ(runner.statistics(2).bytes_sent, (2 + 2) * kRingWidth * 4);
}

TEST_P(Run, peakStaysWithinThePromise) {
  Runner runner(ring(4, 64, LayoutKind::zigzag));
  ASSERT_EQ(runner.run({ramp(64 * kRingWidth)}), "");
  int64_t promise = sprt_program_peak_bytes(runner.program);
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_LE(runner.statistics(rank).peak_bytes, promise);
    EXPECT_GE(static_cast<double>(runner.statistics(rank).peak_bytes),
              0.95 * static_cast<double>(promise));
  }
}

TEST_P(Run, commandStatisticsCountRunsAndSkipDisabled) {
  Runner runner(ring(4, 16, LayoutKind::contiguous));
  runner.options.trace = 2;
  ASSERT_EQ(runner.run({ramp(16 * kRingWidth)}), "");
  // 0 fill, 1 copy, 2 loop, 3 fill, 4 shift, 5 add, 6 sync
  ASSERT_EQ(sprt_program_command_count(runner.program), 7);
  sprt_command_statistics shift = {};
  shift.size = sizeof shift;
  ASSERT_EQ(take(sprt_session_command_statistics(runner.session, 4, &shift)),
            "");
  EXPECT_STREQ(shift.kind, "send_recv");
  EXPECT_STREQ(shift.stream, "comm");
  EXPECT_STREQ(shift.name, "shift");
  EXPECT_EQ(shift.runs, 3);
  sprt_command_statistics add = {};
  add.size = sizeof add;
  ASSERT_EQ(take(sprt_session_command_statistics(runner.session, 5, &add)), "");
  EXPECT_EQ(add.runs, 4);
}

TEST_P(Run, traceHasATrackPerStreamAndMatchedFlows) {
  Runner runner(ring(3, 6, LayoutKind::striped));
  runner.options.trace = 1;
  ASSERT_EQ(runner.run({ramp(6 * kRingWidth)}), "");
  std::string path = testing::TempDir() + "sprt-trace.json";
  ASSERT_EQ(take(sprt_session_write_trace(runner.session, path.c_str())), "");
  nlohmann::json trace;
  std::ifstream(path) >> trace;
  std::map<std::string, int> flows;
  int slices = 0, tracks = 0;
  for (const auto &event : trace["traceEvents"]) {
    slices += event["ph"] == "X";
    tracks += event["ph"] == "M" && event["name"] == "thread_name";
    if (event["ph"] == "s" || event["ph"] == "f")
      flows[event["id"]] += event["ph"] == "s" ? 1 : 10;
  }
  EXPECT_EQ(tracks, 6);
  EXPECT_EQ(flows.size(), 6U);
  for (const auto &[id, ends] : flows)
    EXPECT_EQ(ends, 11) << id;
  // Per rank 2 commands before the loop, then 2 fills, 2 shifts, 3 adds, 3
  // syncs.
  EXPECT_EQ(slices, 3 * 12);
}

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(Dispatch, costsLessThanFiveMicroseconds) {
  PlanBuilder builder(1);
  int64_t at = builder.arena(64);
  uint32_t nothing =
      builder.kernel("nothing", [](void *const *, const int64_t *, int64_t,
                                   int64_t, void *) {});
  constexpr int64_t kRepeats = 100000;
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = Expr(kRepeats).build();
  plan::LaunchT launch;
  launch.kernel = nothing;
  launch.tiles = 1;
  for (int i = 0; i < 4; ++i)
    launch.buffers.push_back(view(Expr(at) + Expr::counter(0) % 1 * 64, 64));
  builder.add(std::move(launch), &loop.body);
  builder.add(std::move(loop));
  Runner runner(builder);
  // Time of the processor: what else the machine does is not dispatch.
  std::clock_t before = std::clock();
  ASSERT_EQ(runner.run({}), "");
  double perCommand =
      static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / kRepeats;
  std::printf("dispatch: %.0f ns a command\n", perCommand * 1e9);
  EXPECT_LT(perCommand, kSanitized ? 100e-6 : 5e-6);
}

void countDown(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  float *left = static_cast<float *>(b[0]);
  *static_cast<uint8_t *>(b[1]) = *left > 0;
  *left -= 1;
  int32_t odd = static_cast<int32_t>(*left) & 1;
  std::memcpy(b[2], &odd, sizeof odd);
}

void addOne(void *const *b, const int64_t *, int64_t, int64_t, void *) {
  *static_cast<float *>(b[0]) += 1;
}

TEST_P(Run, whileAndCaseFollowDataOnBothStreams) {
  // while (n > 0) { n -= 1; case (n mod 2) { x += 1 } { shift x } } on 2 ranks.
  PlanBuilder builder(2);
  int64_t n = builder.arena(64), more = builder.arena(64),
          pick = builder.arena(64);
  int64_t x = builder.arena(64), y = builder.arena(64);
  uint32_t dealt = builder.layout(LayoutKind::contiguous, 2, 2);
  builder.input("x", plan::DType::f32, {{2, static_cast<int>(dealt)}}, x);
  builder.input("n", plan::DType::f32, {}, n);
  builder.result("x", plan::DType::f32, {{2, static_cast<int>(dealt)}}, x);
  uint32_t test = builder.kernel<countDown>("test");
  uint32_t increment = builder.kernel<addOne>("increment");
  uint32_t ready = builder.event(), moved = builder.event();
  plan::WhileT loop;
  plan::LaunchT decide;
  decide.kernel = test;
  decide.tiles = 1;
  for (int64_t at : {n, more, pick})
    decide.buffers.push_back(view(at, 64));
  builder.add(std::move(decide), &loop.condition);
  loop.predicate = view(more, 1);
  plan::CaseT choice;
  choice.index = view(pick, 4);
  choice.type = plan::DType::i32;
  choice.branches.push_back(std::make_unique<plan::BranchT>());
  choice.branches.push_back(std::make_unique<plan::BranchT>());
  plan::LaunchT add;
  add.kernel = increment;
  add.tiles = 1;
  add.buffers.push_back(view(x, 64));
  builder.add(std::move(add), &choice.branches[0]->body);
  builder.add(plan::SyncT(), &choice.branches[1]->body).records =
      static_cast<int32_t>(ready);
  Expr r = Expr::coordinate(0);
  plan::SendRecvT shift;
  shift.to = ((r + 1) % 2).build();
  shift.from = ((r + 1) % 2).build();
  shift.sends.push_back(block(rowsOf(x, 4, 4), rows(dealt, r)));
  shift.receives.push_back(block(rowsOf(y, 4, 4), rows(dealt, (r + 1) % 2)));
  plan::CommandT &send =
      builder.add(std::move(shift), &choice.branches[1]->body);
  send.stream = plan::Stream::comm;
  send.waits = {ready};
  send.records = static_cast<int32_t>(moved);
  plan::CopyT back;
  back.source = view(y, 4);
  back.target = view(x, 4);
  builder.add(std::move(back), &choice.branches[1]->body).waits = {moved};
  builder.add(std::move(choice), &loop.body);
  builder.add(std::move(loop));

  Runner runner(builder.target(GetParam()));
  // n = 5: shift at 3 and 1, increment at 4, 2 and 0.
  ASSERT_EQ(runner.run({{10, 20}, {5}}), "");
  EXPECT_EQ(runner.results[0], (std::vector<float>{13, 23}));
  ASSERT_EQ(runner.run({{10, 20}, {2}}), "");
  EXPECT_EQ(runner.results[0], (std::vector<float>{21, 11}));
}

TEST_P(Run, rowsTableGivesPositionsAndCounts) {
  PlanBuilder builder(3);
  uint32_t dealt = builder.layout(LayoutKind::zigzag, 7, 3);
  int64_t positions = builder.arena(64), count = builder.arena(64);
  builder.result("positions", plan::DType::i32, {{7, static_cast<int>(dealt)}},
                 positions);
  for (plan::RowsQuery query :
       {plan::RowsQuery::positions, plan::RowsQuery::count}) {
    plan::RowsTableT table;
    table.rows = rows(dealt, Expr::coordinate(0));
    table.query = query;
    table.count = 3;
    table.type = plan::DType::i32;
    table.target =
        view(query == plan::RowsQuery::count ? count : positions, 12);
    builder.add(std::move(table));
  }
  Runner runner(builder.target(GetParam()));
  ASSERT_EQ(runner.run({}), "");
  for (int i = 0; i < 7; ++i) {
    int32_t position = 0;
    std::memcpy(&position, &runner.results[0][static_cast<size_t>(i)], 4);
    EXPECT_EQ(position, i);
  }
}

} // namespace
} // namespace sprt::test
