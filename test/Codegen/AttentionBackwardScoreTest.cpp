// Kernels for gradients of attention with score functions against a dense
// double-precision reference: what depends on queries, keys and heads.
#include "AttentionBackwardScore.h"

using namespace attention_test;

//===----------------------------------------------------------------------===//
// Of nothing but the score and positions
//===----------------------------------------------------------------------===//

static const char *const kSoftCap = R"(
    %cap = stablehlo.constant dense<2.0> : $T
    %one = stablehlo.constant dense<1.0> : $T
    %part = stablehlo.divide %s, %cap : $T
    %tanh = stablehlo.tanh %part : $T
    %e = stablehlo.multiply %tanh, %cap : $T
    %square = stablehlo.multiply %tanh, %tanh : $T
    %slope = stablehlo.subtract %one, %square : $T
    return %e, %slope : $T, $T)";

static Scored softCap(double s, const Pair &) {
  double tanh = std::tanh(s / 2);
  return {2 * tanh, 1, 1 - tanh * tanh};
}

TEST_P(AttentionBackwardScore, SoftCap) {
  BackwardProblem p = problem("", kSoftCap);
  p.scale *= 3;
  p.score = softCap;
  run(p);
  for (sprt_slice slice :
       {band(kQueries, kKeys), band(kQueries, kKeys, kNoLow, 0)}) {
    p.slices = {slice};
    p.initQueries = p.initKeys = true;
    run(p);
  }
}

TEST_P(AttentionBackwardScore, NegativeScale) {
  BackwardProblem p = problem("", R"(
    %e = stablehlo.multiply %s, %s : $T
    %slope = stablehlo.add %s, %s : $T
    return %e, %slope : $T, $T)");
  p.scale = -p.scale;
  p.score = [](double s, const Pair &) { return Scored{s * s, 1, 2 * s}; };
  run(p);
}

TEST_P(AttentionBackwardScore, HeadsAndPositions) {
  BackwardProblem p = problem("", R"(
    %distance = stablehlo.subtract %query, %key : tensor<i32>
    %ahead = stablehlo.multiply %distance, %head : tensor<i32>
    %d = stablehlo.convert %ahead : (tensor<i32>) -> $T
    %slope = stablehlo.constant dense<0.0078125> : $T
    %bias = stablehlo.multiply %d, %slope : $T
    %e = stablehlo.add %s, %bias : $T
    %one = stablehlo.constant dense<1.0> : $T
    return %e, %one : $T, $T)");
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

// Padding, whose elements and terms may be anything: a NaN or infinity in its
// keys is in the gradients of queries, as 0 * NaN, and nowhere else.
TEST_P(AttentionBackwardScore, PaddingOfKeys) {
  for (double bad : {0.0, kNaN, kInfinity}) {
    SCOPED_TRACE(bad);
    BackwardProblem p = problem(", %m: tensor<i1>, %x: $T", R"(
    %none = stablehlo.constant dense<$NONE> : $T
    %scaled = stablehlo.multiply %s, %x : $T
    %e = stablehlo.select %m, %scaled, %none : tensor<i1>, $T
    %zero = stablehlo.constant dense<0.0> : $T
    %slope = stablehlo.select %m, %x, %zero : tensor<i1>, $T
    return %e, %slope : $T, $T)");
    p.kernel.perKey = 2;
    p.terms = {random(TermElement::i1, {kKeys, 0, 0, 1}, 2 * kKeys),
               random(ownElement(), {kKeys, 0, 0, 1}, 2 * kKeys)};
    for (size_t i = 0; i < p.terms[0].values.size(); ++i)
      if (p.terms[0].values[i] == 0)
        p.terms[1].values[i] = bad;
    p.score = [&](double s, const Pair &at) {
      double factor = p.terms[1].at(at.batch, 0, 0, at.key);
      bool isKept = p.terms[0].at(at.batch, 0, 0, at.key) != 0;
      return Scored{isKept ? s * factor : -kInfinity, 1, isKept ? factor : 0};
    };
    BackwardRun run(p);
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t key = 0; key < kKeys; ++key)
        if (p.terms[0].at(batch, 0, 0, key) == 0)
          for (Array *array : {&run.k, &run.v})
            array->set(array->index(batch, key, 1), bad);
    run.check(tolerance());
  }
}

