// Generated kernels for the gradients of attention against a dense
// double-precision reference, on random problems and by name.
#include "AttentionBackwardScore.h"
#include "AttentionCompile.h"
#include "CPU/Attention/Backward/AttentionBackwardKernel.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>
#include <rapidcheck.h>

using namespace attention_test;

// bf16 and f16 inputs are rounded first, and all sums are in f32. With dot
// products of bf16, P and dS are rounded too, by 2^-8 of a term at most.
static double tolerance(const BackwardConfig &c) {
  if (c.bf16Dots)
    return 4e-3;
  return c.element == Element::f64 ? 1e-10 : 2e-5;
}

static std::string nameOf(const BackwardConfig &c) {
  const char *types[] = {"f64", "f32", "bf16", "f16"};
  return std::string(types[static_cast<int>(c.element)]) + "_d" +
         std::to_string(c.headSize) + "x" + std::to_string(c.valueSize) + "_v" +
         std::to_string(c.vectorBits) + (c.bf16Dots ? "_dots" : "");
}

static rc::Gen<int64_t> from(int64_t least, int64_t most) {
  return rc::gen::inRange<int64_t>(least, most + 1);
}

/// A slice of some layout's mask: full, causal, a window, strided.
static sprt_slice anySlice(int64_t queries, int64_t keys) {
  sprt_slice slice = band(queries, keys);
  if (*rc::gen::arbitrary<bool>()) {
    slice.q0 = *from(0, queries);
    slice.q1 = *from(slice.q0, queries);
    slice.k0 = *from(0, keys);
    slice.k1 = *from(slice.k0, keys);
  }
  switch (*from(0, 3)) {
  case 0:
    break;
  case 1:
    slice.hi = *from(-20, 20);
    break;
  case 2:
    slice.lo = *from(-60, 40);
    slice.hi = slice.lo + *from(0, 90);
    break;
  default:
    slice.qStride = *from(1, 8);
    slice.kStride = *from(1, 8);
    slice.hi = *from(-40, 200);
    if (*rc::gen::arbitrary<bool>())
      slice.lo = slice.hi - *from(0, 500);
  }
  return slice;
}

static BackwardProblem anyProblem(const BackwardConfig &config) {
  BackwardProblem p;
  p.kernel = config;
  p.batch = *from(1, 2);
  p.headsTotal = *from(1, 7);
  p.kvTotal = *from(1, p.headsTotal);
  p.headFirst = *from(0, p.headsTotal - 1);
  p.heads = *from(1, std::min<int64_t>(p.headsTotal - p.headFirst, 4));
  p.spareKvHeads = *from(0, 1);
  p.queries = *from(0, 150);
  p.keys = *from(0, 150);
  if (*from(0, 7) == 0) // more than a block
    (*rc::gen::arbitrary<bool>() ? p.queries : p.keys) += 600;
  p.scale = *rc::gen::element(1.0, 0.3, 0.0, -0.4) /
            std::sqrt(static_cast<double>(config.headSize));
  p.headsOutside = *rc::gen::arbitrary<bool>();
  p.initQueries = *rc::gen::arbitrary<bool>();
  p.initKeys = *rc::gen::arbitrary<bool>();
  p.seed = *rc::gen::arbitrary<unsigned>();
  for (int64_t i = *from(0, 3); i > 0; --i)
    p.slices.push_back(anySlice(p.queries, p.keys));
  return p;
}

class AttentionBackward : public testing::TestWithParam<BackwardConfig> {
protected:
  void SetUp() override {
    if (!canRun(GetParam().vectorBits, GetParam().bf16Dots))
      GTEST_SKIP() << "this machine has no such vectors";
  }
  BackwardProblem problem(int64_t queries, int64_t keys) const {
    BackwardProblem p;
    p.kernel = GetParam();
    p.queries = queries;
    p.keys = keys;
    p.scale = 1 / std::sqrt(static_cast<double>(p.kernel.headSize));
    return p;
  }
  double tolerance() const { return ::tolerance(GetParam()); }
};

TEST_P(AttentionBackward, AnyProblem) {
  bool holds = rc::check([&] {
    BackwardRun run(anyProblem(GetParam()));
    if (run.p.queries > 0 && *rc::gen::arbitrary<bool>())
      run.lse.set(run.lse.index(0, *from(0, run.p.queries - 1), 0), -kInfinity);
    run.check(tolerance());
    RC_ASSERT(!testing::Test::HasFailure());
  });
  EXPECT_TRUE(holds);
}

