// Programs for GPUs on the emulated device: whatever the order of streams, the
// results are those of the CPU; and a wait that is missing shows.

#include "Programs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace sprt::test {
namespace {

using plan::LayoutKind;

/// Runs a program for GPUs with a seed of the emulation's order.
class Emulated : public testing::Test {
protected:
  Emulated() { seed(1); }
  ~Emulated() override { unsetenv("SPRT_EMULATION_SEED"); }

  static void seed(int number) {
    setenv("SPRT_EMULATION_SEED", std::to_string(number).c_str(), 1);
  }
  static PlanBuilder ring(int64_t ranks, int64_t length) {
    PlanBuilder builder = ringSum(ranks, length, LayoutKind::zigzag);
    builder.targetCuda();
    return builder;
  }
  /// In how many of so many orders the ring gives wrong numbers.
  static int wrongOrders(const PlanBuilder &builder, int64_t ranks,
                         int64_t length, int orders) {
    std::vector<float> x = ramp(static_cast<size_t>(length * kRingWidth));
    std::vector<float> expected =
        ringSumReference(ranks, length, LayoutKind::zigzag, x);
    int wrong = 0;
    for (int order = 0; order < orders; ++order) {
      seed(order);
      Runner runner(builder);
      runner.options.device = "emulated";
      EXPECT_EQ(runner.run({x}), "");
      wrong += runner.results[0] != expected;
    }
    return wrong;
  }
};

TEST_F(Emulated, ringEqualsReferenceInEveryOrder) {
  for (int64_t ranks : {1, 2, 3, 5})
    for (int64_t length : {1, 7, 16}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(length) +
                   " rows");
      EXPECT_EQ(wrongOrders(ring(ranks, length), ranks, length, 8), 0);
    }
}

} // namespace
} // namespace sprt::test
