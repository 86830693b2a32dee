// Kernels that never end, or take long, on a GPU whose driver is a fake: a run
// ends in time and says which kernel that was, and nothing waits for it.

#include "CudaRing.h"
#include "OnFakeDriver.h"
#include "device/Device.h"

#include <chrono>
#include <thread>

namespace sprt::test {
namespace {

constexpr int64_t kLength = 13;
constexpr double kLimit = 3;

class Hang : public OnFakeDriver {
protected:
  Hang() { fake->patience = 3; }
  PlanBuilder ring(int64_t ranks) {
    PlanBuilder builder =
        cudaRing({ranks, kLength, plan::LayoutKind::zigzag, true});
    useRingKernel(builder);
    addImage(builder, "sm_90a");
    return builder;
  }
  static double seconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         since)
        .count();
  }
};

TEST_F(Hang, endsTheRunInTimeAndFreesNothing) {
  for (int64_t ranks : {1, 2, 3})
    for (int64_t kernel : {int64_t(0), ranks * ranks - 1}) {
      fake->launches = 0;
      fake->hangsAt = static_cast<int>(kernel);
      auto begin = std::chrono::steady_clock::now();
      std::string text;
      {
        Runner runner(ring(ranks), 1, kLimit);
        runner.options.device = "0";
        text = runner.run(RingInputs(kLength).arrays());
      }
      EXPECT_LT(seconds(begin), 4 * kLimit) << text;
      EXPECT_EQ(fake->blocked, 0);
      EXPECT_GT(fake->allocations, 0);
      EXPECT_GT(fake->streams, 0);
      // A rank that waits for that one may be late a little earlier.
      EXPECT_THAT_CONTAINS(text, ranks == 1 ? "rank 0, command 4 \"first\", "
                                              "step 0: waited 3 s for GPU 0 "
                                              "(Fake): kernel \"attend\" on "
                                              "stream compute has not ended; "
                                              "--timeout=<seconds> lets it "
                                              "take longer"
                                            : "kernel \"attend\" on stream "
                                              "compute");
      EXPECT_THAT_CONTAINS(
          text, kernel == 0 ? ", command 4 \"first\", step 0: "
                            : "step " + std::to_string(ranks - 1) + ": ");
      // Who comes next is told why.
      std::string next = open(ring(1));
      EXPECT_THAT_CONTAINS(
          next, "GPU 0 (Fake) still does what a run that has failed gave it: ");
      EXPECT_THAT_CONTAINS(next, "kernel \"attend\" on stream compute ha");
      EXPECT_EQ(fake->blocked, 0);
      endAll();
      EXPECT_EQ(fake->allocations, 0);
    }
}

TEST_F(Hang, endsARepeatedRun) {
  {
    Runner runner(ring(3), 1, 2 * kLimit);
    runner.options.device = "0";
    for (int run = 0; run < 2; ++run)
      ASSERT_EQ(runner.run(RingInputs(kLength).arrays()), "");
    fake->hangsAt = fake->launches;
    EXPECT_THAT_CONTAINS(runner.run(RingInputs(kLength).arrays()),
                         "a repeated run (kernel \"attend\")");
  }
  EXPECT_EQ(fake->blocked, 0);
}

TEST_F(Hang, anInterruptEndsTheRun) {
  fake->hangsAt = 1;
  auto begin = std::chrono::steady_clock::now();
  {
    Runner runner(ring(2), 1, 0);
    runner.options.device = "0";
    ASSERT_EQ(runner.open(runner.options), "");
    std::thread run([&] {
      EXPECT_EQ(runner.run(RingInputs(kLength).arrays()),
                "the run was interrupted");
    });
    while (__atomic_load_n(&fake->launches, __ATOMIC_RELAXED) < 2)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    sprt_session_interrupt(runner.session);
    run.join();
  }
  EXPECT_LT(seconds(begin), 15);
  EXPECT_EQ(fake->blocked, 0);
}

