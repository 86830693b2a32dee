/// What tests of kernels with score functions share.
#ifndef SP_TEST_CODEGEN_ATTENTIONSCORE_H
#define SP_TEST_CODEGEN_ATTENTIONSCORE_H

#include "AttentionHarness.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <random>

namespace attention_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kQueries = 133, kKeys = 171;

/// A function of the score and `terms`. `$T` stands for the type scores have,
/// `$E` for its element, `$NONE` for an exponent that hides.
inline std::string scoreFunction(Element element, const std::string &terms,
                                 const std::string &body, int results) {
  bool isDouble = element == Element::f64;
  std::string text = "func.func private @score_0(%s: $T, %head: tensor<i32>, "
                     "%query: tensor<i32>, %key: tensor<i32>" +
                     terms + ") -> ($T";
  for (int i = 1; i < results; ++i)
    text += ", $T";
  text += ") {\n" + body + "\n}";
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  replace("$T", "tensor<$E>");
  replace("$E", isDouble ? "f64" : "f32");
  replace("$NONE", isDouble ? "0xFFF0000000000000" : "0xFF800000");
  return text;
}

/// Eighths from -2 to 2, which every type holds, or small integers.
inline TermArray random(TermElement element,
                        const std::array<int64_t, 4> &strides, int64_t size) {
  TermArray term;
  term.element = element;
  std::copy(strides.begin(), strides.end(), term.strides);
  std::mt19937 generator(7);
  for (int64_t i = 0; i < size; ++i) {
    double draw = static_cast<double>(generator() % 33);
    term.values.push_back(element == TermElement::i1    ? draw > 10
                          : element == TermElement::i32 ? std::fmod(draw, 3)
                                                        : draw / 8 - 2);
  }
  return term;
}

/// Strides {batch, head, query, key} of what holds elements of all pairs, or is
/// shared by some.
inline std::vector<std::array<int64_t, 4>> layoutsOfPairs() {
  int64_t row = kKeys + 4, column = kQueries + 2;
  return {
      {3 * kQueries * row + 1, kQueries * row, row, 1}, // rows, between gaps
      {0, kKeys * column, 1, column},                   // columns
      {0, 0, row, 1},                                   // for all heads
      {3 * kKeys, kKeys, 0, 1},                         // for all queries
      {3 * kQueries, kQueries, 1, 0},                   // for all keys
      {0, 2 * kQueries * row, 2 * row, 2},              // every other element
  };
}

/// Elements from the first to the last that a term with these strides has.
inline int64_t extentOf(const std::array<int64_t, 4> &strides) {
  return 1 + strides[0] + 2 * strides[1] + strides[2] * (kQueries - 1) +
         strides[3] * (kKeys - 1);
}

/// For configurations of either kernel.
template <typename Config>
class ScoreTest : public testing::TestWithParam<Config> {
protected:
  void SetUp() override {
    if (!canRun(this->GetParam().vectorBits, this->GetParam().bf16Dots))
      GTEST_SKIP() << "this machine has no such vectors";
  }
  bool isDouble() const { return this->GetParam().element == Element::f64; }
  TermElement ownElement() const {
    return isDouble() ? TermElement::f64 : TermElement::f32;
  }
  /// Some heads of several, two batches, and sizes that no block divides.
  /// Positions are row numbers.
  template <typename Problem>
  Problem problemOf(const std::string &terms, const std::string &body,
                    int results) const {
    Problem p;
    p.kernel = this->GetParam();
    p.kernel.score = scoreFunction(p.kernel.element, terms, body, results);
    p.batch = 2;
    p.queries = kQueries;
    p.keys = kKeys;
    p.headsTotal = 6;
    p.headFirst = 2;
    p.heads = 3;
    p.kvTotal = 3;
    p.scale = 1 / std::sqrt(static_cast<double>(p.kernel.headSize));
    for (int32_t row = 0; row < kQueries; ++row)
      p.queryPositions.push_back(row);
    for (int32_t row = 0; row < kKeys; ++row)
      p.keyPositions.push_back(row);
    return p;
  }
};

class AttentionScore : public ScoreTest<KernelConfig> {
protected:
  /// With a state that the second call continues.
  Problem problem(const std::string &terms, const std::string &body,
                  int results = 1) const {
    auto p = problemOf<Problem>(terms, body, results);
    p.calls = {{0, 90, {band(kQueries, 90, kNoLow, 17)}, true},
               {90, 81, {band(kQueries, 81)}, false}};
    return p;
  }

  /// As sums, which the second call continues.
  void run(Problem p) {
    p.kernel.keepsSums = true;
    checkExactly(p);
  }
  /// And as a mean, of one call.
  void runBoth(Problem p) {
    run(p);
    SCOPED_TRACE("mean");
    p.calls = {joined(p)};
    checkExactly(p);
  }

private:
  void checkExactly(const Problem &p) {
    double exact = isDouble() ? 1e-12 : 1e-5;
    check(p, GetParam().bf16Dots ? 4e-3 : exact, exact);
  }
  static Call joined(const Problem &p) {
    Call all = {0, p.keys, {}, true};
    for (const Call &call : p.calls)
      for (sprt_slice slice : call.slices) {
        slice.k0 += call.keyFirst;
        slice.k1 += call.keyFirst;
        for (int64_t *bound : {&slice.lo, &slice.hi})
          if (*bound != kNoLow && *bound != kNoHigh)
            *bound += call.keyFirst;
        all.slices.push_back(slice);
      }
    return all;
  }
};

inline const KernelConfig kScoreConfigs[] = {
    {Element::f32, 20, 20, 512, 0, 0},
    {Element::f32, 16, 12, 256, 0, 0},
    {Element::f64, 20, 20, 512, 0, 0},
    {Element::f64, 8, 8, 256, 0, 0},
    {Element::bf16, 20, 20, 512, 0, 0},
    {Element::bf16, 20, 20, 512, 0, 0, true},
    {Element::f16, 8, 8, 256, 32, 40},
};

template <typename Config>
std::string nameOfConfig(const testing::TestParamInfo<Config> &info) {
  const char *types[] = {"f64", "f32", "bf16", "f16"};
  return std::string(types[static_cast<int>(info.param.element)]) + "_v" +
         std::to_string(info.param.vectorBits) +
         (info.param.bf16Dots ? "_dots" : "");
}

} // namespace attention_test

#endif // SP_TEST_CODEGEN_ATTENTIONSCORE_H
