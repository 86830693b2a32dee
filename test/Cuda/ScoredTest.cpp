// The forward kernel with score functions, emulated: what the plain kernel
// makes of the same inputs, whose results the execution tests prove.

#include "ScoredCheck.h"

using namespace sprt;
using namespace sprt::test;

namespace {

/// Partial and whole blocks, empty rows, strides, a uniform slice.
std::vector<std::vector<Slice>> everySlice(const Shape &shape) {
  return {{banded(shape, kNone, -30)},
          {full(shape)},
          {},
          {{0, 60, 0, 100, kNone, 3, 1, 1, 0},
           {60, shape.queries, 7, shape.keys, -200, 5, 2, 3, 0},
           {10, 50, 100, 120, kNone, kAll, 1, 1, 1}}};
}

TEST(ScoredForward, equals_plain) {
  Shape shape = {1, 135, 150, 2, 1};
  checkScored<BFloat16, 64, 64, 64, Capped>(shape, everySlice(shape), 1);
  checkScored<BFloat16, 64, 64, 64, Sloped>(shape, everySlice(shape), 2);
  checkScored<BFloat16, 64, 64, 64, Every>(shape, everySlice(shape), 3);
}

TEST(ScoredForward, a_cap_is_wrong_by_no_more_than_is_said) {
  using Forward = cuda::ForwardConfig<BFloat16, 64, 64, 64, 2, 2, CappedNearly>;
  using Plain = cuda::PlainConfig<BFloat16, float, 64, 64, CappedClosely>;
  Shape shape = {1, 64, 128, 1, 1};
  // Scores of the size of the cap, so that the error is as large as it gets.
  constexpr double kScale = 2, kCap = CappedClosely::kCap, kError = kCap / 2048;
  AttentionCheck<Forward> nearly(shape, {{full(shape)}}, 1, kScale);
  AttentionCheck<Plain> closely(shape, {{full(shape)}}, 1, kScale);
  ASSERT_NO_THROW(nearly.run(1));
  ASSERT_NO_THROW(closely.run(1));
  auto [ofSums, ofMeans] = nearly.apart(closely);
  EXPECT_LE(ofSums, kError);
  EXPECT_GE(ofSums, kError / 8); // the emulation is as wrong as a GPU may be
  // Powers of a row are wrong by that in either direction; values are below 5.
  EXPECT_LE(ofMeans, 5 * (std::exp(2 * kError) - 1) + 1.0 / 256);
}

TEST(ScoredForward, sizes_of_heads) {
  Shape shape = {2, 20, 150, 1, 1};
  checkScored<Half, 96, 96, 128, Sloped>(shape, {{full(shape)}}, 1);
  checkScored<BFloat16, 192, 128, 112, Every>(shape, {{full(shape)}}, 2);
  checkScored<BFloat16, 256, 256, 80, Capped>(shape, {{full(shape)}}, 3);
}

TEST(ScoredForward, scores_that_are_no_numbers) {
  Shape shape = {1, 70, 260, 1, 1};
  // Of the first step each row meets nothing else.
  std::vector<std::vector<Slice>> steps = {
      {{0, 70, 0, 60, kNone, kAll, 1, 1, 0}}, {full(shape)}};
  for (float special : {-INFINITY, -FLT_MAX, FLT_MAX, INFINITY, NAN}) {
    SCOPED_TRACE(special);
    checkScored<BFloat16, 64, 64, 128, Sloped>(shape, {steps[0]}, 1, special);
    checkScored<BFloat16, 64, 64, 128, Sloped>(shape, steps, 1, special);
  }
}

TEST(ScoredForward, results_are_rounded_means) {
  constexpr auto kResult = cuda::StateForm::Result;
  Shape shape = {1, 70, 260, 1, 1};
  std::vector<Slice> all = {full(shape)},
                     first = {{0, 70, 0, 60, kNone, kAll, 1, 1, 0}};
  checkScoredResults<
      cuda::ForwardConfig<BFloat16, 64, 64, 128, 2, 2, Sloped>,
      cuda::ForwardConfig<BFloat16, 64, 64, 128, 2, 2, Sloped, kResult>>(
      shape, all, 0);
  checkScoredResults<
      cuda::ForwardConfig<Half, 64, 64, 128, 2, 2, Sloped>,
      cuda::ForwardConfig<Half, 64, 64, 128, 2, 2, Sloped, kResult>>(
      shape, first, -INFINITY);
  checkScoredResults<
      cuda::PlainConfig<BFloat16, float, 20, 12, Sloped>,
      cuda::PlainConfig<BFloat16, float, 20, 12, Sloped, kResult>>(shape, first,
                                                                   -INFINITY);
}

} // namespace