TEST_F(Hang, whatEndsSoonAfterItsInterruptIsFreed) {
  fake->kernelSeconds = 0.3;
  {
    Runner runner(ring(2), 1, 0);
    runner.options.device = "0";
    ASSERT_EQ(runner.open(runner.options), "");
    std::thread run([&] {
      EXPECT_EQ(runner.run(RingInputs(kLength).arrays()),
                "the run was interrupted");
    });
    while (__atomic_load_n(&fake->launches, __ATOMIC_RELAXED) < 2)
      std::this_thread::yield();
    sprt_session_interrupt(runner.session);
    run.join();
  }
  EXPECT_EQ(fake->blocked, 0);
  EXPECT_EQ(fake->allocations, 0);
  EXPECT_EQ(fake->streams, 0);
}

TEST_F(Hang, whatNobodyWaitsForIsNotFreedEither) {
  std::shared_ptr<Device> device;
  ASSERT_FALSE(openDevice("0", device));
  std::unique_ptr<Device::Stream> stream;
  ASSERT_FALSE(device->createStream(0, stream));
  std::byte *data = nullptr;
  ASSERT_FALSE(device->allocate(64, data));
  fake->stuck = true;
  device->interrupt();
  device->release(data);
  stream.reset();
  device.reset();
  EXPECT_EQ(fake->blocked, 0);
  EXPECT_EQ(fake->allocations, 1);
  fake->stuck = false;
  ASSERT_FALSE(openDevice("0", device));
  device.reset();
  EXPECT_EQ(fake->allocations, 0);
  EXPECT_EQ(fake->streams, 0);
}

TEST_F(Hang, limitsEachKernelButNotTheirSum) {
  PlanBuilder builder(1);
  for (int i = 0; i < 6; ++i) {
    plan::LaunchT launch;
    launch.kernel = builder.kernel("some", nullptr);
    launch.tiles = 1;
    builder.add(std::move(launch));
  }
  builder.target(plan::Target::cuda);
  addImage(builder, "sm_90a");
  fake->kernelSeconds = kLimit / 4;
  Runner runner(builder, 1, kLimit);
  runner.options.device = "0";
  for (int run = 0; run < 3; ++run)
    EXPECT_EQ(runner.run({}), "");
}

TEST_F(Hang, onlyATimeoutLimitsAKernel) {
  PlanBuilder builder = ring(2);
  Runner runner(builder);
  runner.options.device = "emulated";
  ASSERT_EQ(runner.open(runner.options), "");
  std::shared_ptr<Device> device;
  ASSERT_FALSE(openDevice("0", device));
  ASSERT_FALSE(device->load(*runner.program));
  std::unique_ptr<Device::Stream> streams[2];
  for (int64_t rank : {0, 1})
    ASSERT_FALSE(device->createStream(rank, streams[rank]));
  std::unique_ptr<Device::Event> done;
  ASSERT_FALSE(device->createEvent(false, done));
  fake->hangsAt = 0;
  ASSERT_FALSE(streams[1]->attend(0, cuda::ForwardArguments{}, 1));
  ASSERT_FALSE(streams[1]->record(*done));
  ASSERT_FALSE(streams[0]->wait(*done));
  // Rank 0 waits for rank 1, and no longer than for a message.
  Device::Fault fault = streams[0]->synchronise(Device::Limit(0.05));
  ASSERT_TRUE(fault.status);
  EXPECT_EQ(fault.status->code, SPRT_TIMEOUT);
  EXPECT_EQ(fault.status->rank, 1);
  EXPECT_THAT_CONTAINS(fault.status->text, "kernel \"attend\" has not ended");
  // Rank 1 computes, for ever if it has to.
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    fault = streams[1]->synchronise(Device::Limit(0.05));
    returned = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(returned);
  device->limitWork(Device::Limit(0.1), Device::Limit(0.1));
  waiter.join();
  ASSERT_TRUE(fault.status);
  EXPECT_THAT_CONTAINS(fault.status->text, "waited 0.1 s for GPU 0 (Fake)");
  EXPECT_EQ(fake->blocked, 0);
  for (auto &stream : streams)
    stream.reset();
  done.reset();
  device.reset();
  EXPECT_EQ(fake->blocked, 0);
}

} // namespace
} // namespace sprt::test
