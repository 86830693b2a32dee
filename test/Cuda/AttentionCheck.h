/// Attention kernels, emulated, against attention in f64.
#ifndef SP_TEST_CUDA_ATTENTIONCHECK_H
#define SP_TEST_CUDA_ATTENTIONCHECK_H

#include "Rows.h"
#include "Work.h"

#include "sprt/cuda/AttentionForward.cuh"
#include "sprt/cuda/AttentionPlain.cuh"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace sprt::test {

using ptx::BFloat16;
using ptx::Half;

/// One attention in steps, each to keys of its own through a list of slices,
/// with the state carried on.
template <class Config> class AttentionCheck {
public:
  using Element = typename Config::Element;
  using Number =
      std::conditional_t<std::is_same_v<Element, double>, double, float>;
  static constexpr auto kShape = Config::kShape;
  /// Two numbers of lse a row: the greatest exponent, and a sum.
  static constexpr bool kKeepsSums = Config::kForm == cuda::StateForm::Sums;
  using Out = typename Config::Out;
  static constexpr bool kIsPlain =
      std::is_same_v<decltype(kShape), const cuda::PlainShape>;

  AttentionCheck(const Shape &shape, std::vector<std::vector<Slice>> steps,
                 uint64_t seed, double scale,
                 const cuda::ScoreArguments &score = {})
      : shape(shape), steps(std::move(steps)), seed(seed), scale(scale),
        score(score), random(static_cast<unsigned>(seed)),
        q(shape.batch, shape.queries, shape.heads, kShape.headSize, random),
        out(shape.batch, shape.queries, shape.heads, kShape.valueSize),
        lse(shape.batch, shape.queries, shape.heads, kKeepsSums ? 2 : 1) {
    for (size_t step = 0; step < this->steps.size(); ++step) {
      k.emplace_back(shape.batch, shape.keys, shape.kvHeads, kShape.headSize,
                     random);
      v.emplace_back(shape.batch, shape.keys, shape.kvHeads, kShape.valueSize,
                     random);
    }
  }

  /// By the kernel, on a grid of `blocks`; queries from the last, or ascending.
  void run(int blocks, const Work &work = {}) {
    int queryBlocks =
        (shape.queries + kShape.queryBlock() - 1) / kShape.queryBlock();
    std::vector<int32_t> order;
    for (int block = 0; block < queryBlocks; ++block)
      order.push_back(work.isAscending ? block : queryBlocks - 1 - block);
    int32_t counter = 0;
    for (size_t step = 0; step < steps.size(); ++step) {
      cuda::AttendArguments common = {};
      common.out = out.data.data();
      common.lse = lse.data.data();
      common.slices = steps[step].data();
      common.sliceCount = static_cast<int>(steps[step].size());
      common.queryBlocks = queryBlocks;
      common.order = order.data();
      std::vector<int32_t> ranges =
          rangesOf(steps[step], order, kShape.queryBlock());
      common.ranges = work.hasRanges ? ranges.data() : nullptr;
      common.counter = work.isCounted ? &counter : nullptr;
      common.groupPairs = work.groupPairs;
      common.pairs = shape.batch * shape.heads;
      common.heads = shape.heads;
      common.queries = shape.queries;
      common.keys = shape.keys;
      common.headsTotal = shape.heads;
      common.kvTotal = shape.kvHeads;
      common.init = step == 0 && !work.isCarried;
      common.score = score;
      out.strides(common.outStrides);
      lse.strides(common.lseStrides);
      cuda::emulation::Launch launch = {blocks, kShape.threads(),
                                        kShape.sharedBytes(), seed};
      if constexpr (kIsPlain)
        runPlain(launch, common, step);
      else
        runForward(launch, common, step);
      EXPECT_EQ(counter, 0) << "expected it as it was before the launch";
    }
  }
  /// What no kernel leaves: a state of sums that are less than 0.
  void spoilState() {
    std::fill(out.data.begin(), out.data.end(), Out(0));
    for (size_t i = 0; i < lse.data.size(); ++i)
      lse.data[i] = Number(i % 2 ? -1e6 : 0);
  }
  /// Makes scores that f32 holds.
  void roundInputs() {
    for (Rows<Element> *rows : {&q, &k[0]})
      for (Element &element : rows->data)
        element = Element(std::round(4 * float(element)) / 4);
  }
  const std::vector<Out> &result() const { return out.data; }
  int64_t prefetched() const { return prefetches; }
  const std::vector<Number> &exponents() const { return lse.data; }

  /// Compares with what another kernel made of the same inputs, which rounds
  /// no powers.
  template <class Other>
  void expectSame(const AttentionCheck<Other> &other) const {
    for (int b = 0; b < shape.batch; ++b)
      for (int h = 0; h < shape.heads; ++h)
        for (int i = 0; i < shape.queries; ++i) {
          SCOPED_TRACE("batch " + std::to_string(b) + " head " +
                       std::to_string(h) + " query " + std::to_string(i));
          double most = other.lse.number(b, i, h, 0),
                 sum = other.lse.number(b, i, h, 1);
          double apart = lse.number(b, i, h, 0) - most;
          ASSERT_TRUE(isNear(lse.number(b, i, h, 0), most, 1e-5));
          ASSERT_TRUE(isNear(lse.number(b, i, h, 1) *
                                 (std::isfinite(apart) ? std::exp(apart) : 1),
                             sum, 2e-5 * std::abs(sum)));
          for (int d = 0; d < kShape.valueSize; ++d)
            ASSERT_TRUE(
                isNear(mean(b, i, h, d), other.mean(b, i, h, d),
                       kRounded * (1 + std::abs(other.mean(b, i, h, d)))))
                << "element " << d;
        }
    EXPECT_TRUE(out.isPaddingWhole() && lse.isPaddingWhole());
  }

  /// The largest difference of a row's logarithm of its sum, and of its means.
  template <class Other>
  std::pair<double, double> apart(const AttentionCheck<Other> &other) const {
    double ofSums = 0, ofMeans = 0;
    for (int b = 0; b < shape.batch; ++b)
      for (int h = 0; h < shape.heads; ++h)
        for (int i = 0; i < shape.queries; ++i) {
          double sum =
                     lse.number(b, i, h, 0) + std::log(lse.number(b, i, h, 1)),
                 closely = other.lse.number(b, i, h, 0) +
                           std::log(other.lse.number(b, i, h, 1));
          ofSums = std::max(ofSums, std::abs(sum - closely));
          for (int d = 0; d < kShape.valueSize; ++d)
            ofMeans = std::max(
                ofMeans, std::abs(mean(b, i, h, d) - other.mean(b, i, h, d)));
        }
    return {ofSums, ofMeans};
  }

  /// Compares with attention in f64, within so many bounds of means of many
  /// values; rows may be no numbers where that is said.
  void expectRight(double bounds = 1, bool mayBeNone = false) const {
    for (int b = 0; b < shape.batch; ++b)
      for (int h = 0; h < shape.heads; ++h)
        for (int i = 0; i < shape.queries; ++i) {
          SCOPED_TRACE("batch " + std::to_string(b) + " head " +
                       std::to_string(h) + " query " + std::to_string(i));
          ASSERT_NO_FATAL_FAILURE(expectRow(b, h, i, bounds, mayBeNone));
        }
    EXPECT_TRUE(out.isPaddingWhole() && lse.isPaddingWhole());
  }

private:
  template <class> friend class AttentionCheck;

  static testing::AssertionResult isNear(double x, double y, double bound) {
    if (std::isfinite(y) ? std::abs(x - y) <= bound
                         : x == y || (std::isnan(x) && std::isnan(y)))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << x << " is not " << y;
  }

  void runForward(const cuda::emulation::Launch &launch,
                  const cuda::AttendArguments &common, size_t step) {
    cuda::ForwardArguments arguments = {
        common, q.map(kShape.kRows), k[step].map(kShape.keyBlock),
        v[step].map(kShape.keyBlock),
        static_cast<float>(scale * (Config::Score::kIsNone ? kLog2e : 1))};
    prefetches += cuda::emulation::run(
        launch, [&] { cuda::attendForward<Config>(arguments); });
  }

  void runPlain(const cuda::emulation::Launch &launch,
                const cuda::AttendArguments &common, size_t step) {
    cuda::PlainArguments arguments = {};
    static_cast<cuda::AttendArguments &>(arguments) = common;
    arguments.q = q.data.data();
    arguments.k = k[step].data.data();
    arguments.v = v[step].data.data();
    arguments.scale = scale;
    q.strides(arguments.qStrides);
    k[step].strides(arguments.kStrides);
    v[step].strides(arguments.vStrides);
    cuda::emulation::run(launch, [&] { cuda::attendPlain<Config>(arguments); });
  }

  double mean(int b, int i, int h, int d) const {
    double sum = kKeepsSums ? lse.number(b, i, h, 1) : 1;
    return sum == 0 ? 0 : out.number(b, i, h, d) / sum;
  }

  /// The logarithm of a row's sum of exponentials.
  double logarithm(int b, int i, int h) const {
    double first = lse.number(b, i, h, 0);
    return kKeepsSums ? first / kLog2e + std::log(lse.number(b, i, h, 1))
                      : first;
  }

  /// A row of attention: sums of exp(score - greatest).
  struct Row {
    double greatest = -INFINITY, sum = 0;
    std::vector<double> values;
  };
  Row rowOf(int b, int h, int i) const {
    int kv = h * shape.kvHeads / shape.heads;
    std::vector<std::tuple<double, size_t, int>> seen;
    Row row;
    for (size_t step = 0; step < steps.size(); ++step)
      for (int j = 0; j < shape.keys; ++j) {
        bool isUniform = false;
        if (!sees(steps[step], i, j, isUniform))
          continue;
        double score = 0;
        for (int d = 0; d < kShape.headSize && !isUniform; ++d)
          score += q.number(b, i, h, d) * k[step].number(b, j, kv, d);
        seen.emplace_back(score * scale, step, j);
        row.greatest = std::max(row.greatest, score * scale);
      }
    row.values.resize(static_cast<size_t>(kShape.valueSize));
    for (auto [score, step, j] : seen) {
      double power = std::exp(score - row.greatest);
      row.sum += power;
      for (int d = 0; d < kShape.valueSize; ++d)
        row.values[static_cast<size_t>(d)] +=
            power * v[step].number(b, j, kv, d);
    }
    return row;
  }

  void expectRow(int b, int h, int i, double bounds, bool mayBeNone) const {
    Row row = rowOf(b, h, i);
    if (mayBeNone && !std::isfinite(mean(b, i, h, 0)))
      return;
    double least = row.greatest + std::log(row.sum);
    if (row.sum == 0)
      ASSERT_EQ(lse.number(b, i, h, 0), -INFINITY);
    else
      ASSERT_NEAR(logarithm(b, i, h), least, kBound * (std::abs(least) + 2));
    double bound = bounds * (kIsPlain ? 4 * kBound : kRounded);
    for (int d = 0; d < kShape.valueSize; ++d)
      ASSERT_NEAR(mean(b, i, h, d),
                  row.sum == 0 ? 0
                               : row.values[static_cast<size_t>(d)] / row.sum,
                  row.sum == 0 ? 0 : bound)
          << "element " << d;
  }

  static constexpr double kLog2e = 1.4426950408889634074;
  static constexpr double kBound =
      std::is_same_v<Number, double> ? 4e-15 : 2e-6;
  /// Of the forward kernel, which rounds powers to elements.
  static constexpr double kRounded =
      std::is_same_v<Element, BFloat16> ? 1.0 / 256 : 1.0 / 4096;

  Shape shape;
  std::vector<std::vector<Slice>> steps;
  uint64_t seed;
  double scale;
  int64_t prefetches = 0;
  cuda::ScoreArguments score;
  std::mt19937 random;
  Rows<Element> q;
  std::vector<Rows<Element>> k, v;
  Rows<Out> out;
  Rows<Number> lse;
};

template <class Config>
void check(const Shape &shape, std::vector<std::vector<Slice>> steps,
           uint64_t seed, double scale = 0.1, int blocks = 2) {
  AttentionCheck<Config> check(shape, std::move(steps), seed, scale);
  ASSERT_NO_THROW(check.run(blocks));
  check.expectRight();
}

inline Slice full(const Shape &shape) {
  return {0, shape.queries, 0, shape.keys, kNone, kAll, 1, 1, 0};
}
inline Slice banded(const Shape &shape, int lo, int hi) {
  return {0, shape.queries, 0, shape.keys, lo, hi, 1, 1, 0};
}

} // namespace sprt::test

#endif // SP_TEST_CUDA_ATTENTIONCHECK_H
