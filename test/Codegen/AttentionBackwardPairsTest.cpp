// Gradients with score functions that read values of pairs and tables, or yield
// weights, against a dense double-precision reference.
#include "AttentionBackwardScore.h"
#include <algorithm>

using namespace attention_test;

class AttentionBackwardPairs : public AttentionBackwardScore {};
/// The one case that takes no long time.
class AttentionBackwardMixed : public AttentionBackwardScore {};

// The exponent is s + |a|, whose slope is 1.
TEST_P(AttentionBackwardPairs, BiasOfPairs) {
  for (auto [element, name] : {std::pair(TermElement::f64, "f64"),
                               {TermElement::f32, "f32"},
                               {TermElement::bf16, "bf16"},
                               {TermElement::f16, "f16"},
                               {TermElement::i32, "i32"},
                               {TermElement::i1, "i1"}}) {
    std::string type = std::string("tensor<") + name + ">";
    std::string wide = element == ownElement()
                           ? "%x = stablehlo.abs %a : $T\n"
                           : "%y = stablehlo.convert %a : (" + type +
                                 ") -> $T\n%x = stablehlo.abs %y : $T\n";
    BackwardProblem p = problem(
        ", %a: " + type, wide + "%e = stablehlo.add %s, %x : $T\n"
                                "%one = stablehlo.constant dense<1.0> : $T\n"
                                "return %e, %one : $T, $T");
    p.kernel.pair = 1;
    std::vector<std::array<int64_t, 4>> layouts = layoutsOfPairs();
    if (element != ownElement())
      layouts.resize(2);
    for (const std::array<int64_t, 4> &strides : layouts) {
      SCOPED_TRACE(testing::Message()
                   << name << " by " << strides[2] << " and " << strides[3]);
      p.terms = {random(element, strides, extentOf(strides))};
      p.score = [&](double s, const Pair &at) {
        return Scored{s + std::fabs(p.terms[0].at(at.batch, at.head, at.query,
                                                  at.keyPosition))};
      };
      run(p);
    }
  }
}

TEST_P(AttentionBackwardPairs, PairsOfStripedKeys) {
  BackwardProblem p = problem(", %a: tensor<f16>, %b: tensor<i1>", R"(
    %x = stablehlo.convert %a : (tensor<f16>) -> $T
    %product = stablehlo.multiply %s, %x : $T
    %one = stablehlo.constant dense<1.0> : $T
    %e = stablehlo.select %b, %product, %s : tensor<i1>, $T
    %slope = stablehlo.select %b, %x, %one : tensor<i1>, $T
    return %e, %slope : $T, $T)");
  p.kernel.pair = 2;
  int64_t columns = 4 * kKeys;
  for (int32_t &position : p.keyPositions)
    position = 4 * position + 2;
  p.terms = {random(TermElement::f16, {0, kQueries * columns, columns, 1},
                    3 * kQueries * columns),
             random(TermElement::i1, {0, 0, columns, 1}, kQueries * columns)};
  p.score = [&](double s, const Pair &at) {
    double factor = p.terms[0].at(0, at.head, at.query, at.keyPosition);
    if (p.terms[1].at(0, 0, at.query, at.keyPosition) == 0)
      factor = 1;
    return Scored{s * factor, 1, factor};
  };
  run(p);
}

TEST_P(AttentionBackwardPairs, RowsOfATable) {
  BackwardProblem p = problem(", %t: tensor<9x6x$E>", R"(
    %low = stablehlo.constant dense<-4> : tensor<i32>
    %high = stablehlo.constant dense<4> : tensor<i32>
    %d = stablehlo.subtract %query, %key : tensor<i32>
    %bounded = stablehlo.clamp %low, %d, %high : tensor<i32>
    %row = stablehlo.add %bounded, %high : tensor<i32>
    %slice = stablehlo.dynamic_slice %t, %row, %head, sizes = [1, 1] : (tensor<9x6x$E>, tensor<i32>, tensor<i32>) -> tensor<1x1x$E>
    %x = stablehlo.reshape %slice : (tensor<1x1x$E>) -> $T
    %e = stablehlo.multiply %s, %x : $T
    return %e, %x : $T, $T)");
  p.terms = {random(ownElement(), {0, 0, 0, 0}, 54)};
  p.score = [&](double s, const Pair &at) {
    int64_t row =
        std::clamp<int64_t>(at.queryPosition - at.keyPosition, -4, 4) + 4;
    double factor = p.terms[0].values[row * 6 + at.globalHead];
    return Scored{s * factor, 1, factor};
  };
  run(p);
}

TEST_P(AttentionBackwardPairs, WeightsOfHeads) {
  BackwardProblem p = problem(", %w: $T", R"(
    %one = stablehlo.constant dense<1.0> : $T
    return %s, %one, %w : $T, $T, $T)",
                              3);
  p.kernel.perHead = 1;
  p.terms = {random(ownElement(), {3, 1, 0, 0}, 6)};
  p.terms[0].values[1] = 0;
  p.score = [&](double s, const Pair &at) {
    return Scored{s, p.terms[0].at(at.batch, at.head, 0, 0)};
  };
  run(p);
}

