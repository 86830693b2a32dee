// Kernels with score functions against a dense double-precision reference: what
// depends on queries, keys and heads, and bands beside it.
#include "AttentionScore.h"
#include <cstdlib>

using namespace attention_test;

//===----------------------------------------------------------------------===//
// Of nothing but the score and positions
//===----------------------------------------------------------------------===//

TEST_P(AttentionScore, SoftCap) {
  Problem p = problem("", R"(
    %cap = stablehlo.constant dense<2.0> : $T
    %part = stablehlo.divide %s, %cap : $T
    %tanh = stablehlo.tanh %part : $T
    %e = stablehlo.multiply %tanh, %cap : $T
    return %e : $T)");
  p.magnitude = 5;
  p.score = [](double s, const Pair &) { return Scored{2 * std::tanh(s / 2)}; };
  runBoth(p);
}

TEST_P(AttentionScore, NegativeScale) {
  Problem p = problem("", R"(
    %e = stablehlo.multiply %s, %s : $T
    return %e : $T)");
  p.scale = -p.scale;
  p.score = [](double s, const Pair &) { return Scored{s * s}; };
  run(p);
  p = problem("", "return %s : $T");
  p.scale = -p.scale;
  p.score = [](double s, const Pair &) { return Scored{s}; };
  run(p);
}

TEST_P(AttentionScore, HeadsAndPositions) {
  Problem p = problem("", R"(
    %distance = stablehlo.subtract %query, %key : tensor<i32>
    %ahead = stablehlo.multiply %distance, %head : tensor<i32>
    %d = stablehlo.convert %ahead : (tensor<i32>) -> $T
    %slope = stablehlo.constant dense<0.0078125> : $T
    %bias = stablehlo.multiply %d, %slope : $T
    %e = stablehlo.add %s, %bias : $T
    return %e : $T)");
  // Striped rows of both.
  for (int32_t &position : p.queryPositions)
    position = 2 * position + 1;
  for (int32_t &position : p.keyPositions)
    position = 3 * position;
  p.score = [](double s, const Pair &at) {
    return Scored{s + 0.0078125 * static_cast<double>(
                                      (at.queryPosition - at.keyPosition) *
                                      at.globalHead)};
  };
  run(p);
}

//===----------------------------------------------------------------------===//
// What is said of queries, keys and heads
//===----------------------------------------------------------------------===//

TEST_P(AttentionScore, SegmentsOfQueriesAndKeys) {
  Problem p = problem(", %a: tensor<i32>, %b: tensor<i32>", R"(
    %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %none = stablehlo.constant dense<$NONE> : $T
    %e = stablehlo.select %same, %s, %none : tensor<i1>, $T
    return %e : $T)");
  p.kernel.perQuery = p.kernel.perKey = 1;
  p.terms = {random(TermElement::i32, {kQueries, 0, 1, 0}, 2 * kQueries),
             random(TermElement::i32, {kKeys, 0, 0, 1}, 2 * kKeys)};
  // Some queries see no key, in one call or in both.
  for (int64_t row : {3, 64, 132})
    p.terms[0].values[row] = 77;
  for (int64_t row = 90; row < kKeys; ++row)
    p.terms[1].values[kKeys + row] = 1;
  p.score = [&](double s, const Pair &at) {
    bool isSame = p.terms[0].at(at.batch, 0, at.query, 0) ==
                  p.terms[1].at(at.batch, 0, 0, at.key);
    return Scored{isSame ? s : -kInfinity};
  };
  runBoth(p);
}

