// The CUDA driver as a device, against a fake of the library: what we call it
// with. That kernels compute on a GPU is for GPUs to show.

#include "CudaRing.h"
#include "OnFakeDriver.h"
#include "Programs.h"
#include "device/Device.h"

#include <array>
#include <numeric>

namespace sprt::test {
namespace {

class Driver : public OnFakeDriver {
protected:
  PlanBuilder ring(int64_t ranks, const char *architecture = "sm_90a",
                   int64_t length = 13) {
    setting = {ranks, length, plan::LayoutKind::zigzag, true};
    PlanBuilder builder = cudaRing(setting);
    builder.plan.kernels[0]->shared_bytes = 4096;
    useRingKernel(builder);
    builder.kernels.clear();
    addImage(builder, architecture);
    return builder;
  }

  RingSetting setting;
};

TEST_F(Driver, runsRingAttention) {
  for (int64_t ranks : {1, 2, 3}) {
    fake->launches = 0;
    RingInputs inputs(13);
    Runner runner(ring(ranks));
    runner.options.device = nullptr; // GPU 0
    ASSERT_EQ(runner.run(inputs.arrays()), "");
    for (int64_t at = 0; at < 13 * kRingHeads * kRingHead; ++at)
      ASSERT_NEAR(runner.results[0][static_cast<size_t>(at)],
                  inputs.expected(setting, at / (kRingHeads * kRingHead),
                                  at / kRingHead % kRingHeads, at % kRingHead),
                  1e-5)
          << at;
    EXPECT_EQ(fake->launches, ranks * ranks);
    EXPECT_EQ(fake->threads, 128U);
    EXPECT_EQ(fake->sharedBytes, 4096U);
  }
}

TEST_F(Driver, copiesStridedMessages) {
  std::shared_ptr<Device> device;
  ASSERT_FALSE(openDevice("0", device));
  EXPECT_EQ(device->capability().name, "GPU 0 (Fake)");
  std::unique_ptr<Device::Stream> stream;
  ASSERT_FALSE(device->createStream(0, stream));
  std::byte *from = nullptr, *to = nullptr;
  ASSERT_FALSE(device->allocate(240, from));
  ASSERT_FALSE(device->allocate(240, to));
  std::vector<uint8_t> data(240), got(96), expected(96);
  std::iota(data.begin(), data.end(), uint8_t(0));
  ASSERT_FALSE(
      stream->upload(from, reinterpret_cast<std::byte *>(data.data()), 240));
  // 2 batches of 4 rows of 3 heads of 4 bytes, every other row.
  Piece piece;
  piece.base = from;
  piece.inner = 4;
  for (int dim = 0; dim < 3; ++dim) {
    piece.counts[dim] = std::array{2, 4, 3}[static_cast<size_t>(dim)];
    piece.strides[dim] = std::array{120, 24, 4}[static_cast<size_t>(dim)];
  }
  ASSERT_FALSE(stream->copy(denseMessage(to, 96), {piece}));
  EXPECT_EQ(fake->rectangles, 2);
  ASSERT_FALSE(
      stream->copy(denseMessage(got.data(), 96), denseMessage(to, 96)));
  ASSERT_FALSE(stream->synchronise(Device::Limit(5)).status);
  piece.base = reinterpret_cast<std::byte *>(data.data());
  copyMessage(denseMessage(expected.data(), 96), {piece});
  EXPECT_EQ(got, expected);
  ASSERT_FALSE(stream->fill(to, 7, 96));
  ASSERT_FALSE(
      stream->copy(denseMessage(got.data(), 96), denseMessage(to, 96)));
  EXPECT_EQ(got, std::vector<uint8_t>(96, 7));
}

TEST_F(Driver, refusesWhatTheGpuCannotRun) {
  EXPECT_EQ(open(ring(2), "3"), "expected the number of a GPU below 1 but got "
                                "3; or run with --device=emulated");
  EXPECT_EQ(open(ring(2, "sm_100a")),
            "GPU 0 (Fake) is sm_90 but the artifact has kernel \"attend\" for "
            "sm_100a; compile with --arch=sm_90, or run with "
            "--device=emulated");
  EXPECT_EQ(open(ring(2, "sm_90")), "");
  fake->minor = 1;
  EXPECT_EQ(open(ring(2, "sm_90")), "");
  EXPECT_THAT_CONTAINS(open(ring(2)), "is sm_91 but");
  fake->minor = 0;
  fake->freeBytes = 12288;
  EXPECT_THAT_CONTAINS(
      open(ring(2)), "bytes more than the 12288 of 24576 that are free on GPU "
                     "0 (Fake), where 1 would fit");
  fake->freeBytes = size_t(1) << 30;
  PlanBuilder other = ring(2);
  other.plan.kernels[0]->symbol = "absent";
  EXPECT_THAT_CONTAINS(open(other), "has kernel \"absent\" for sm_90a");
}

TEST_F(Driver, besideNcclAllCodeIsLoadedAtOnce) {
  const char *kLoading = "CUDA_MODULE_LOADING";
  unsetenv(kLoading);
  EXPECT_EQ(open(ring(1)), "");
  EXPECT_STREQ(fake->moduleLoading, "");
  for (auto [name, value] : {std::pair("RANK", "0"),
                             {"WORLD_SIZE", "1"},
                             {"LOCAL_RANK", "0"},
                             {"MASTER_ADDR", "127.0.0.1"},
                             {"MASTER_PORT", "29999"}})
    setenv(name, value, /*overwrite=*/1);
  for (const char *own : {"", "LAZY"}) {
    if (*own)
      setenv(kLoading, own, /*overwrite=*/1);
    Runner runner(ring(1));
    runner.options.device = "0";
    runner.options.communicator = "nccl";
    // There may be no NCCL; the GPU has been opened by then.
    (void)runner.open(runner.options);
    EXPECT_STREQ(fake->moduleLoading, *own ? own : "EAGER");
  }
  for (const char *name : {kLoading, "RANK", "WORLD_SIZE", "LOCAL_RANK",
                           "MASTER_ADDR", "MASTER_PORT"})
    unsetenv(name);
}

TEST_F(Driver, whatIsFreeSufficesForTables) {
  for (int64_t ranks : {1, 2, 3})
    expectEnoughMemory(ring(ranks), RingInputs(13).arrays());
}

TEST_F(Driver, whoSynchronisesAsksTheStreamsWatch) {
  std::shared_ptr<Device> device;
  ASSERT_FALSE(openDevice("0", device));
  std::unique_ptr<Device::Stream> stream;
  std::unique_ptr<Device::Event> event;
  ASSERT_FALSE(device->createStream(0, stream));
  EXPECT_TRUE(stream->handle());
  ASSERT_FALSE(device->createEvent(false, event));
  ASSERT_FALSE(stream->record(*event));
  EXPECT_TRUE(event->reached());
  fake->stuck = true;
  EXPECT_FALSE(event->reached());
  bool wasLate = false;
  stream->watch = [&](bool late) {
    wasLate = late;
    return Device::Fault{late ? Status(SPRT_FAILED, "seen") : Status(),
                         nullptr};
  };
  Device::Fault fault = stream->synchronise(Device::Limit(0.05));
  ASSERT_TRUE(fault.status);
  EXPECT_EQ(fault.status->text, "seen");
  EXPECT_TRUE(wasLate);
}

TEST_F(Driver, attentionFillsTheGpuAndNoMore) {
  // Of 2 processors, a block takes 16th, a half, or all of one.
  for (auto [threads, shared, blocks] :
       {std::tuple(128, 0, 32), {384, 100 << 10, 4}, {384, 200 << 10, 2}}) {
    PlanBuilder builder = ring(1, "sm_90a", 200);
    builder.plan.kernels[0]->threads = threads;
    builder.plan.kernels[0]->shared_bytes = shared;
    Runner runner(builder);
    runner.options.device = "0";
    ASSERT_EQ(runner.run(RingInputs(200).arrays()), "");
    EXPECT_EQ(fake->blocks, static_cast<unsigned>(blocks));
  }
  PlanBuilder builder = ring(1);
  builder.plan.kernels[0]->threads = 1024;
  builder.plan.kernels[0]->shared_bytes = 232448;
  Runner runner(builder);
  std::shared_ptr<Device> device;
  runner.options.device = "0";
  ASSERT_EQ(runner.open(runner.options), "");
  ASSERT_FALSE(openDevice("0", device));
  ASSERT_FALSE(device->load(*runner.program));
  EXPECT_EQ(device->blocksAtOnce(0), 2);
  device->reserveProcessors(1);
  EXPECT_EQ(device->blocksAtOnce(0), 1);
  device->reserveProcessors(2);
  EXPECT_EQ(device->blocksAtOnce(0), 1);
}

TEST_F(Driver, aGridHasAsManyBlocksAsTheGpuCounts) {
  for (int64_t blocks :
       {int64_t(INT32_MAX), int64_t(INT32_MAX) + 1, (int64_t(1) << 32) + 1}) {
    PlanBuilder builder(1);
    plan::LaunchT launch;
    launch.kernel = builder.kernel("wide", nullptr);
    launch.tiles = blocks;
    builder.add(std::move(launch)).name = "rows";
    builder.target(plan::Target::cuda);
    addImage(builder, "sm_90a");
    Runner runner(builder);
    runner.options.device = "0";
    EXPECT_EQ(runner.run({}),
              blocks <= INT32_MAX
                  ? ""
                  : "rank 0, command 0 \"rows\": expected at most 2147483647 "
                    "blocks of kernel \"wide\" but got " +
                        std::to_string(blocks) +
                        "; use more ranks, or a smaller batch");
  }
  EXPECT_EQ(fake->launches, 1);
  EXPECT_EQ(fake->blocks, unsigned(INT32_MAX));
}

TEST_F(Driver, aStreamThatIsNeverDoneIsATimeout) {
  Runner runner(ring(2), 1, 0.2);
  runner.options.device = "0";
  ASSERT_EQ(runner.open(runner.options), "");
  fake->stuck = true;
  // No kernel took the time that one may: what waits for others waits twice
  // that.
  EXPECT_THAT_CONTAINS(runner.run(RingInputs(13).arrays()),
                       ": waited 0.4 s for GPU 0 (Fake)");
}

} // namespace
} // namespace sprt::test
