// Generated attention kernels against a dense double-precision reference.
// Memory outside the valid rows is NaN, so a read of it shows.
#include "AttentionHarness.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>

using namespace attention_test;

// bf16 and f16 inputs are rounded first and computed in f32; dot products of
// bf16 round the powers, so lse is as exact as ever and o is not.
static double lseTolerance(const KernelConfig &c) {
  return c.element == Element::f64 ? 1e-12 : 1e-5;
}
static double tolerance(const KernelConfig &c) {
  return c.bf16Dots ? 4e-3 : lseTolerance(c);
}

static std::string nameOf(const KernelConfig &c) {
  const char *types[] = {"f64", "f32", "bf16", "f16"};
  return std::string(types[static_cast<int>(c.element)]) + "_d" +
         std::to_string(c.headSize) + "x" + std::to_string(c.valueSize) + "_v" +
         std::to_string(c.vectorBits) + (c.bf16Dots ? "_dots" : "");
}

class AttentionKernel : public testing::TestWithParam<KernelConfig> {
protected:
  void SetUp() override {
    if (!canRun(GetParam().vectorBits, GetParam().bf16Dots))
      GTEST_SKIP() << "this machine has no such vectors";
  }
  Problem problem(int64_t queries, int64_t keys) const {
    Problem p;
    p.kernel = GetParam();
    p.queries = queries;
    p.keys = keys;
    p.scale = 1 / std::sqrt(static_cast<double>(p.kernel.headSize));
    return p;
  }
  void run(const Problem &p) {
    check(p, tolerance(GetParam()), lseTolerance(GetParam()));
  }
};

TEST_P(AttentionKernel, Full) {
  Problem p = problem(300, 517);
  p.calls = {{0, 517, {band(300, 517)}, true}};
  run(p);
}

TEST_P(AttentionKernel, Causal) {
  Problem p = problem(269, 269);
  p.calls = {{0, 269, {band(269, 269, kNoLow, 0)}, true}};
  run(p);
}

TEST_P(AttentionKernel, SplitKeysCarryTheState) {
  Problem p = problem(131, 389);
  p.batch = 2;
  p.headsTotal = p.heads = 3;
  p.calls = {{0, 131, {band(131, 131, kNoLow, 0)}, true},
             {131, 57, {band(131, 57)}, false},
             {188, 201, {band(131, 201, 3, 90)}, false}};
  run(p);
  p.kernel.keepsSums = true;
  run(p);
}

TEST_P(AttentionKernel, GroupedHeadsFromAnOffset) {
  Problem p = problem(37, 41);
  p.batch = 2;
  p.headsTotal = 12;
  p.kvTotal = 4;
  p.headFirst = 4;
  p.heads = 7;
  p.headsOutside = true;
  p.calls = {{0, 41, {band(37, 41)}, true}};
  run(p);
}

TEST_P(AttentionKernel, SmallSizes) {
  for (int64_t queries : {1, 2, 7, 31, 33})
    for (int64_t keys : {1, 3, 8, 13}) {
      SCOPED_TRACE(testing::Message() << queries << " x " << keys);
      Problem p = problem(queries, keys);
      p.calls = {{0, keys, {band(queries, keys, kNoLow, 2)}, true}};
      run(p);
    }
}

static const KernelConfig kConfigs[] = {
    {Element::f32, 64, 64, 512, 0, 0},
    {Element::f32, 5, 5, 512, 0, 0},
    {Element::f32, 8, 8, 512, 0, 0},
    {Element::f32, 20, 20, 512, 0, 0},
    {Element::f32, 80, 80, 512, 0, 0},
    {Element::f32, 96, 96, 512, 0, 0},
    {Element::f32, 128, 128, 512, 0, 0},
    {Element::f32, 256, 256, 512, 0, 0},
    {Element::f32, 1, 3, 512, 0, 0},
    {Element::f32, 192, 128, 512, 0, 0},
    {Element::f32, 20, 72, 512, 0, 0},
    {Element::f32, 64, 64, 256, 0, 0},
    {Element::f32, 20, 13, 256, 0, 0},
    {Element::f64, 64, 64, 512, 0, 0},
    {Element::f64, 5, 20, 512, 0, 0},
    {Element::f64, 128, 80, 512, 0, 0},
    {Element::f64, 64, 64, 256, 0, 0},
    {Element::f64, 5, 7, 256, 0, 0},
    {Element::bf16, 64, 64, 512, 0, 0},
    {Element::bf16, 20, 128, 512, 0, 0},
    {Element::bf16, 64, 20, 256, 0, 0},
    {Element::f16, 64, 64, 512, 0, 0},
    {Element::f16, 5, 64, 256, 0, 0},
    {Element::bf16, 64, 64, 512, 0, 0, true},
    {Element::bf16, 128, 128, 512, 0, 0, true},
    {Element::bf16, 5, 13, 512, 0, 0, true},
    {Element::bf16, 1, 72, 512, 0, 0, true},
};

INSTANTIATE_TEST_SUITE_P(Configs, AttentionKernel, testing::ValuesIn(kConfigs),
                         [](const auto &info) { return nameOf(info.param); });