TEST_P(AttentionScore, NarrowValuesOfQueriesAndKeys) {
  Problem p = problem(
      ", %a: tensor<bf16>, %b: tensor<i1>, %c: tensor<f16>, %d: tensor<i1>",
      R"(
    %x = stablehlo.convert %a : (tensor<bf16>) -> $T
    %y = stablehlo.convert %c : (tensor<f16>) -> $T
    %z = stablehlo.multiply %x, %y : $T
    %both = stablehlo.xor %b, %d : tensor<i1>
    %scaled = stablehlo.add %s, %z : $T
    %e = stablehlo.select %both, %scaled, %s : tensor<i1>, $T
    return %e : $T)");
  p.kernel.perQuery = p.kernel.perKey = 2;
  p.terms = {random(TermElement::bf16, {0, 0, 3, 0}, 3 * kQueries),
             random(TermElement::i1, {kQueries, 0, 1, 0}, 2 * kQueries),
             random(TermElement::f16, {2 * kKeys, 0, 0, 2}, 4 * kKeys),
             random(TermElement::i1, {0, 0, 0, 1}, kKeys)};
  p.score = [&](double s, const Pair &at) {
    double both = p.terms[0].at(at.batch, 0, at.query, 0) *
                  p.terms[2].at(at.batch, 0, 0, at.key);
    bool isAdded = p.terms[1].at(at.batch, 0, at.query, 0) !=
                   p.terms[3].at(at.batch, 0, 0, at.key);
    return Scored{isAdded ? s + both : s};
  };
  run(p);
}

TEST_P(AttentionScore, ValuesOfHeads) {
  Problem p = problem(", %a: $T, %b: tensor<i32>", R"(
    %n = stablehlo.convert %b : (tensor<i32>) -> $T
    %x = stablehlo.multiply %s, %a : $T
    %e = stablehlo.add %x, %n : $T
    return %e : $T)");
  p.kernel.perHead = 2;
  p.terms = {random(ownElement(), {0, 5, 0, 0}, 15),
             random(TermElement::i32, {3, 1, 0, 0}, 6)};
  p.score = [&](double s, const Pair &at) {
    return Scored{s * p.terms[0].at(at.batch, at.head, 0, 0) +
                  p.terms[1].at(at.batch, at.head, 0, 0)};
  };
  run(p);
}

//===----------------------------------------------------------------------===//
// Beside slices
//===----------------------------------------------------------------------===//

TEST_P(AttentionScore, UniformSlicesAskForNoFunction) {
  for (bool hasWeights : {false, true}) {
    SCOPED_TRACE(hasWeights);
    Problem p = problem("", R"(
      %one = stablehlo.constant dense<1.0> : $T
      %e = stablehlo.add %s, %one : $T
      return %e)" + std::string(hasWeights ? ", %e : $T, $T" : " : $T"),
                        hasWeights ? 2 : 1);
    p.calls = {{0,
                kKeys,
                {{0, 40, 0, kKeys, kNoLow, kNoHigh, 1, 1, 1},
                 {40, kQueries, 0, 100, kNoLow, 0, 1, 1, 0},
                 {50, 90, 100, kKeys, 3, kNoHigh, 1, 1, 1}},
                true}};
    p.score = [=](double s, const Pair &) {
      return Scored{s + 1, hasWeights ? s + 1 : 1};
    };
    runBoth(p);
  }
}

// What a band hides stays hidden, whatever the function makes of it.
TEST_P(AttentionScore, BandsComeFirst) {
  Problem p = problem("", R"(
    %e = stablehlo.constant dense<0.5> : $T
    return %e : $T)");
  p.score = [](double, const Pair &) { return Scored{0.5}; };
  runBoth(p);
}

// Rows of equal exponents are means, however far from zero.
TEST_P(AttentionScore, HugeExponentsThatAreEqual) {
  for (const char *fill : {"-1.0e9", "-1.0e30", "-3.0e38", "1.0e9"}) {
    SCOPED_TRACE(fill);
    Problem p = problem("", "%e = stablehlo.constant dense<" +
                                std::string(fill) + "> : $T\nreturn %e : $T");
    p.calls = {{0, kKeys, {band(kQueries, kKeys, kNoLow, 17)}, true}};
    double exponent = std::atof(fill);
    p.score = [=](double, const Pair &) { return Scored{exponent}; };
    run(p);
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, AttentionScore,
                         testing::ValuesIn(kScoreConfigs),
                         nameOfConfig<KernelConfig>);