// Dropout, and pairs that a mask hides, whose weights may be anything.
TEST_P(AttentionBackwardPairs, WeightsOfPairs) {
  for (double bad : {0.0, kNaN, kInfinity}) {
    SCOPED_TRACE(bad);
    BackwardProblem p = problem(", %m: tensor<i1>, %w: $T", R"(
      %none = stablehlo.constant dense<$NONE> : $T
      %one = stablehlo.constant dense<1.0> : $T
      %e = stablehlo.select %m, %s, %none : tensor<i1>, $T
      return %e, %one, %w : $T, $T, $T)",
                                3);
    p.kernel.pair = 2;
    std::array<int64_t, 4> strides = {kQueries * kKeys, 0, kKeys, 1};
    p.terms = {random(TermElement::i1, strides, 2 * kQueries * kKeys),
               random(ownElement(), strides, 2 * kQueries * kKeys)};
    for (size_t i = 0; i < p.terms[1].values.size(); ++i)
      p.terms[1].values[i] = p.terms[0].values[i] == 0 ? bad
                             : i % 5 == 0              ? 0.0
                                                       : 1.25;
    p.score = [&](double s, const Pair &at) {
      bool isKept = p.terms[0].at(at.batch, 0, at.query, at.key) != 0;
      return Scored{isKept ? s : -kInfinity,
                    p.terms[1].at(at.batch, 0, at.query, at.key)};
    };
    run(p);
  }
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// A soft cap of a head's with a bias, segments, and dropout.
static BackwardProblem mix(BackwardProblem p, int64_t queries, int64_t keys) {
  p.resize(queries, keys);
  p.kernel.perQuery = p.kernel.perKey = p.kernel.perHead = 1;
  p.kernel.pair = 2;
  p.terms = {
      random(TermElement::i32, {queries, 0, 1, 0}, 2 * queries),
      random(TermElement::i32, {keys, 0, 0, 1}, 2 * keys),
      random(TermElement::f32, {0, 1, 0, 0}, 3),
      random(TermElement::bf16, {0, 0, keys, 1}, queries * keys),
      random(TermElement::i1, {queries * keys, 0, keys, 1}, 2 * queries * keys),
  };
  return p;
}

static const char *const kMixedTerms =
    ", %a: tensor<i32>, %b: tensor<i32>, %f: tensor<f32>, %x: tensor<bf16>, "
    "%d: tensor<i1>";
static const char *const kMixed = R"(
    %factor = stablehlo.convert %f : (tensor<f32>) -> $T
    %bias = stablehlo.convert %x : (tensor<bf16>) -> $T
    %none = stablehlo.constant dense<$NONE> : $T
    %zero = stablehlo.constant dense<0.0> : $T
    %one = stablehlo.constant dense<1.0> : $T
    %more = stablehlo.constant dense<1.5> : $T
    %tanh = stablehlo.tanh %s : $T
    %capped = stablehlo.multiply %tanh, %factor : $T
    %sum = stablehlo.add %capped, %bias : $T
    %least = stablehlo.compare NE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.select %least, %sum, %none : tensor<i1>, $T
    %square = stablehlo.multiply %tanh, %tanh : $T
    %rest = stablehlo.subtract %one, %square : $T
    %slope = stablehlo.multiply %rest, %factor : $T
    %w = stablehlo.select %d, %more, %zero : tensor<i1>, $T
    return %e, %slope, %w : $T, $T, $T)";

static void scoreMixed(BackwardProblem &p) {
  p.score = [&p](double s, const Pair &at) {
    const std::vector<TermArray> &t = p.terms;
    double factor = t[2].at(0, at.head, 0, 0), tanh = std::tanh(s);
    bool isKept =
        t[0].at(at.batch, 0, at.query, 0) != t[1].at(at.batch, 0, 0, at.key);
    double exponent = factor * tanh + t[3].at(0, 0, at.query, at.key);
    return Scored{isKept ? exponent : -kInfinity,
                  t[4].at(at.batch, 0, at.query, at.key) != 0 ? 1.5 : 0,
                  factor * (1 - tanh * tanh)};
  };
}

TEST_P(AttentionBackwardMixed, OnSlices) {
  BackwardProblem p = mix(problem(kMixedTerms, kMixed, 3), kQueries, kKeys);
  scoreMixed(p);
  run(p);
}

TEST_P(AttentionBackwardPairs, CausalOverManyBlocks) {
  BackwardProblem p = mix(problem(kMixedTerms, kMixed, 3), 700, 700);
  scoreMixed(p);
  p.slices = {band(700, 700, kNoLow, 0)};
  p.initQueries = p.initKeys = true;
  run(p);
}

INSTANTIATE_TEST_SUITE_P(Configs, AttentionBackwardPairs,
                         testing::ValuesIn(kBackwardConfigs),
                         nameOfConfig<BackwardConfig>);
INSTANTIATE_TEST_SUITE_P(
    Configs, AttentionBackwardMixed,
    testing::Values(BackwardConfig{Element::f32, 20, 20, 512},
                    BackwardConfig{Element::f64, 16, 12, 256},
                    BackwardConfig{Element::bf16, 20, 40, 512, true}),
    nameOfConfig<BackwardConfig>);
