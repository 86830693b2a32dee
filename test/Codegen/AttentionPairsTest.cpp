// Kernels whose score functions read values of pairs and tables, or yield
// weights, against a dense double-precision reference.
#include "AttentionScore.h"
#include <algorithm>

using namespace attention_test;

class AttentionPairs : public AttentionScore {};

TEST_P(AttentionPairs, BiasOfPairs) {
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
    Problem p =
        problem(", %a: " + type, wide + "%e = stablehlo.add %s, %x : $T\n"
                                        "return %e : $T");
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

TEST_P(AttentionPairs, PairsOfStripedKeys) {
  Problem p = problem(", %a: tensor<f16>, %b: tensor<i1>", R"(
    %x = stablehlo.convert %a : (tensor<f16>) -> $T
    %sum = stablehlo.add %s, %x : $T
    %e = stablehlo.select %b, %sum, %s : tensor<i1>, $T
    return %e : $T)");
  p.kernel.pair = 2;
  int64_t columns = 4 * kKeys;
  for (int32_t &position : p.keyPositions)
    position = 4 * position + 2;
  p.terms = {random(TermElement::f16, {0, kQueries * columns, columns, 1},
                    3 * kQueries * columns),
             random(TermElement::i1, {0, 0, columns, 1}, kQueries * columns)};
  p.score = [&](double s, const Pair &at) {
    double bias = p.terms[0].at(0, at.head, at.query, at.keyPosition);
    bool isAdded = p.terms[1].at(0, 0, at.query, at.keyPosition) != 0;
    return Scored{isAdded ? s + bias : s};
  };
  run(p);
}

// As zigzag deals them: two runs of positions.
TEST_P(AttentionPairs, PairsOfTwoRunsOfKeys) {
  Problem p = problem(", %a: tensor<f16>", R"(
    %x = stablehlo.convert %a : (tensor<f16>) -> $T
    %e = stablehlo.add %s, %x : $T
    return %e : $T)");
  p.kernel.pair = 1;
  for (size_t row = 83; row < p.keyPositions.size(); ++row)
    p.keyPositions[row] += 200;
  int64_t columns = kKeys + 200;
  p.terms = {random(TermElement::f16, {0, 0, columns, 1}, kQueries * columns)};
  p.score = [&](double s, const Pair &at) {
    return Scored{s + p.terms[0].at(0, 0, at.query, at.keyPosition)};
  };
  run(p);
}

TEST_P(AttentionPairs, RowsOfATable) {
  Problem p = problem(", %t: tensor<9x6x$E>", R"(
    %low = stablehlo.constant dense<-4> : tensor<i32>
    %high = stablehlo.constant dense<4> : tensor<i32>
    %d = stablehlo.subtract %query, %key : tensor<i32>
    %bounded = stablehlo.clamp %low, %d, %high : tensor<i32>
    %row = stablehlo.add %bounded, %high : tensor<i32>
    %slice = stablehlo.dynamic_slice %t, %row, %head, sizes = [1, 1] : (tensor<9x6x$E>, tensor<i32>, tensor<i32>) -> tensor<1x1x$E>
    %x = stablehlo.reshape %slice : (tensor<1x1x$E>) -> $T
    %e = stablehlo.add %s, %x : $T
    return %e : $T)");
  p.terms = {random(ownElement(), {0, 0, 0, 0}, 54)};
  p.score = [&](double s, const Pair &at) {
    int64_t row =
        std::clamp<int64_t>(at.queryPosition - at.keyPosition, -4, 4) + 4;
    return Scored{s + p.terms[0].values[row * 6 + at.globalHead]};
  };
  run(p);
}

// A narrower table, asked for rows beyond its own: the nearest is read.
TEST_P(AttentionPairs, RowsBeyondATable) {
  Problem p = problem(", %a: tensor<i32>, %t: tensor<5x1xf16>", R"(
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %d = stablehlo.subtract %query, %key : tensor<i32>
    %row = stablehlo.add %a, %d : tensor<i32>
    %slice = stablehlo.dynamic_slice %t, %row, %zero, sizes = [1, 1] : (tensor<5x1xf16>, tensor<i32>, tensor<i32>) -> tensor<1x1xf16>
    %y = stablehlo.reshape %slice : (tensor<1x1xf16>) -> tensor<f16>
    %x = stablehlo.convert %y : (tensor<f16>) -> $T
    %e = stablehlo.add %s, %x : $T
    return %e : $T)");
  p.kernel.perKey = 1;
  p.terms = {random(TermElement::i32, {kKeys, 0, 0, 1}, 2 * kKeys),
             random(TermElement::f16, {0, 0, 0, 0}, 5)};
  p.score = [&](double s, const Pair &at) {
    double row = p.terms[0].at(at.batch, 0, 0, at.key) +
                 static_cast<double>(at.queryPosition - at.keyPosition);
    return Scored{
        s + p.terms[1].values[static_cast<size_t>(std::clamp(row, 0.0, 4.0))]};
  };
  run(p);
}

//===----------------------------------------------------------------------===//
// Weights after the softmax
//===----------------------------------------------------------------------===//

TEST_P(AttentionPairs, WeightsOfHeads) {
  Problem p = problem(", %w: $T", "return %s, %w : $T, $T", 2);
  p.kernel.perHead = 1;
  p.terms = {random(ownElement(), {3, 1, 0, 0}, 6)};
  p.terms[0].values[1] = 0;
  p.score = [&](double s, const Pair &at) {
    return Scored{s, p.terms[0].at(at.batch, at.head, 0, 0)};
  };
  run(p);
}

// Also where keys are not consecutive, and the last ones fill no vector.
TEST_P(AttentionPairs, WeightsOfPairs) {
  for (int32_t step : {1, 3}) {
    SCOPED_TRACE(step);
    Problem p = problem(", %w: tensor<f16>", R"(
      %weight = stablehlo.convert %w : (tensor<f16>) -> $T
      return %s, %weight : $T, $T)",
                        2);
    p.kernel.pair = 1;
    for (int32_t &position : p.keyPositions)
      position *= step;
    int64_t columns = step * kKeys;
    p.terms = {random(TermElement::f16, {kQueries * columns, 0, columns, 1},
                      2 * kQueries * columns)};
    p.score = [&](double s, const Pair &at) {
      return Scored{s, p.terms[0].at(at.batch, 0, at.query, at.keyPosition)};
    };
    run(p);
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, AttentionPairs,
                         testing::ValuesIn(kScoreConfigs),
                         nameOfConfig<KernelConfig>);
