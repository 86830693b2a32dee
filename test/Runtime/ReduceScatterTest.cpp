// Sums of values that each rank keeps a part of, as plan commands.

#include "PlanBuilder.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sprt::test {
namespace {

class ReduceScatters : public testing::TestWithParam<plan::Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, ReduceScatters, testing::ValuesIn(kTargets));

TEST_P(ReduceScatters, keepsOwnRowsOfEachValue) {
  PlanBuilder builder(3);
  uint32_t dealt = builder.layout(plan::LayoutKind::zigzag, 7, 3),
           other = builder.layout(plan::LayoutKind::contiguous, 5, 3);
  int64_t source = builder.arena(7 * 8), target = builder.arena(3 * 8),
          more = builder.arena(5 * 4), kept = builder.arena(2 * 4);
  builder.input("x", plan::DType::f32, {{7}, {2}}, source);
  builder.input("z", plan::DType::f32, {{5}}, more);
  builder.result("y", plan::DType::f32, {{7, static_cast<int>(dealt)}, {2}},
                 target);
  builder.result("kept", plan::DType::f32, {{5, static_cast<int>(other)}},
                 kept);
  plan::ReduceScatterT reduce;
  reduce.values.push_back(
      moved(dealt, rowsOf(source, 7 * 8, 8), rowsOf(target, 3 * 8, 8)));
  reduce.values.push_back(
      moved(other, rowsOf(more, 5 * 4, 4), rowsOf(kept, 2 * 4, 4)));
  reduce.type = plan::DType::f32;
  builder.add(std::move(reduce));
  Runner runner(builder.target(GetParam()));
  std::vector<std::vector<float>> inputs = {std::vector<float>(14), {}},
                                  expected(2);
  std::iota(inputs[0].begin(), inputs[0].end(), 1.0F);
  inputs[1] = {1, 2, 3, 4, 5};
  for (size_t i = 0; i < 2; ++i)
    for (float each : inputs[i])
      expected[i].push_back(3 * each);
  ASSERT_EQ(runner.run(inputs), "");
  EXPECT_EQ(runner.results, expected);
}

TEST(ReduceScatterPlan, damageIsRefused) {
  struct Damage {
    const char *expected;
    void (*change)(plan::ReduceScatterT &reduce);
  };
  const Damage damages[] = {
      {"a reduce-scatter of nothing",
       [](auto &reduce) { reduce.values.clear(); }},
      {"rows are dealt to 2 owners in a group of 3",
       [](auto &reduce) { reduce.values[0]->layout = 1; }},
      {"not of whole f32",
       [](auto &reduce) { reduce.values[0]->source->row_stride = 10; }},
      {"differ in batch or element",
       [](auto &reduce) { reduce.values[0]->target->inner_bytes = 4; }},
  };
  for (const Damage &damage : damages) {
    PlanBuilder builder(3);
    uint32_t dealt = builder.layout(plan::LayoutKind::contiguous, 6, 3);
    builder.layout(plan::LayoutKind::contiguous, 6, 2);
    plan::ReduceScatterT reduce;
    reduce.values.push_back(moved(dealt, rowsOf(builder.arena(48), 48, 8),
                                  rowsOf(builder.arena(16), 16, 8)));
    reduce.type = plan::DType::f32;
    damage.change(reduce);
    builder.add(std::move(reduce));
    sprt_program *program = nullptr;
    std::string text = builder.load(&program);
    EXPECT_NE(text.find(damage.expected), std::string::npos)
        << damage.expected << " is not in: " << text;
  }
}

} // namespace
} // namespace sprt::test
