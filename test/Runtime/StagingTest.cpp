// Arrays larger than the memory they travel through, to devices and back.

#include "executor/Staging.h"
#include "OnFakeDriver.h"

#include <cstdlib>
#include <numeric>

namespace sprt::test {
namespace {

class Staged : public OnFakeDriver,
               public testing::WithParamInterface<const char *> {
protected:
  ~Staged() override { unsetenv("SPRT_EMULATION_SEED"); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Staged, testing::Values("emulated", "0"),
                         [](const auto &info) {
                           return info.param == std::string("0") ? "gpu"
                                                                 : "emulated";
                         });

TEST_P(Staged, arraysArriveWholeWhateverTheOrder) {
  // Parts end within rows; buffers are used again.
  constexpr int64_t ranks = 2, rows = 5501, width = 1021;
  constexpr int64_t rowBytes = width * 4, most = (rows + 1) / 2;
  static_assert(Staging::kPartBytes % rowBytes != 0);
  static_assert(most * rowBytes > 5 * Staging::kPartBytes);
  PlanBuilder builder(ranks);
  int dealt =
      static_cast<int>(builder.layout(plan::LayoutKind::zigzag, rows, ranks));
  int64_t x = builder.arena(most * rowBytes), all = builder.arena(3 << 20);
  builder.input("x", plan::DType::f32, {{rows, dealt}, {width}}, x);
  builder.input("all", plan::DType::f32, {{3 << 18}}, all);
  builder.result("y", plan::DType::f32, {{rows, dealt}, {width}}, x);
  builder.result("z", plan::DType::f32, {{3 << 18}}, all);
  builder.target(plan::Target::cuda);
  addImage(builder, "sm_90a");
  std::vector<float> given(rows * width), whole(3 << 18);
  std::iota(given.begin(), given.end(), 1.0F);
  std::iota(whole.begin(), whole.end(), 3.0F);
  for (const char *seed : {"1", "2", "3"}) {
    setenv("SPRT_EMULATION_SEED", seed, 1);
    Runner runner(builder);
    runner.options.device = GetParam();
    for (int run = 0; run < 2; ++run) {
      ASSERT_EQ(runner.run({given, whole}), "");
      EXPECT_TRUE(runner.results[0] == given) << "seed " << seed;
      EXPECT_TRUE(runner.results[1] == whole) << "seed " << seed;
      given[0] += 1;
    }
  }
}

} // namespace
} // namespace sprt::test