//===----------------------------------------------------------------------===//
// Masks, states and hard numbers, on one configuration of each precision
//===----------------------------------------------------------------------===//

class AttentionMask : public AttentionKernel {};

TEST_P(AttentionMask, Windows) {
  for (auto [lo, hi] : {std::pair<int64_t, int64_t>{-40, 0},
                        {-3, 3},
                        {17, 60},
                        {-500, -200},
                        {kNoLow, -1},
                        {0, kNoHigh},
                        {kNoLow + 1, kNoHigh - 1},
                        {5, 4},
                        {kNoHigh - 3, kNoHigh}}) {
    SCOPED_TRACE(testing::Message() << lo << " to " << hi);
    Problem p = problem(301, 263);
    p.calls = {{0, 263, {band(301, 263, lo, hi)}, true}};
    run(p);
  }
}

TEST_P(AttentionMask, SeveralSlicesOnOneBlock) {
  Problem p = problem(211, 307);
  p.calls = {{0,
              307,
              {{0, 100, 0, 50, kNoLow, 0, 1, 1, 0},
               {50, 211, 50, 120, kNoLow, kNoHigh, 1, 1, 0},
               {90, 140, 121, 307, 0, kNoHigh, 1, 1, 0},
               {150, 211, 130, 131, kNoLow, kNoHigh, 1, 1, 0}},
              true}};
  run(p);
}

TEST_P(AttentionMask, StridedSlices) {
  for (auto [qStride, kStride, lo, hi] :
       {std::array<int64_t, 4>{1, 1, kNoLow, -1}, // striped, folded
        {3, 1, kNoLow, 2},
        {1, 3, kNoLow, 5},
        {7, 4, -100, 13},
        {2, 5, -31, kNoHigh},
        {int64_t(1) << 40, int64_t(1) << 40, kNoLow, -1},
        {int64_t(1) << 40, (int64_t(1) << 40) + 1, -(int64_t(1) << 44), 77}}) {
    SCOPED_TRACE(testing::Message() << qStride << " " << kStride);
    Problem p = problem(127, 241);
    p.calls = {{0, 241, {{0, 127, 0, 241, lo, hi, qStride, kStride, 0}}, true}};
    run(p);
  }
}

TEST_P(AttentionMask, NothingVisibleIsEmpty) {
  Problem p = problem(70, 50);
  p.calls = {{0, 50, {}, true}};
  run(p);
  p.calls = {{0, 50, {{10, 20, 5, 5, kNoLow, kNoHigh, 1, 1, 0}}, true}};
  run(p);
  p.calls = {{0, 0, {band(70, 0)}, true}};
  run(p);
}

TEST_P(AttentionMask, EmptyStateIsNeutral) {
  Problem p = problem(70, 50);
  p.calls = {{0, 50, {}, true},
             {0, 50, {{11, 50, 0, 50, kNoLow, 0, 1, 1, 0}}, false},
             {0, 50, {}, false}};
  run(p);
}

TEST_P(AttentionMask, UniformSlicesScoreZero) {
  Problem p = problem(60, 90);
  p.calls = {{0,
              90,
              {{0, 30, 0, 90, kNoLow, kNoHigh, 1, 1, 1},
               {30, 60, 0, 40, kNoLow, 0, 1, 1, 0},
               {20, 45, 40, 90, 3, kNoHigh, 1, 1, 1}},
              true}};
  run(p);
}

TEST_P(AttentionMask, SmallBlocks) {
  for (int64_t keyBlock : {8, 40}) {
    Problem p = problem(150, 203);
    p.kernel.queryBlock = 32;
    p.kernel.keyBlock = keyBlock;
    p.calls = {{0, 101, {band(150, 101, -60, 30)}, true},
               {101, 102, {band(150, 102, -90, 10)}, false}};
    run(p);
  }
}

TEST_P(AttentionMask, ScalesOfAnySign) {
  for (double scale : {-0.2, 0.0, -0.0, 1e-60}) {
    SCOPED_TRACE(scale);
    Problem p = problem(50, 70);
    p.scale = scale;
    p.calls = {{0, 40, {band(50, 40, kNoLow, 0)}, true},
               {40, 30, {band(50, 30, 5, 30)}, false}};
    run(p);
  }
}

// A score's rounding error grows with its size, and so does that of its power.
TEST_P(AttentionMask, LargeScores) {
  for (double size : {200.0, 1e4}) {
    Problem p = problem(90, 170);
    p.magnitude = size;
    p.calls = {{0, 100, {band(90, 100)}, true},
               {100, 70, {band(90, 70)}, false}};
    check(p, tolerance(GetParam()) * size / 20,
          lseTolerance(GetParam()) * size / 20);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Configs, AttentionMask,
    testing::Values(KernelConfig{Element::f32, 64, 64, 512, 0, 0},
                    KernelConfig{Element::f32, 20, 20, 256, 0, 0},
                    KernelConfig{Element::f64, 20, 20, 512, 0, 0},
                    KernelConfig{Element::bf16, 20, 20, 512, 0, 0},
                    KernelConfig{Element::bf16, 20, 20, 512, 0, 0, true}),
    [](const auto &info) { return nameOf(info.param); });
