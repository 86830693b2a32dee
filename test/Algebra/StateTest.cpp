#include "MaskGen.h"

#include "sprt/algebra/State.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

using namespace sprt::algebra;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Scores of n x m pairs and values of m keys.
struct Problem {
  int64_t n, m, size = 3;
  std::vector<double> scores, values;

  Problem(int64_t n, int64_t m, double range, uint32_t seed) : n(n), m(m) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> score(-range, range), value(-1, 1);
    for (int64_t i = 0; i < n * m; ++i)
      scores.push_back(score(random));
    for (int64_t i = 0; i < m * size; ++i)
      values.push_back(value(random));
  }
  double score(int64_t i, int64_t j) const { return scores[size_t(i * m + j)]; }
};

/// What owner `owner` of `queries` knows of the keys of `source`.
State<double> attended(const Problem &problem, const Bands &mask,
                       const Layout &queries, int64_t owner, const Layout &keys,
                       int64_t source) {
  State<double> state(queries.count(owner), problem.size);
  std::vector<double> v;
  for (int64_t b = 0; b < keys.count(source); ++b)
    for (int64_t i = 0; i < problem.size; ++i)
      v.push_back(
          problem.values[size_t(keys.toGlobal(source, b) * problem.size + i)]);
  state.attend(mask.restrict(queries, owner, keys, source),
               [&](int64_t a, int64_t b) {
                 return problem.score(queries.toGlobal(owner, a),
                                      keys.toGlobal(source, b));
               },
               {v.data(), problem.size});
  return state;
}

/// Largest difference from softmax written out in long double, of o and of lse
/// relative to its size; infinite if an empty row is not (0, -inf).
double errorOf(const Problem &problem, const Bands &mask, const Layout &queries,
               int64_t owner, const State<double> &state) {
  double error = 0;
  for (int64_t a = 0; a < queries.count(owner); ++a) {
    int64_t i = queries.toGlobal(owner, a);
    long double largest = -infinity, total = 0;
    std::vector<long double> o(size_t(problem.size), 0);
    for (int64_t j = 0; j < problem.m; ++j)
      if (mask.visible(i, j))
        largest = std::max<long double>(largest, problem.score(i, j));
    for (int64_t j = 0; j < problem.m; ++j)
      if (mask.visible(i, j)) {
        long double weight = std::exp(problem.score(i, j) - largest);
        total += weight;
        for (int64_t c = 0; c < problem.size; ++c)
          o[size_t(c)] += weight * problem.values[size_t(j * problem.size + c)];
      }
    if (total == 0) {
      if (state.lse(a) != -infinity ||
          std::any_of(state.o(a), state.o(a) + problem.size,
                      [](double value) { return value != 0; }))
        return infinity;
      continue;
    }
    long double lse = largest + std::log(total);
    error = std::max(error, double(std::abs(lse - state.lse(a)) /
                                   std::max<long double>(1, std::abs(lse))));
    for (int64_t c = 0; c < problem.size; ++c)
      error = std::max(error,
                       double(std::abs(o[size_t(c)] / total - state.o(a)[c])));
  }
  return error;
}

RC_GTEST_PROP(StateProperty, MergesInAnyOrderEqualDense, ()) {
  LayoutKind kind = *rc::gen::element(LayoutKind::contiguous,
                                      LayoutKind::zigzag, LayoutKind::striped);
  int64_t ring = *rc::gen::inRange<int64_t>(1, 9);
  Layout queries(kind, *rc::gen::inRange<int64_t>(1, 40), ring);
  Layout keys(kind, *rc::gen::inRange<int64_t>(1, 40), ring);
  Bands mask = drawMask(queries.length(), keys.length());
  double range = *rc::gen::element(1.0, 200.0);
  Problem problem(queries.length(), keys.length(), range,
                  *rc::gen::arbitrary<uint32_t>());
  RC_LOG(queries.str() + " " + keys.str() + " " + text(mask));
  int64_t owner = *rc::gen::inRange<int64_t>(0, ring);
  std::vector<State<double>> states;
  for (int64_t source = 0; source < ring; ++source)
    states.push_back(attended(problem, mask, queries, owner, keys, source));
  // Any tree of merges: two states at random become one.
  while (states.size() > 1) {
    std::swap(states.back(),
              states[*rc::gen::inRange<size_t>(0, states.size())]);
    State<double> last = std::move(states.back());
    states.pop_back();
    states[*rc::gen::inRange<size_t>(0, states.size())].merge(last);
  }
  RC_ASSERT(errorOf(problem, mask, queries, owner, states[0]) < 1e-12);
}

TEST(State, HugeScoresStayExact) {
  // An lse of 1e4 has an ulp of 2e-12, which bounds what a weight can know.
  Layout keys(LayoutKind::zigzag, 24, 3), queries = Layout::dense(24);
  Bands mask = Bands::causal(24, 24);
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Problem problem(24, 24, 1e4, seed);
    State<double> state(24, problem.size);
    for (int64_t source = 0; source < 3; ++source)
      state.merge(attended(problem, mask, queries, 0, keys, source));
    ASSERT_LT(errorOf(problem, mask, queries, 0, state), 1e-11) << seed;
  }
}

