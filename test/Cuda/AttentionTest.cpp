// The forward kernel, emulated: ragged sizes, every form of slice, grouped
// heads, carried states, several orders of events.

#include "AttentionCheck.h"

using namespace sprt;
using namespace sprt::test;

namespace {

using Full = cuda::ForwardConfig<BFloat16, 128, 128, 176, 2, 2>;
using Masked = cuda::ForwardConfig<BFloat16, 128, 128, 128, 2, 2>;
using Small = cuda::ForwardConfig<Half, 64, 64, 128, 3, 2>;
using Wide = cuda::ForwardConfig<BFloat16, 256, 256, 80, 2, 2>;
using Latent = cuda::ForwardConfig<BFloat16, 192, 128, 96, 2, 2>;
using Odd = cuda::ForwardConfig<Half, 96, 96, 128, 2, 2>;
using Summed = cuda::ForwardConfig<BFloat16, 128, 128, 128, 2, 2, cuda::NoScore,
                                   cuda::StateForm::Sums>;

TEST(AttentionForward, ragged_lengths) {
  Shape shape = {1, 200, 391, 2, 2};
  for (uint64_t seed = 1; seed <= 3; ++seed)
    check<Full>(shape, {{full(shape)}}, seed);
}

TEST(AttentionForward, causal) {
  Shape shape = {1, 300, 300, 1, 1};
  for (uint64_t seed = 1; seed <= 3; ++seed)
    check<Masked>(shape, {{banded(shape, kNone, 0)}}, seed);
}

TEST(AttentionForward, carries_a_state) {
  Shape shape = {1, 130, 200, 2, 1};
  std::vector<std::vector<Slice>> steps = {
      {banded(shape, kNone, -70)}, {full(shape)}, {}, {banded(shape, -30, 40)}};
  check<Masked>(shape, steps, 5);
  check<Summed>(shape, steps, 5);
}

TEST(AttentionForward, fetches_the_state_of_each_row_once) {
  Shape shape = {1, 130, 200, 2, 1};
  AttentionCheck<Masked> check(shape, {{full(shape)}, {full(shape)}}, 5, 0.1);
  check.run(2);
  EXPECT_EQ(check.prefetched(), 2 * 130 * (1 + Masked::kShape.valueSize / 32));
}

TEST(AttentionForward, leaves_rows_without_keys) {
  Shape shape = {1, 140, 140, 2, 1};
  check<Masked>(shape, {{banded(shape, kNone, -100)}}, 1);
  check<Summed>(shape, {{banded(shape, kNone, -100)}, {}}, 1);
  for (uint64_t seed = 1; seed <= 3; ++seed)
    check<Masked>(shape, {{}}, seed, 0.1, /*blocks=*/1);
}

TEST(AttentionForward, several_slices_and_strides) {
  Shape shape = {2, 170, 256, 2, 1};
  check<Masked>(shape,
                {{{0, 60, 0, 100, kNone, 3, 1, 1, 0},
                  {0, 60, 130, 256, kNone, kAll, 1, 1, 0},
                  {60, 170, 7, 256, -200, 5, 2, 3, 0},
                  {10, 50, 100, 120, kNone, kAll, 1, 1, 1}}},
                2);
}

TEST(AttentionForward, sizes_of_heads) {
  Shape shape = {1, 70, 150, 1, 1};
  check<Small>(shape, {{banded(shape, -40, 60)}, {full(shape)}}, 1);
  check<Wide>(shape, {{banded(shape, kNone, 60)}}, 1, 0.05);
  check<Latent>(shape, {{banded(shape, kNone, 60)}}, 1, 0.07);
  check<Odd>(shape, {{banded(shape, kNone, 60)}}, 1);
}

/// Bit for bit, padding that is NaN as well.
template <class T>
bool isSame(const std::vector<T> &x, const std::vector<T> &y) {
  return x.size() == y.size() &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <class Config>
void checkOrders(const Shape &shape, std::initializer_list<Work> others) {
  int half = shape.queries / 2;
  std::vector<std::vector<Slice>> steps = {
      {banded(shape, kNone, 0)},
      {{0, half, 0, shape.keys, -90, 40, 1, 1, 0},
       {half, shape.queries, 0, shape.keys, kNone, 40, 1, 1, 0}}};
  AttentionCheck<Config> down(shape, steps, 4, 0.1);
  ASSERT_NO_THROW(down.run(3));
  down.expectRight();
  for (const Work &work : others) {
    AttentionCheck<Config> other(shape, steps, 4, 0.1);
    ASSERT_NO_THROW(other.run(3, work));
    EXPECT_TRUE(isSame(other.result(), down.result()));
    EXPECT_TRUE(isSame(other.exponents(), down.exponents()));
  }
}

TEST(AttentionForward, any_order_of_blocks_gives_the_same_bits) {
  Work ascending = {true}, ranges = {false, true}, counted = {true, true, true},
       grouped = {false, true, false, 2};
  checkOrders<Masked>({1, 300, 300, 3, 1}, {ascending, counted, grouped});
  checkOrders<Small>({2, 400, 200, 1, 1}, {ranges});
}

/// A kernel that leaves results rounds what the other one leaves, bit by bit,
/// and leaves the same logarithms.
template <class Mean, class Result> void checkResults(const Shape &shape) {
  std::vector<Slice> slices = {banded(shape, kNone, -20)};
  AttentionCheck<Mean> means(shape, {slices}, 3, 0.1);
  AttentionCheck<Result> results(shape, {slices}, 3, 0.1);
  ASSERT_NO_THROW(means.run(2));
  ASSERT_NO_THROW(results.run(2));
  EXPECT_TRUE(isSame(results.exponents(), means.exponents()));
  using Out = typename Result::Out;
  for (size_t i = 0; i < means.result().size(); ++i) {
    Out rounded = static_cast<Out>(means.result()[i]);
    ASSERT_TRUE(std::isnan(means.result()[i]) ||
                !std::memcmp(&rounded, &results.result()[i], sizeof rounded))
        << "element " << i;
  }
}

TEST(AttentionForward, results_are_rounded_means) {
  constexpr auto kResult = cuda::StateForm::Result;
  checkResults<Full, cuda::ForwardConfig<BFloat16, 128, 128, 176, 2, 2,
                                         cuda::NoScore, kResult>>(
      {1, 200, 391, 2, 1});
  checkResults<Small, cuda::ForwardConfig<Half, 64, 64, 128, 3, 2,
                                          cuda::NoScore, kResult>>(
      {2, 210, 150, 1, 1});
  checkResults<
      cuda::PlainConfig<BFloat16, float, 20, 12>,
      cuda::PlainConfig<BFloat16, float, 20, 12, cuda::NoScore, kResult>>(
      {1, 40, 70, 2, 1});
}

/// Exponents from 2^31 on (f16: 2^28) lose more than powers hold: a row is
/// right or no number, but never another one.
/// One power is left of a row, rounded to an element: half a unit of its last
/// place for values up to 4 is so many `bounds`.
template <class Config> void checkLargeScores(double bounds) {
  Shape shape = {1, 150, 300, 1, 1};
  for (double scale : {1e3, 1e6, 1e7, 1e9, 1e10, 1e12, 1e20, 1e30, -1e12}) {
    SCOPED_TRACE("scale " + std::to_string(scale));
    AttentionCheck<Config> check(shape, {{banded(shape, kNone, 20)}}, 5, scale);
    check.roundInputs();
    ASSERT_NO_THROW(check.run(2));
    check.expectRight(bounds, std::abs(scale) > 1e6);
  }
}

TEST(AttentionForward, large_scores_are_right_or_no_numbers) {
  checkLargeScores<Small>(8);
  checkLargeScores<cuda::ForwardConfig<BFloat16, 64, 64, 128, 3, 2>>(4);
}

TEST(AttentionForward, ends_whatever_sums_it_takes_up) {
  using Kept = cuda::ForwardConfig<BFloat16, 64, 64, 128, 3, 2, cuda::NoScore,
                                   cuda::StateForm::Sums>;
  Shape shape = {1, 100, 300, 1, 1};
  AttentionCheck<Kept> check(shape, {{full(shape)}}, 1, 0.1);
  check.spoilState();
  Work carried;
  carried.isCarried = true;
  ASSERT_NO_THROW(check.run(1, carried));
}

using Single = cuda::PlainConfig<float, float, 40, 24>;
using Double = cuda::PlainConfig<double, double, 32, 32>;
using Uneven = cuda::PlainConfig<BFloat16, float, 20, 12>;
using Sums = cuda::PlainConfig<float, float, 40, 24, cuda::NoScore,
                               cuda::StateForm::Sums>;

TEST(AttentionPlain, every_type) {
  Shape shape = {2, 35, 50, 2, 1};
  std::vector<std::vector<Slice>> steps = {
      {banded(shape, kNone, -7)},
      {},
      {{0, 20, 0, 30, kNone, 3, 1, 1, 0}, {20, 35, 7, 50, -90, 5, 2, 3, 0}},
      {{5, 9, 11, 50, kNone, kAll, 1, 1, 1}}};
  check<Single>(shape, steps, 1);
  check<Double>(shape, steps, 2);
  check<Uneven>(shape, steps, 3);
  check<Sums>(shape, steps, 4);
}

TEST(AttentionPlain, any_order_of_blocks_gives_the_same_bits) {
  checkOrders<Single>({1, 60, 50, 2, 1}, {{true, true}});
}

TEST(AttentionPlain, any_scale) {
  Shape shape = {1, 17, 33, 1, 1};
  for (double scale : {-0.5, 0.0, 3.0})
    check<Single>(shape, {{full(shape)}}, 1, scale);
}

} // namespace
