// Sessions that run again repeat their first run as it was recorded, on a GPU
// as a graph.

#include "CudaRing.h"
#include "OnFakeDriver.h"
#include "Programs.h"
#include "device/Device.h"
#include "device/EmulatedStream.h"

#include <array>
#include <atomic>
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

namespace sprt::test {
namespace {

constexpr int64_t kLength = 13;

/// On the emulated device and on the fake GPU.
class Recording : public OnFakeDriver,
                  public testing::WithParamInterface<const char *> {
protected:
  PlanBuilder ring(int64_t ranks) {
    setting = {ranks, kLength, plan::LayoutKind::zigzag, true};
    PlanBuilder builder = cudaRing(setting);
    useRingKernel(builder);
    addImage(builder, "sm_90a");
    return builder;
  }
  void expectRing(const Runner &runner, const RingInputs &inputs) {
    for (int64_t at = 0; at < kLength * kRingHeads * kRingHead; ++at)
      ASSERT_NEAR(runner.results[0][static_cast<size_t>(at)],
                  inputs.expected(setting, at / (kRingHeads * kRingHead),
                                  at / kRingHead % kRingHeads, at % kRingHead),
                  2e-5)
          << at;
  }
  bool isGpu() const { return GetParam() == std::string("0"); }
  void openStreams(size_t ranks) {
    ASSERT_FALSE(openDevice(GetParam(), device));
    for (size_t rank = 0; rank < ranks; ++rank) {
      std::unique_ptr<Device::Stream> stream;
      ASSERT_FALSE(device->createStream(static_cast<int64_t>(rank), stream));
      streams.push_back(std::move(stream));
    }
  }
  uint8_t readByte(const std::byte *data) {
    uint8_t value = 0;
    EXPECT_FALSE(
        streams[0]->copy(denseMessage(&value, 1),
                         denseMessage(const_cast<std::byte *>(data), 1)));
    EXPECT_FALSE(streams[0]->synchronise(Device::Limit(5)).status);
    return value;
  }

  RingSetting setting;
  std::shared_ptr<Device> device;
  std::vector<std::unique_ptr<Device::Stream>> streams;
};
INSTANTIATE_TEST_SUITE_P(Devices, Recording, testing::Values("emulated", "0"),
                         [](const auto &info) {
                           return info.param == std::string("0") ? "gpu"
                                                                 : "emulated";
                         });

TEST_P(Recording, repeatedRunsHaveTheirOwnInputsAndTheSameMeasurements) {
  for (int64_t ranks : {1, 2, 3}) {
    RingInputs inputs[2] = {RingInputs(kLength), RingInputs(kLength)};
    for (double &value : inputs[1].v)
      value *= -2;
    fake->graphLaunches = fake->launches = 0;
    Runner runner(ring(ranks));
    runner.options.device = GetParam();
    runner.options.trace = 2;
    for (int run = 0; run < 4; ++run) {
      ASSERT_EQ(runner.run(inputs[run % 2].arrays()), "");
      expectRing(runner, inputs[run % 2]);
      int64_t sent = 0;
      for (int64_t rank = 0; rank < ranks; ++rank)
        sent += runner.statistics(rank).bytes_sent;
      EXPECT_EQ(sent > 0, ranks > 1);
      static int64_t firstSent;
      if (run == 0)
        firstSent = sent;
      EXPECT_EQ(sent, firstSent);
      // 0 and 1 copy, 2 loop, 3 shift, 4 and 5 attention.
      sprt_command_statistics first = {};
      first.size = sizeof first;
      ASSERT_EQ(
          take(sprt_session_command_statistics(runner.session, 4, &first)), "");
      EXPECT_EQ(first.runs, 1);
      EXPECT_GT(first.seconds, 0);
    }
    EXPECT_EQ(fake->graphLaunches, isGpu() ? 3 : 0);
    EXPECT_EQ(fake->launches, isGpu() ? 4 * ranks * ranks : 0);
  }
}

TEST_P(Recording, farMemoryIsReadAndWrittenAgain) {
  PlanBuilder builder = throughFar(3);
  builder.target(plan::Target::cuda);
  addImage(builder, "sm_90a");
  Runner runner(builder);
  runner.options.device = GetParam();
  std::vector<float> x = ramp(kFarRows * kFarWidth);
  for (int run = 0; run < 4; ++run) {
    for (float &value : x)
      value += 1;
    ASSERT_EQ(runner.run({x}), "");
    EXPECT_EQ(runner.results[0], farReference(x));
    EXPECT_EQ(runner.statistics(2).far_read_bytes, kFarRows * kFarWidth * 4);
  }
}

TEST_P(Recording, onlyWhoAsksForTimesPaysForThem) {
  for (int trace : {0, 1, 2}) {
    fake->timedMarks = fake->recordedMarks = 0;
    Runner runner(ring(2));
    runner.options.device = GetParam();
    runner.options.trace = trace;
    for (int run = 0; run < 3; ++run)
      ASSERT_EQ(runner.run(RingInputs(kLength).arrays()), "");
    // Of a rank, before and after two copies, a shift, and twice attention and
    // a wait.
    int marks = isGpu() && trace != 0 ? 2 * 2 * (2 + 1 + 2 * 2) : 0;
    EXPECT_EQ(fake->recordedMarks, marks);
    EXPECT_EQ(fake->timedMarks > 0, marks > 0);
    sprt_command_statistics first = {};
    first.size = sizeof first;
    ASSERT_EQ(take(sprt_session_command_statistics(runner.session, 4, &first)),
              "");
    EXPECT_EQ(first.runs, trace ? 1 : 0);
  }
}

TEST_P(Recording, tracesAreThoseOfTheLastRun) {
  Runner runner(ring(3));
  runner.options.device = GetParam();
  runner.options.trace = 1;
  nlohmann::json traces[2];
  std::string path = testing::TempDir() + "sprt-recorded-trace.json";
  for (int run = 0; run < 4; ++run) {
    ASSERT_EQ(runner.run(RingInputs(kLength).arrays()), "");
    if (run % 3 != 0)
      continue;
    ASSERT_EQ(take(sprt_session_write_trace(runner.session, path.c_str())), "");
    std::ifstream(path) >> traces[run / 3];
  }
  auto count = [](const nlohmann::json &trace) {
    std::map<std::string, int> kinds;
    for (const auto &event : trace["traceEvents"])
      ++kinds[event["ph"]];
    return kinds;
  };
  EXPECT_EQ(count(traces[1]), count(traces[0]));
  EXPECT_EQ(count(traces[1])["s"], 6);
  EXPECT_NE(traces[1], traces[0]);
}

TEST_P(Recording, numbersOfTheHostStayWithTheGraph) {
  constexpr int64_t ranks = 3;
  PlanBuilder builder(ranks);
  uint32_t dealt = builder.layout(plan::LayoutKind::striped, 6, ranks);
  int64_t at = builder.arena(2 * 4);
  builder.result("positions", plan::DType::i32, {{6, static_cast<int>(dealt)}},
                 at);
  plan::FillT clear;
  clear.target = view(at, 2 * 4);
  builder.add(std::move(clear));
  plan::RowsTableT table;
  table.rows = rows(dealt, Expr::coordinate(0));
  table.target = view(at, 2 * 4);
  table.count = 2;
  table.type = plan::DType::i32;
  builder.add(std::move(table));
  builder.target(plan::Target::cuda);
  addImage(builder, "sm_90a");
  Runner runner(builder);
  runner.options.device = GetParam();
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(runner.run({}), "");
    std::array<int32_t, 6> positions;
    std::memcpy(positions.data(), runner.results[0].data(), sizeof positions);
    EXPECT_EQ(positions, (std::array<int32_t, 6>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(fake->graphLaunches, isGpu() ? 2 : 0);
}

TEST_P(Recording, whatTheHostReducesIsNotRecorded) {
  PlanBuilder builder(2);
  int64_t at = builder.arena(16), sum = builder.arena(16);
  builder.input("x", plan::DType::f32, {{4}}, at);
  builder.result("y", plan::DType::f32, {{4}}, sum);
  plan::CopyT copy;
  copy.source = view(at, 16);
  copy.target = view(sum, 16);
  builder.add(std::move(copy));
  plan::AllReduceT reduce;
  reduce.factors = {0};
  reduce.views.push_back(view(sum, 16));
  reduce.type = plan::DType::f32;
  builder.add(std::move(reduce));
  builder.target(plan::Target::cuda);
  addImage(builder, "sm_90a");
  Runner runner(builder);
  runner.options.device = GetParam();
  for (float run : {1.0F, 2.0F, 3.0F}) {
    ASSERT_EQ(runner.run({{run, 2, 3, 4}}), "");
    EXPECT_EQ(runner.results[0], (std::vector<float>{2 * run, 4, 6, 8}));
  }
  EXPECT_EQ(fake->graphLaunches, 0);
}

TEST_P(Recording, runsWhenTheLastRankAsksForIt) {
  openStreams(2);
  std::byte *from = nullptr, *to = nullptr;
  ASSERT_FALSE(device->allocate(1, from));
  ASSERT_FALSE(device->allocate(1, to));
  std::unique_ptr<Device::Event> before, filled;
  ASSERT_FALSE(device->createEvent(false, before));
  ASSERT_FALSE(device->createEvent(false, filled));
  ASSERT_FALSE(streams[0]->fill(to, 1, 1));
  ASSERT_FALSE(streams[0]->record(*before));
  ASSERT_EQ(readByte(to), 1);
  for (const auto &stream : streams)
    ASSERT_FALSE(device->beginRecording({stream.get()}));
  // What came before the recording is no part of it.
  ASSERT_FALSE(streams[1]->wait(*before));
  ASSERT_FALSE(streams[0]->fill(from, 7, 1));
  ASSERT_FALSE(streams[0]->record(*filled));
  ASSERT_FALSE(streams[1]->wait(*filled));
  ASSERT_FALSE(streams[1]->copy(denseMessage(to, 1), denseMessage(from, 1)));
  for (int rank = 0; rank < 2; ++rank)
    ASSERT_FALSE(device->endRecording());
  for (int run = 0; run < 3; ++run) {
    ASSERT_FALSE(streams[0]->fill(to, 2, 1));
    ASSERT_EQ(readByte(to), 2);
    ASSERT_FALSE(device->replay());
    EXPECT_EQ(readByte(to), 2);
    ASSERT_FALSE(device->replay());
    ASSERT_FALSE(streams[1]->synchronise(Device::Limit(5)).status);
    EXPECT_EQ(readByte(to), 7);
  }
}

TEST_P(Recording, whoSynchronisesAReplayAsksItsWatch) {
  openStreams(1);
  std::byte *to = nullptr;
  ASSERT_FALSE(device->allocate(1, to));
  ASSERT_FALSE(device->beginRecording({streams[0].get()}));
  ASSERT_FALSE(streams[0]->fill(to, 7, 1));
  ASSERT_FALSE(device->endRecording());
  std::atomic<bool> stuck{true};
  if (isGpu())
    fake->stuck = true;
  else
    static_cast<EmulatedStream *>(streams[0]->handle())->enqueue([&stuck] {
      return !stuck;
    });
  ASSERT_FALSE(device->replay());
  streams[0]->watch = [](bool late) {
    return Device::Fault{late ? Status(SPRT_FAILED, "seen") : Status(),
                         nullptr};
  };
  Device::Fault fault = streams[0]->synchronise(Device::Limit(0.05));
  ASSERT_TRUE(fault.status);
  EXPECT_EQ(fault.status->text, "seen");
  stuck = fake->stuck = false;
  EXPECT_EQ(readByte(to), 7);
}

TEST_P(Recording, nobodyMaySynchroniseMeanwhile) {
  openStreams(1);
  ASSERT_FALSE(device->beginRecording({streams[0].get()}));
  Device::Fault fault = streams[0]->synchronise(Device::Limit(5));
  ASSERT_TRUE(fault.status);
  EXPECT_THAT_CONTAINS(fault.status->text,
                       isGpu() ? "cuStreamQuery: fake error (900)"
                               : "synchronised while its work is recorded");
  if (isGpu())
    EXPECT_THAT_CONTAINS(device->endRecording()->text,
                         "cuStreamEndCapture: fake error (901)");
}

TEST_P(Recording, isGivenUpWithItsStreams) {
  openStreams(2);
  for (const auto &stream : streams)
    ASSERT_FALSE(device->beginRecording({stream.get()}));
  EXPECT_EQ(fake->captures, isGpu() ? 1 : 0);
  streams.clear();
  EXPECT_EQ(fake->captures, 0);
}

} // namespace
} // namespace sprt::test