TEST_P(AttentionBackward, CausalOverManyBlocks) {
  BackwardProblem p = problem(700, 700);
  p.slices = {band(700, 700, kNoLow, 0)};
  BackwardRun(p).check(tolerance());
}

static const BackwardConfig kConfigs[] = {
    {Element::f32, 64, 64, 512},        {Element::f32, 128, 128, 512},
    {Element::f32, 96, 33, 512},        {Element::f32, 1, 3, 512},
    {Element::f32, 20, 72, 512},        {Element::f32, 64, 64, 256},
    {Element::f32, 33, 8, 256},         {Element::f64, 64, 64, 512},
    {Element::f64, 5, 20, 512},         {Element::f64, 33, 7, 256},
    {Element::bf16, 64, 64, 512},       {Element::bf16, 128, 20, 512},
    {Element::bf16, 20, 33, 256},       {Element::f16, 64, 64, 512},
    {Element::bf16, 64, 64, 512, true}, {Element::bf16, 128, 20, 512, true},
    {Element::bf16, 5, 72, 512, true},  {Element::bf16, 33, 96, 512, true},
};

INSTANTIATE_TEST_SUITE_P(Configs, AttentionBackward,
                         testing::ValuesIn(kConfigs),
                         [](const auto &info) { return nameOf(info.param); });

//===----------------------------------------------------------------------===//
// Named cases, on one configuration of each precision
//===----------------------------------------------------------------------===//

class AttentionBackwardCase : public AttentionBackward {};

TEST_P(AttentionBackwardCase, NothingVisibleInitialises) {
  for (bool init : {true, false}) {
    BackwardProblem p = problem(70, 50);
    p.headsTotal = p.heads = 3;
    p.spareKvHeads = 1;
    p.initQueries = p.initKeys = init;
    BackwardRun(p).check(0);
    p.slices = {{10, 20, 5, 5, kNoLow, kNoHigh, 1, 1, 0},
                band(70, 50, 60, kNoHigh)};
    BackwardRun(p).check(0);
    p.keys = 0;
    BackwardRun(p).check(0);
    p.keys = 50;
    p.queries = 0;
    BackwardRun(p).check(0);
  }
}

TEST_P(AttentionBackwardCase, QueriesThatSawNothingAddNothing) {
  BackwardProblem p = problem(150, 90);
  p.slices = {band(150, 90)};
  BackwardRun run(p);
  // One alone, a whole panel, and whatever they hold.
  for (int64_t row : {3, 64, 65})
    run.lse.set(run.lse.index(0, row, 0), -kInfinity);
  for (int64_t row = 32; row < 64; ++row)
    run.lse.set(run.lse.index(0, row, 0), -kInfinity);
  run.q.set(run.q.index(0, 3, 0), kNaN);
  run.dO.set(run.dO.index(0, 40, 0), kInfinity);
  run.delta.set(run.delta.index(0, 65, 0), kNaN);
  run.check(tolerance());
}

TEST_P(AttentionBackwardCase, HiddenElementsDoNotLeak) {
  for (double bad : {kNaN, kInfinity, -kInfinity}) {
    BackwardProblem p = problem(100, 100);
    p.slices = {band(100, 61, kNoLow, 0),
                {5, 80, 70, 100, kNoLow, kNoHigh, 1, 1, 0}};
    BackwardRun run(p);
    // Keys 61 to 69 are hidden from all, as are queries' of no slice.
    for (int64_t key : {61, 66, 69}) {
      run.k.set(run.k.index(0, key, 0), bad);
      run.v.set(run.v.index(0, key, 0), bad);
    }
    run.check(tolerance());
  }
}

TEST_P(AttentionBackwardCase, NaNReachesThoseWhoSeeIt) {
  // Of K, V, Q and dO in turn, at row 21 of a causal mask.
  for (int which = 0; which < 4; ++which) {
    SCOPED_TRACE(which);
    BackwardProblem p = problem(60, 60);
    p.slices = {band(60, 60, kNoLow, 0)};
    BackwardRun run(p);
    Array *arrays[] = {&run.k, &run.v, &run.q, &run.dO};
    Array &array = *arrays[which];
    array.set(array.index(0, 21, 0), kNaN);
    run.check(tolerance());
  }
}

