// Gradients of terms, of pairs and summed over queries, keys or both, against a
// dense double-precision reference.
#include "AttentionBackwardScore.h"
#include <algorithm>

using namespace attention_test;

class AttentionBackwardTerms : public AttentionBackwardScore {
protected:
  /// What a gradient is added to: numbers, with NaN between them.
  TermArray gradient(const BackwardProblem &p,
                     const std::array<int64_t, 4> &strides) const {
    int64_t last =
        *std::max_element(p.keyPositions.begin(), p.keyPositions.end());
    int64_t size = 1 + strides[0] * (p.batch - 1) + strides[1] * (p.heads - 1) +
                   strides[2] * (p.queries - 1) + strides[3] * last;
    TermArray term = random(ownElement(), strides, size + 3);
    std::vector<double> numbers = term.values;
    std::fill(term.values.begin(), term.values.end(), kNaN);
    for (int64_t batch = 0; batch < p.batch; ++batch)
      for (int64_t head = 0; head < p.heads; ++head)
        for (int64_t query = 0; query < p.queries; ++query)
          for (int64_t key : p.keyPositions) {
            int64_t at = batch * strides[0] + head * strides[1] +
                         query * strides[2] + key * strides[3];
            term.values[at] = numbers[at];
          }
    return term;
  }
  /// One of each pair, each query, each key and each head.
  void addGradients(BackwardProblem &p) const {
    int64_t columns = p.keyPositions.back() + 3, rows = p.queries + 2;
    p.kernel.termGradients = {
        {true, true}, {true, false}, {false, true}, {false, false}};
    p.termGradients = {gradient(p, {p.heads * rows * columns + 5, columns,
                                    p.heads * columns, 1}),
                       gradient(p, {rows * p.heads, 1, p.heads, 0}),
                       gradient(p, {p.heads * columns, columns, 0, 1}),
                       gradient(p, {p.heads + 1, 1, 0, 0})};
  }
};

static const char *const kBias = R"(
    %e = stablehlo.add %s, %b : $T
    %one = stablehlo.constant dense<1.0> : $T
    %same = stablehlo.constant dense<1.0> : $T
    return %e, %one, %same : $T, $T, $T)";

// Of which the gradient is that of the score.
TEST_P(AttentionBackwardTerms, Bias) {
  BackwardProblem p = problem(", %b: $T", kBias, 3);
  p.kernel.pair = 1;
  p.kernel.termGradients = {{true, true}};
  int64_t row = kKeys + 4, column = kQueries + 2;
  std::array<int64_t, 4> rows = {3 * kQueries * row + 1, kQueries * row, row,
                                 1},
                         columns = {3 * kKeys * column, kKeys * column, 1,
                                    column},
                         others = {6 * kQueries * row, 2 * kQueries * row,
                                   2 * row, 2};
  for (const auto &strides : {rows, columns, others}) {
    SCOPED_TRACE(testing::Message()
                 << "by " << strides[2] << " and " << strides[3]);
    p.terms = {random(ownElement(), rows, extentOf(rows))};
    p.score = [&](double s, const Pair &at) {
      double bias = p.terms[0].at(at.batch, at.head, at.query, at.keyPosition);
      return Scored{s + bias, 1, 1, {1}};
    };
    p.termGradients = {gradient(p, strides)};
    run(p);
  }
}

TEST_P(AttentionBackwardTerms, BiasOfStripedKeys) {
  BackwardProblem p = problem(", %b: $T", kBias, 3);
  p.kernel.pair = 1;
  p.kernel.termGradients = {{true, true}};
  for (int32_t &position : p.keyPositions)
    position = 4 * position + 2;
  int64_t row = 4 * kKeys;
  p.terms = {random(ownElement(), {0, 0, row, 1}, kQueries * row)};
  p.score = [&](double s, const Pair &at) {
    return Scored{s + p.terms[0].at(0, 0, at.query, at.keyPosition), 1, 1, {1}};
  };
  p.termGradients = {gradient(p, {3 * kQueries * row, kQueries * row, row, 1})};
  run(p);
}

// Derivatives of 1 where slopes are not.
TEST_P(AttentionBackwardTerms, SumsOfWhatIsAdded) {
  BackwardProblem p = problem("", R"(
    %one = stablehlo.constant dense<1.0> : $T
    %tanh = stablehlo.tanh %s : $T
    %square = stablehlo.multiply %tanh, %tanh : $T
    %slope = stablehlo.subtract %one, %square : $T
    return %tanh, %slope, %one, %one, %one, %one : $T, $T, $T, $T, $T, $T)",
                              6);
  p.score = [](double s, const Pair &) {
    double tanh = std::tanh(s);
    return Scored{tanh, 1, 1 - tanh * tanh, {1, 1, 1, 1}};
  };
  addGradients(p);
  run(p);
  p.slices = {band(kQueries, kKeys)};
  p.initQueries = p.initKeys = true;
  run(p);
}