TEST_P(AttentionBackwardScore, SegmentsAndQueriesThatSawNothing) {
  BackwardProblem p = problem(", %a: tensor<i32>, %b: tensor<i32>", R"(
    %same = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %none = stablehlo.constant dense<$NONE> : $T
    %one = stablehlo.constant dense<1.0> : $T
    %zero = stablehlo.constant dense<0.0> : $T
    %e = stablehlo.select %same, %s, %none : tensor<i1>, $T
    %slope = stablehlo.select %same, %one, %zero : tensor<i1>, $T
    return %e, %slope : $T, $T)");
  p.kernel.perQuery = p.kernel.perKey = 1;
  p.terms = {random(TermElement::i32, {kQueries, 0, 1, 0}, 2 * kQueries),
             random(TermElement::i32, {kKeys, 0, 0, 1}, 2 * kKeys)};
  for (int64_t row : {3, 64, 132})
    p.terms[0].values[row] = 77;
  for (int64_t row = 32; row < 64; ++row)
    p.terms[0].values[kQueries + row] = 77;
  p.score = [&](double s, const Pair &at) {
    bool isSame = p.terms[0].at(at.batch, 0, at.query, 0) ==
                  p.terms[1].at(at.batch, 0, 0, at.key);
    return Scored{isSame ? s : -kInfinity, 1, isSame ? 1.0 : 0.0};
  };
  BackwardRun run(p);
  ASSERT_EQ(run.lse.get(run.lse.index(0, 64, 1)), -kInfinity);
  run.q.set(run.q.index(0, 3, 0), kNaN);
  run.dO.set(run.dO.index(1, 40, 1), kInfinity);
  run.delta.set(run.delta.index(0, 64, 2), kNaN);
  run.check(tolerance());
}

TEST_P(AttentionBackwardScore, ValuesOfHeads) {
  BackwardProblem p = problem(", %a: $T, %b: tensor<i32>", R"(
    %n = stablehlo.convert %b : (tensor<i32>) -> $T
    %x = stablehlo.multiply %s, %a : $T
    %e = stablehlo.add %x, %n : $T
    return %e, %a : $T, $T)");
  p.kernel.perHead = 2;
  p.terms = {random(ownElement(), {0, 5, 0, 0}, 15),
             random(TermElement::i32, {3, 1, 0, 0}, 6)};
  p.score = [&](double s, const Pair &at) {
    double factor = p.terms[0].at(at.batch, at.head, 0, 0);
    return Scored{s * factor + p.terms[1].at(at.batch, at.head, 0, 0), 1,
                  factor};
  };
  run(p);
}

//===----------------------------------------------------------------------===//
// Exponents far from scores
//===----------------------------------------------------------------------===//

// What a band hides stays hidden, and scores that do not count get nothing.
TEST_P(AttentionBackwardScore, ExponentsThatAreEqual) {
  for (const char *fill : {"0.5", "-3.0e38", "1.0e9"}) {
    SCOPED_TRACE(fill);
    BackwardProblem p =
        problem("", "%e = stablehlo.constant dense<" + std::string(fill) +
                        "> : $T\n%zero = stablehlo.constant dense<0.0> : $T\n"
                        "return %e, %zero : $T, $T");
    double exponent = std::atof(fill);
    if (!isDouble())
      exponent = static_cast<float>(exponent);
    p.score = [=](double, const Pair &) { return Scored{exponent, 1, 0}; };
    run(p);
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, AttentionBackwardScore,
                         testing::ValuesIn(kBackwardConfigs),
                         nameOfConfig<BackwardConfig>);
