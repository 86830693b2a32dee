// Attention on the emulated device: the runtime's part is tensor maps, slices
// and the order of blocks.

#include "CudaRing.h"
#include "device/Device.h"
#include "tiles/SliceTable.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace sprt::test {
namespace {

int failingKernel(const void *, int64_t, uint64_t, char *error,
                  int64_t errorBytes) {
  std::snprintf(error, static_cast<size_t>(errorBytes), "barrier 3 overflows");
  return 1;
}

void expectReference(const RingSetting &setting) {
  SCOPED_TRACE(std::to_string(setting.ranks) + " ranks, " +
               std::to_string(setting.length) + " tokens, layout " +
               std::to_string(int(setting.kind)) +
               (setting.causal ? ", causal" : ", full"));
  RingInputs inputs(setting.length);
  Runner runner(cudaRing(setting));
  // The second run finds its tables made.
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(runner.run(inputs.arrays()), "");
    for (int64_t at = 0; at < setting.length * kRingHeads * kRingHead; ++at)
      ASSERT_NEAR(runner.results[0][static_cast<size_t>(at)],
                  inputs.expected(setting, at / (kRingHeads * kRingHead),
                                  at / kRingHead % kRingHeads, at % kRingHead),
                  1e-5)
          << at;
  }
}

TEST(DeviceAttend, ringEqualsDenseInEveryOrder) {
  int order = 0;
  for (plan::LayoutKind kind :
       {plan::LayoutKind::contiguous, plan::LayoutKind::zigzag,
        plan::LayoutKind::striped})
    for (bool causal : {false, true})
      for (int64_t ranks : {1, 2, 3, 5})
        for (int64_t length : {1, 13, 24}) {
          setenv("SPRT_EMULATION_SEED", std::to_string(++order).c_str(), 1);
          expectReference({ranks, length, kind, causal});
        }
  unsetenv("SPRT_EMULATION_SEED");
}

TEST(DeviceAttend, stepsThatSeeNothingLaunchNothing) {
  Runner runner(cudaRing({4, 8, plan::LayoutKind::contiguous, true}));
  cudaRingLaunches = 0;
  ASSERT_EQ(runner.run(RingInputs(8).arrays()), "");
  EXPECT_EQ(cudaRingLaunches, 1 + 2 + 3 + 4);
}

TEST(DeviceAttend, faultNamesRankCommandAndStep) {
  PlanBuilder builder = cudaRing({3, 6, plan::LayoutKind::contiguous, true});
  builder.kernel("broken", nullptr);
  builder.emulateAttention("broken", failingKernel);
  builder.target(plan::Target::cuda);
  // Only rank 2 sees keys at step 2.
  plan::LoopT &loop = *builder.plan.commands[2]->operation.AsLoop();
  auto again = std::make_unique<plan::CommandT>(*loop.body[2]);
  again->operation.AsAttend()->kernel = 1;
  again->name = "last";
  again->when = (Expr(1) < Expr::counter(0)).build();
  loop.body.push_back(std::move(again));
  Runner runner(builder, 1, 5);
  std::string text = runner.run(RingInputs(6).arrays());
  EXPECT_EQ(text.find("rank 2, command 7 \"last\", step 2: kernel \"broken\": "
                      "barrier 3 overflows"),
            0U)
      << text;
  EXPECT_THAT_CONTAINS(text, "because rank 2 ended the run");
}

/// Fails with how it was called.
int plainKernel(const void *raw, int64_t, uint64_t, char *error,
                int64_t errorBytes) {
  const auto &a = *static_cast<const cuda::PlainArguments *>(raw);
  std::snprintf(error, static_cast<size_t>(errorBytes),
                "%d blocks of queries, scale %g", a.queryBlocks, a.scale);
  return 1;
}