TEST_P(AttentionBackwardCase, LargeStrides) {
  for (int64_t stride : {int64_t(1) << 40, (int64_t(1) << 40) + 1}) {
    BackwardProblem p = problem(127, 141);
    p.slices = {{0, 127, 0, 141, kNoLow, -1, int64_t(1) << 40, stride, 0}};
    BackwardRun(p).check(tolerance());
  }
}

TEST_P(AttentionBackwardCase, BitsDoNotDependOnTheSplitOfTiles) {
  BackwardProblem p = problem(150, 130);
  p.batch = 2;
  p.headsTotal = p.heads = 7;
  p.kvTotal = 3;
  p.initQueries = p.initKeys = false;
  p.slices = {band(150, 130, -70, 10)};
  BackwardRun whole(p);
  whole.run();
  for (std::vector<int64_t> ends :
       {std::vector<int64_t>{1, 2, 3, 4, 5}, {4}, {2, 5}}) {
    BackwardRun split(p);
    split.run(ends);
    EXPECT_TRUE(split.dq.bytes == whole.dq.bytes);
    EXPECT_TRUE(split.dk.bytes == whole.dk.bytes);
    EXPECT_TRUE(split.dv.bytes == whole.dv.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Configs, AttentionBackwardCase,
    testing::Values(BackwardConfig{Element::f32, 64, 64, 512},
                    BackwardConfig{Element::f32, 33, 8, 256},
                    BackwardConfig{Element::f64, 5, 20, 512},
                    BackwardConfig{Element::bf16, 64, 64, 512},
                    BackwardConfig{Element::bf16, 20, 33, 512, true}),
    [](const auto &info) { return nameOf(info.param); });

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

TEST(AttentionBackwardConfig, NamesAndDiagnostics) {
  mlir::MLIRContext context;
  mlir::sp::AttentionBackwardConfig config;
  config.headSize = 64;
  config.valueSize = 64;
  config.elementType = mlir::Float32Type::get(&context);
  EXPECT_EQ(mlir::sp::attentionBackwardKernelName(config),
            "attend_backward_f32_d64");
  config.valueSize = 128;
  EXPECT_EQ(mlir::sp::attentionBackwardKernelName(config),
            "attend_backward_f32_d64x128");
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { text = diagnostic.str(); });
  auto loc = mlir::UnknownLoc::get(&context);
  EXPECT_TRUE(succeeded(mlir::sp::verifyAttentionBackwardKernel(loc, config)));
  config.headSize = 0;
  EXPECT_TRUE(failed(mlir::sp::verifyAttentionBackwardKernel(loc, config)));
  EXPECT_EQ(text, "expected attention head size from 1 to 4096 but got 0");
  config.headSize = 64;
  config.termGradients = {{true, true}, {true, false}, {false, true}, {}};
  EXPECT_TRUE(failed(mlir::sp::verifyAttentionBackwardKernel(loc, config)));
  EXPECT_EQ(text, "expected a score function that gives derivatives by terms");
  decltype(config.termGradients) gradients;
  for (int results : {1, 2}) {
    auto scores = parseScore(
        context, scoreFunction(Element::f32, "",
                               results == 1 ? "return %s : $T"
                                            : "return %s, %s : $T, $T",
                               results));
    config.score = scores->lookupSymbol<mlir::func::FuncOp>("score_0");
    EXPECT_TRUE(failed(mlir::sp::verifyAttentionBackwardKernel(loc, config)));
    EXPECT_EQ(text, "expected score function 'score_0' to give an exponent, "
                    "its slope, at most a weight and 4 derivatives but got " +
                        std::to_string(results) + " results");
    EXPECT_EQ(mlir::sp::attentionBackwardKernelName(config),
              "attend_backward_f32_d64x128_score_0_of_pairs_of_queries_of_keys_"
              "of_heads");
    std::swap(config.termGradients, gradients);
    EXPECT_EQ(succeeded(mlir::sp::verifyAttentionBackwardKernel(loc, config)),
              results == 2);
    EXPECT_EQ(mlir::sp::attentionBackwardKernelName(config),
              "attend_backward_f32_d64x128_score_0");
    std::swap(config.termGradients, gradients);
  }
}