TEST(State, FloatSurvivesScoresAcrossBlocks) {
  // One block far above, one far below: naive merging overflows.
  for (float score : {200.0f, 1e4f}) {
    float v[] = {1, 2};
    State<float> up(1, 1), down(1, 1);
    std::vector<Slice> one{
        {0, 1, 0, 1, unboundedBelow, unboundedAbove, 1, 1, 0}};
    up.attend(one, [&](int64_t, int64_t) { return score; }, {v, 1});
    down.attend(one, [&](int64_t, int64_t) { return -score; }, {v + 1, 1});
    State<float> upFirst = up, downFirst = down;
    upFirst.merge(down);
    downFirst.merge(up);
    for (const State<float> *state : {&upFirst, &downFirst}) {
      EXPECT_EQ(state->lse(0), score);
      EXPECT_EQ(state->o(0)[0], 1.0f);
    }
  }
}

TEST(State, EmptyIsNeutralToTheBit) {
  Problem problem(5, 7, 10, 1);
  Layout queries = Layout::dense(5), keys = Layout::dense(7);
  State<double> state =
      attended(problem, Bands::full(5, 7), queries, 0, keys, 0);
  State<double> merged = state, empty(5, problem.size);
  merged.merge(State<double>(5, problem.size));
  empty.merge(state);
  for (int64_t row = 0; row < 5; ++row)
    for (const State<double> *other : {&merged, &empty}) {
      EXPECT_EQ(other->lse(row), state.lse(row));
      EXPECT_TRUE(std::equal(state.o(row), state.o(row) + 3, other->o(row)));
    }
  State<double> nothing(2, 3);
  nothing.merge(State<double>(2, 3));
  EXPECT_EQ(nothing.lse(0), -infinity);
  EXPECT_EQ(nothing.o(0)[0], 0);
}

TEST(State, EmptyRowsGiveWhatTheModelGives) {
  // Causal and shifted by two: rows 0 and 1 see nothing.
  Problem problem(4, 4, 1, 7);
  Layout dense = Layout::dense(4);
  Bands mask = Bands::causal(4, 4, -2);
  State<double> nan = attended(problem, mask, dense, 0, dense, 0), zero = nan;
  nan.finalize(EmptyRow::nan);
  zero.finalize(EmptyRow::zero);
  EXPECT_TRUE(std::isnan(nan.o(1)[2]));
  EXPECT_EQ(zero.o(1)[2], 0);
  EXPECT_EQ(nan.o(2)[0], zero.o(2)[0]);
  EXPECT_EQ(nan.lse(1), -infinity);
  State<double> mean =
      attended(problem, mask.withUniformRows(4, 4), dense, 0, dense, 0);
  const std::vector<double> &v = problem.values;
  EXPECT_NEAR(mean.o(1)[0], (v[0] + v[3] + v[6] + v[9]) / 4, 1e-15);
  EXPECT_EQ(mean.o(2)[0], zero.o(2)[0]);
}

TEST(State, EmptyRowsAreNotRead) {
  // Whatever o holds there, NaN after finalize for one.
  Problem problem(1, 2, 1, 3);
  Layout one = Layout::dense(1), two = Layout::dense(2);
  State<double> state = attended(problem, Bands::full(1, 2), one, 0, two, 0);
  State<double> merged = state, empty(1, problem.size);
  empty.finalize(EmptyRow::nan);
  merged.merge(empty);
  empty.merge(state);
  EXPECT_EQ(merged.o(0)[1], state.o(0)[1]);
  EXPECT_EQ(empty.o(0)[1], state.o(0)[1]);
}

TEST(State, HiddenScoresAreNotSeen) {
  // A score of -inf, even on a value that is not a number.
  double v[] = {3, std::nan("")};
  State<double> state(2, 1);
  state.attend(
      {{0, 2, 0, 2, unboundedBelow, unboundedAbove, 1, 1, 0}},
      [](int64_t a, int64_t b) { return a == 0 && b == 0 ? 2.0 : -infinity; },
      {v, 1});
  EXPECT_EQ(state.o(0)[0], 3);
  EXPECT_EQ(state.lse(0), 2);
  EXPECT_EQ(state.lse(1), -infinity);
}

TEST(State, NaNStaysInItsRow) {
  double v[] = {3, 4};
  auto score = [](int64_t a, int64_t) { return a == 0 ? std::nan("") : 1.0; };
  std::vector<Slice> all{{0, 2, 0, 2, unboundedBelow, unboundedAbove, 1, 1, 0}};
  State<double> sick(2, 1), sound(2, 1), empty(2, 1);
  sick.attend(all, score, {v, 1});
  sound.attend(all, [](int64_t, int64_t) { return 1.0; }, {v, 1});
  State<double> sickFirst = sick;
  sickFirst.merge(sound);
  sound.merge(sick);
  empty.merge(sick);
  for (const State<double> *state : {&sickFirst, &sound, &empty}) {
    EXPECT_TRUE(std::isnan(state->o(0)[0]));
    EXPECT_TRUE(std::isnan(state->lse(0)));
    EXPECT_DOUBLE_EQ(state->o(1)[0], 3.5);
  }
}

TEST(State, ScoresAreScaledDotProducts) {
  // Key rows are padded to three numbers.
  double q[] = {1, 2}, k[] = {3, 4, 99, -1, 0, 99, 5, 6, 99}, v[] = {1, 0, 10};
  State<double> state(1, 1);
  state.attend({{0, 1, 0, 3, unboundedBelow, unboundedAbove, 1, 1, 0}}, {q, 2},
               {k, 3}, {v, 1}, 2, 0.5);
  double e[] = {std::exp(5.5), std::exp(-0.5), std::exp(8.5)};
  EXPECT_NEAR(state.lse(0), std::log(e[0] + e[1] + e[2]), 1e-14);
  EXPECT_NEAR(state.o(0)[0], (e[0] + 10 * e[2]) / (e[0] + e[1] + e[2]), 1e-13);
}

} // namespace