TEST(DeviceAttend, portableKernelsRunWhereNoImageIsNative) {
  PlanBuilder builder = cudaRing({1, 6, plan::LayoutKind::contiguous, true});
  uint32_t plain = builder.kernel("plain", nullptr);
  builder.emulateAttention("plain", plainKernel);
  builder.target(plan::Target::cuda);
  plan::AttendT &attend = *builder.plan.commands[2]
                               ->operation.AsLoop()
                               ->body[1]
                               ->operation.AsAttend();
  attend.portable = std::make_unique<plan::PortableKernelT>();
  attend.portable->kernel = plain;
  attend.portable->query_block = 4;
  for (const char *architecture : {"sm_90a", "compute_80"}) {
    auto image = std::make_unique<plan::ImageT>();
    image->symbol = architecture;
    image->bytes = 1;
    image->architecture = architecture;
    builder.plan.images.push_back(std::move(image));
    builder.kernels[architecture] = [](void *const *, const int64_t *, int64_t,
                                       int64_t, void *) {};
  }
  auto run = [&](const char *architecture) {
    setenv("SPRT_EMULATION_ARCHITECTURE", architecture, 1);
    Runner runner(builder, 1, 5);
    std::string refused = runner.open(runner.options);
    unsetenv("SPRT_EMULATION_ARCHITECTURE");
    return refused.empty() ? runner.run(RingInputs(6).arrays()) : refused;
  };
  EXPECT_EQ(run("sm_90"), "");
  for (const char *architecture : {"sm_80", "sm_89", "sm_100"})
    EXPECT_THAT_CONTAINS(run(architecture),
                         "kernel \"plain\": 2 blocks of queries, scale 0.5");
  EXPECT_THAT_CONTAINS(run("sm_75"),
                       "the emulated device is sm_75 but the artifact has code "
                       "for sm_90a, compute_80");
  EXPECT_THAT_CONTAINS(run("80"), "expected an architecture such as sm_80 in "
                                  "SPRT_EMULATION_ARCHITECTURE but got \"80\"");
}

TEST(DeviceAttend, codeFitsArchitectures) {
  auto fit = [](const char *code, int architecture) {
    plan::ImageT image;
    image.architecture = code;
    return fitOf(image, architecture);
  };
  EXPECT_EQ(fit("sm_90a", 90), Fit::native);
  EXPECT_EQ(fit("sm_90a", 100), Fit::none);
  EXPECT_EQ(fit("sm_80", 86), Fit::native);
  EXPECT_EQ(fit("sm_86", 80), Fit::none);
  EXPECT_EQ(fit("compute_80", 75), Fit::none);
  EXPECT_EQ(fit("compute_80", 80), Fit::portable);
  EXPECT_EQ(fit("compute_80", 120), Fit::portable);
}

TEST(DeviceAttend, slicesBeyond32BitsAreNoticed) {
  cuda::Slice narrow;
  sprt_slice slice = {0, 8, 0, 8, algebra::unboundedBelow, 0, 1, 1, 0};
  EXPECT_TRUE(narrowSlice(slice, narrow));
  EXPECT_EQ(narrow.lo, INT32_MIN);
  EXPECT_EQ(narrow.hi, 0);
  slice.hi = -2000000000;
  EXPECT_TRUE(narrowSlice(slice, narrow));
  EXPECT_EQ(narrow.hi, -2000000000);
  slice.qStride = 1 << 28;
  EXPECT_FALSE(narrowSlice(slice, narrow));
  slice = {0, 8, 0, int64_t(1) << 31, 0, algebra::unboundedAbove, 1, 1, 0};
  EXPECT_FALSE(narrowSlice(slice, narrow));
  slice = {0, 8, 0, 1 << 20, INT64_MIN + 1, 0, 1, 1 << 12, 0};
  EXPECT_FALSE(narrowSlice(slice, narrow));
}