static const char *const kMixedTerms =
    ", %x: $T, %y: $T, %w: $T, %m: tensor<i1>, %d: tensor<i1>";
static const char *const kMixed = R"(
    %one = stablehlo.constant dense<1.0> : $T
    %zero = stablehlo.constant dense<0.0> : $T
    %more = stablehlo.constant dense<1.5> : $T
    %none = stablehlo.constant dense<$NONE> : $T
    %tanh = stablehlo.tanh %s : $T
    %xy = stablehlo.multiply %x, %y : $T
    %added = stablehlo.add %tanh, %xy : $T
    %distance = stablehlo.subtract %query, %key : tensor<i32>
    %far = stablehlo.convert %distance : (tensor<i32>) -> $T
    %falls = stablehlo.multiply %far, %w : $T
    %sum = stablehlo.subtract %added, %falls : $T
    %e = stablehlo.select %m, %sum, %none : tensor<i1>, $T
    %square = stablehlo.multiply %tanh, %tanh : $T
    %slope = stablehlo.subtract %one, %square : $T
    %weight = stablehlo.select %d, %more, %zero : tensor<i1>, $T
    %plain = stablehlo.select %m, %one, %zero : tensor<i1>, $T
    %by_x = stablehlo.select %m, %y, %zero : tensor<i1>, $T
    %by_w = stablehlo.negate %far : $T
    return %e, %slope, %weight, %plain, %by_x, %plain, %by_w : $T, $T, $T, $T, $T, $T, $T)";

// Pairs that a term hides have a derivative of 0, as a selection gives.
static BackwardProblem mixed(BackwardProblem p, TermElement element,
                             int64_t queries, int64_t keys) {
  p.resize(queries, keys);
  p.kernel.perQuery = p.kernel.perKey = p.kernel.perHead = 1;
  p.kernel.pair = 2;
  std::array<int64_t, 4> ofPairs = {queries * keys, 0, keys, 1};
  p.terms = {random(element, {queries, 0, 1, 0}, 2 * queries),
             random(element, {keys, 0, 0, 1}, 2 * keys),
             random(element, {0, 1, 0, 0}, 3),
             random(TermElement::i1, ofPairs, 2 * queries * keys),
             random(TermElement::i1, ofPairs, 2 * queries * keys)};
  for (double &slope : p.terms[2].values)
    slope /= 64;
  // A query that sees nothing.
  std::fill_n(p.terms[3].values.begin() + 7 * keys, keys, 0.0);
  std::rotate(p.terms[4].values.begin(), p.terms[4].values.begin() + 11,
              p.terms[4].values.end());
  return p;
}

static void scoreMixed(BackwardProblem &p) {
  p.score = [&p](double s, const Pair &at) {
    const std::vector<TermArray> &t = p.terms;
    double x = t[0].at(at.batch, 0, at.query, 0),
           y = t[1].at(at.batch, 0, 0, at.key), w = t[2].at(0, at.head, 0, 0);
    double tanh = std::tanh(s),
           ahead = static_cast<double>(at.keyPosition - at.queryPosition);
    bool isSeen = t[3].at(at.batch, 0, at.query, at.key) != 0,
         isKept = t[4].at(at.batch, 0, at.query, at.key) != 0;
    return Scored{isSeen ? tanh + x * y + w * ahead : -kInfinity,
                  isKept ? 1.5 : 0,
                  1 - tanh * tanh,
                  {isSeen ? 1.0 : 0, isSeen ? y : 0, isSeen ? 1.0 : 0, ahead}};
  };
}

TEST_P(AttentionBackwardTerms, OfEveryKind) {
  BackwardProblem p =
      mixed(problem(kMixedTerms, kMixed, 7), ownElement(), kQueries, kKeys);
  addGradients(p);
  scoreMixed(p);
  run(p);
}

TEST_P(AttentionBackwardTerms, OverBlocksOfKeys) {
  BackwardProblem p =
      mixed(problem(kMixedTerms, kMixed, 7), ownElement(), 70, 530);
  p.slices = {band(70, 530, -300, 470)};
  p.initQueries = p.initKeys = true;
  addGradients(p);
  scoreMixed(p);
  run(p);
}

INSTANTIATE_TEST_SUITE_P(
    Configs, AttentionBackwardTerms,
    testing::Values(BackwardConfig{Element::f32, 20, 20, 512},
                    BackwardConfig{Element::f16, 16, 12, 256},
                    BackwardConfig{Element::f64, 16, 12, 256},
                    BackwardConfig{Element::bf16, 20, 40, 512, true}),
    nameOfConfig<BackwardConfig>);
