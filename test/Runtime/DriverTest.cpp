// The CUDA driver as a device, against a fake of the library: what we call it
// with. That kernels compute on a GPU is for GPUs to show.

#include "CudaRing.h"
#include "FakeCuda.h"
#include "Programs.h"
#include "device/Device.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include <dlfcn.h>

namespace sprt::test {
namespace {

class Driver : public testing::Test {
protected:
  // The fake is known by its name, libcuda.so.1, before anybody asks for that.
  Driver() : library(dlopen(SP_FAKE_CUDA, RTLD_NOW)) {
    EXPECT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCudaFunction>(dlsym(library, "fakeCuda"))();
    *fake = FakeCuda();
  }
  ~Driver() override {
    EXPECT_EQ(fake->allocations, 0);
    dlclose(library);
  }

  PlanBuilder ring(int64_t ranks, const char *architecture = "sm_90a") {
    setting = {ranks, 13, plan::LayoutKind::zigzag, true};
    PlanBuilder builder = cudaRing(setting);
    builder.plan.kernels[0]->shared_bytes = 4096;
    fake->kernel = reinterpret_cast<sprt_emulated_kernel>(
        reinterpret_cast<void *>(builder.kernels["attend_emulated"]));
    builder.kernels.clear();
    addImage(builder, architecture);
    return builder;
  }
  static void addImage(PlanBuilder &builder, const char *architecture) {
    auto image = std::make_unique<plan::ImageT>();
    image->symbol = "image";
    image->bytes = 1;
    image->architecture = architecture;
    builder.plan.images.push_back(std::move(image));
    builder.kernels["image"] = [](void *const *, const int64_t *, int64_t,
                                  int64_t, void *) {};
  }
  static std::string open(const PlanBuilder &builder,
                          const char *device = "0") {
    Runner runner(builder);
    runner.options.device = device;
    return runner.open(runner.options);
  }

  void *library;
  FakeCuda *fake;
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
  ASSERT_FALSE(device->upload(*stream, from,
                              reinterpret_cast<std::byte *>(data.data()), 240));
  // 2 batches of 4 rows of 3 heads of 4 bytes, every other row.
  Piece piece;
  piece.base = from;
  piece.inner = 4;
  for (int dim = 0; dim < 3; ++dim) {
    piece.counts[dim] = std::array{2, 4, 3}[static_cast<size_t>(dim)];
    piece.strides[dim] = std::array{120, 24, 4}[static_cast<size_t>(dim)];
  }
  ASSERT_FALSE(device->copy(*stream, denseMessage(to, 96), {piece}));
  EXPECT_EQ(fake->rectangles, 2);
  ASSERT_FALSE(device->copy(*stream, denseMessage(got.data(), 96),
                            denseMessage(to, 96)));
  ASSERT_FALSE(device->synchronise(*stream, Device::Limit(5)).status);
  piece.base = reinterpret_cast<std::byte *>(data.data());
  copyMessage(denseMessage(expected.data(), 96), {piece});
  EXPECT_EQ(got, expected);
  ASSERT_FALSE(device->fill(*stream, to, 7, 96));
  ASSERT_FALSE(device->copy(*stream, denseMessage(got.data(), 96),
                            denseMessage(to, 96)));
  EXPECT_EQ(got, std::vector<uint8_t>(96, 7));
}

TEST_F(Driver, refusesWhatTheGpuCannotRun) {
  EXPECT_EQ(open(ring(2), "3"), "expected the number of a GPU below 1 but got "
                                "3; or run with --device=emulated");
  EXPECT_EQ(open(ring(2, "sm_100a")),
            "GPU 0 (Fake) is sm_90 but the artifact has code for sm_100a; "
            "compile with --arch=sm_90, or run with --device=emulated");
  EXPECT_EQ(open(ring(2, "sm_90")), "");
  fake->minor = 1;
  EXPECT_EQ(open(ring(2, "sm_90")), "");
  EXPECT_THAT_CONTAINS(open(ring(2)), "is sm_91 but");
  fake->minor = 0;
  fake->freeBytes = 4096;
  EXPECT_THAT_CONTAINS(open(ring(2)),
                       "bytes more than the 4096 of 8192 that are free on GPU "
                       "0 (Fake), where 1 would fit");
  fake->freeBytes = size_t(1) << 30;
  PlanBuilder other = ring(2);
  other.plan.kernels[0]->symbol = "absent";
  EXPECT_THAT_CONTAINS(open(other), "kernel \"absent\": GPU 0 (Fake), "
                                    "cuModuleGetFunction: fake error (500)");
  PlanBuilder launches = ringSum(2, 4, plan::LayoutKind::contiguous);
  addImage(launches.target(plan::Target::cuda), "sm_90a");
  EXPECT_EQ(open(launches),
            "the artifact holds kernel \"add_rows\" of command 5 for the CPU "
            "only; run it with --device=emulated");
}

TEST_F(Driver, aStreamThatIsNeverDoneIsATimeout) {
  Runner runner(ring(2), 1, 0.2);
  runner.options.device = "0";
  ASSERT_EQ(runner.open(runner.options), "");
  fake->stuck = true;
  EXPECT_THAT_CONTAINS(runner.run(RingInputs(13).arrays()),
                       ": waited 0.2 s for GPU 0 (Fake)");
}

} // namespace
} // namespace sprt::test