/// A plan that `change` spoils, and what its status says.
struct Spoiled {
  const char *what;
  void (*change)(plan::PlanT &, plan::AttendT &);
  const char *expected;
};
class SpoiledCudaPlan : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledCudaPlan, isRefusedWithItsReason) {
  PlanBuilder builder = cudaRing({2, 6, plan::LayoutKind::contiguous, true});
  plan::LoopT &loop = *builder.plan.commands[2]->operation.AsLoop();
  GetParam().change(builder.plan, *loop.body[1]->operation.AsAttend());
  sprt_program *program = nullptr;
  std::string text = builder.load(&program);
  sprt_program_free(program);
  if (text.empty())
    text = Runner(builder, 1, 5).run(RingInputs(6).arrays());
  EXPECT_THAT_CONTAINS(text, GetParam().expected);
}

const Spoiled kSpoiled[] = {
    {"target",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.target = static_cast<plan::Target>(7);
     },
     "unknown target 7"},
    {"noThreads",
     [](plan::PlanT &plan, plan::AttendT &) { plan.kernels[0]->threads = 0; },
     "expected 1 to 1024 threads of kernel \"attend\" but got 0"},
    {"threads",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.kernels[0]->threads = 1025;
     },
     "but got 1025"},
    {"negativeShared",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.kernels[0]->shared_bytes = -1;
     },
     "expected 0 to 232448 bytes of shared memory of kernel \"attend\" but got "
     "-1"},
    {"shared",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.kernels[0]->shared_bytes = 232449;
     },
     "but got 232449"},
    {"image",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.images.push_back(std::make_unique<plan::ImageT>());
       plan.images[0]->symbol = "cubin";
       plan.images[0]->bytes = 64;
       plan.images[0]->architecture = "sm_90a";
     },
     "the plan has image \"cubin\" for sm_90a but the artifact does not define "
     "it"},
    {"imageSize",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.images.push_back(std::make_unique<plan::ImageT>());
       plan.images[0]->symbol = "cubin";
       plan.images[0]->architecture = "sm_90a";
     },
     "expected an image of 1 to"},
    {"imageOfCpu",
     [](plan::PlanT &plan, plan::AttendT &) {
       plan.target = plan::Target::cpu;
       plan.images.push_back(std::make_unique<plan::ImageT>());
     },
     "code for GPUs in a plan for CPUs"},
    {"keyBlock",
     [](plan::PlanT &, plan::AttendT &attend) { attend.key_block = 257; },
     "expected blocks of 0 to 256 keys but got 257"},
    {"negativeKeyBlock",
     [](plan::PlanT &, plan::AttendT &attend) { attend.key_block = -64; },
     "but got -64"},
    {"portableKernel",
     [](plan::PlanT &, plan::AttendT &attend) {
       attend.portable = std::make_unique<plan::PortableKernelT>();
       attend.portable->kernel = 9;
       attend.portable->query_block = 16;
     },
     "portable kernel 9 of 1"},
    {"portableBlock",
     [](plan::PlanT &, plan::AttendT &attend) {
       attend.portable = std::make_unique<plan::PortableKernelT>();
     },
     "a size of attention"},
    {"order",
     [](plan::PlanT &, plan::AttendT &attend) {
       attend.order = static_cast<plan::BlockOrder>(2);
     },
     "unknown order of blocks 2"},
    {"scale", [](plan::PlanT &, plan::AttendT &attend) { attend.scale = 0; },
     "expected a scale above 0"},
    {"stride",
     [](plan::PlanT &, plan::AttendT &attend) { attend.k_strides[1] = 15; },
     "expected strides of attention that are multiples of 16 bytes but got 30"},
    {"reach",
     [](plan::PlanT &, plan::AttendT &attend) { attend.v_strides[1] *= 64; },
     "does not fit into its buffer of"},
    {"kvHeads",
     [](plan::PlanT &, plan::AttendT &attend) {
       attend.kv_first = Expr(1).build();
     },
     "kv heads from 1 of 2 for query heads from 0 of 4"},
};

INSTANTIATE_TEST_SUITE_P(Plans, SpoiledCudaPlan, testing::ValuesIn(kSpoiled),
                         [](const auto &info) {
                           return std::string(info.param.what);
                         });

} // namespace
} // namespace sprt::test
