// The dense reference of the gradients, and the comparison with it.
#include "AttentionBackwardHarness.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attention_test;

// Of sums in f32, relative to the largest.
static constexpr double kRounding = 1e-5;

namespace {
/// Gradients in double precision, with room for every valid element.
struct Gradient {
  const Array &array;
  std::vector<double> values, magnitudes; ///< sums of terms and of their sizes

  Gradient(const Array &array, bool isEmpty)
      : array(array), values(array.batch * array.strides[0], 0.0),
        magnitudes(values) {
    if (!isEmpty)
      forEach([&](int64_t at) {
        values[at] = array.get(at);
        magnitudes[at] = std::fabs(values[at]);
      });
  }
  template <typename Body> void forEach(Body body) const {
    for (int64_t b = 0; b < array.batch; ++b)
      for (int64_t r = 0; r < array.rows; ++r)
        for (int64_t h = 0; h < array.heads; ++h)
          for (int64_t i = 0; i < array.inner; ++i)
            body(array.index(b, r, h) + i);
  }
  void add(int64_t b, int64_t r, int64_t h, double factor,
           const std::vector<double> &row) {
    int64_t at = array.index(b, r, h);
    for (size_t i = 0; i < row.size(); ++i) {
      values[at + i] += factor * row[i];
      magnitudes[at + i] += std::fabs(factor * row[i]);
    }
  }
  /// Compares `after`, whose memory was the array's, and clears its valid rows.
  void compare(Array after, double tolerance, bool byTerms,
               const char *name) const {
    double largest = 0;
    forEach([&](int64_t at) {
      largest = std::fmax(largest, std::fabs(values[at]));
    });
    Array untouched = array;
    double excess = 0;
    forEach([&](int64_t at) {
      double actual = after.get(at), error = std::fabs(actual - values[at]);
      EXPECT_EQ(std::isnan(actual), std::isnan(values[at]))
          << name << " at " << at;
      double limit = byTerms ? tolerance * magnitudes[at] + kRounding * largest
                             : tolerance * largest;
      excess = std::fmax(excess, error - limit);
      after.set(at, 0);
      untouched.set(at, 0);
    });
    EXPECT_EQ(excess, 0) << name << " of at most " << largest;
    EXPECT_TRUE(after.bytes == untouched.bytes)
        << "written outside the valid rows of " << name;
  }
};

/// A gradient of a term in double precision, of which some elements are those
/// of batches, heads, queries and positions of keys.
struct TermReference {
  TermArray before;
  std::vector<double> values = before.values;
  std::vector<bool> isOwn = std::vector<bool>(values.size());

  size_t place(int64_t b, int64_t h, int64_t a, int64_t position) const {
    const int64_t *strides = before.strides;
    return b * strides[0] + h * strides[1] + a * strides[2] +
           position * strides[3];
  }
  void compare(const TermArray &after, double tolerance, size_t number) const {
    double largest = 0, excess = 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (isOwn[i])
        largest = std::fmax(largest, std::fabs(values[i]));
    EXPECT_GT(largest, 0) << "of term " << number;
    for (size_t i = 0; i < values.size(); ++i) {
      double actual = after.values[i];
      ASSERT_EQ(std::isnan(actual), std::isnan(values[i]))
          << "of term " << number << " at " << i;
      if (isOwn[i])
        excess = std::fmax(excess,
                           std::fabs(actual - values[i]) - tolerance * largest);
      else if (!std::isnan(actual))
        ASSERT_EQ(actual, values[i]) << "of term " << number << " at " << i;
    }
    EXPECT_EQ(excess, 0) << "of term " << number << " of at most " << largest;
  }
};
} // namespace

void BackwardRun::check(double tolerance) {
  std::vector<TermReference> terms;
  for (const TermArray &term : dTerms)
    terms.push_back({term});
  Array dqBefore = dq, dkBefore = dk, dvBefore = dv;
  Gradient gradQ(dqBefore, p.initQueries), gradK(dkBefore, p.initKeys),
      gradV(dvBefore, p.initKeys);
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h) {
      int64_t kv = p.kvHead(h);
      std::vector<std::vector<double>> keys, values;
      for (int64_t key = 0; key < p.keys; ++key) {
        keys.push_back(rowOf(k, b, key, kv));
        values.push_back(rowOf(v, b, key, kv));
      }
      for (int64_t a = 0; a < p.queries; ++a) {
        for (TermReference &term : terms)
          for (int32_t position : p.keyPositions)
            term.isOwn[term.place(b, h, a, position)] = true;
        constexpr double none = -std::numeric_limits<double>::infinity();
        double base = lse.get(lse.index(b, a, h));
        if (base == none)
          continue;
        double sum = p.score ? lse.get(lse.index(b, a, h) + 1) : 1;
        std::vector<double> query = rowOf(q, b, a, h), out = rowOf(dO, b, a, h);
        for (const sprt_slice &slice : p.slices)
          for (int64_t key = 0; key < p.keys; ++key) {
            if (!isVisible(slice, a, key))
              continue;
            Scored scored = scoreOf(dot(query, keys[key]), b, h, a, key);
            double power = std::exp(scored.exponent - base) / sum;
            gradV.add(b, key, kv, power * scored.weight, out);
            double mean = delta.get(delta.index(b, a, h));
            double exponent =
                power * (scored.weight * dot(out, values[key]) - mean);
            for (size_t i = 0; i < terms.size(); ++i)
              if (scored.derivatives[i] != 0)
                terms[i].values[terms[i].place(b, h, a, p.keyPositions[key])] +=
                    exponent * scored.derivatives[i];
            // A selection passes on 0, which its key and query multiply.
            double score =
                scored.slope == 0 ? 0 : exponent * scored.slope * p.scale;
            gradQ.add(b, a, h, score, keys[key]);
            gradK.add(b, key, kv, score, query);
          }
      }
    }
  bool byTerms = p.kernel.bf16Dots;
  // Two ranges of tiles, as two threads would take them.
  run({p.batch * p.kvHeads() / 2});
  gradQ.compare(dq, tolerance, byTerms, "dq");
  gradK.compare(dk, tolerance, byTerms, "dk");
  gradV.compare(dv, tolerance, byTerms, "dv");
  // None is a product of what is rounded to pairs.
  for (size_t i = 0; i < terms.size(); ++i)
    terms[i].compare(dTerms[i], std::fmin(tolerance, 2 * kRounding), i);
}
