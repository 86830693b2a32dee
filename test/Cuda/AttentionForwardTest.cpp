// The forward kernel, emulated, against plain attention in f64: ragged sizes,
// every form of slice, grouped heads, carried states, several orders of events.

#include "sprt/cuda/AttentionForward.cuh"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace sprt;
using cuda::Slice;
using ptx::BFloat16;
using ptx::Half;

namespace {

constexpr int kNone = INT32_MIN, kAll = INT32_MAX;

/// Rows of [batch, row, head, size]; elements beyond the valid rows are NaN.
template <class Element> struct Rows {
  int batch, rows, heads, size;
  std::vector<Element> data;

  Rows(int batch, int rows, int heads, int size, std::mt19937 &random)
      : batch(batch), rows(rows), heads(heads), size(size),
        data(static_cast<size_t>(batch * (rows + kPadding) * heads * size),
             Element(NAN)) {
    std::normal_distribution<float> normal;
    for (int b = 0; b < batch; ++b)
      for (int r = 0; r < rows; ++r)
        for (int h = 0; h < heads; ++h)
          for (int d = 0; d < size; ++d)
            data[at(b, r, h, d)] = Element(normal(random));
  }

  size_t at(int b, int r, int h, int d) const {
    return static_cast<size_t>(
        ((b * (rows + kPadding) + r) * heads + h) * size + d);
  }
  cuda::TensorMap map(int boxRows) {
    cuda::TensorMapFields fields = {
        data.data(),
        {size, rows, heads, batch},
        {2 * heads * size, 2 * size, 2 * (rows + kPadding) * heads * size},
        boxRows};
    cuda::TensorMap map = {};
    std::memcpy(&map, &fields, sizeof fields);
    return map;
  }

  static constexpr int kPadding = 3;
};

struct Shape {
  int batch, queries, keys, heads, kvHeads;
};

bool sees(const std::vector<Slice> &slices, int a, int b, bool &isUniform) {
  for (const Slice &s : slices) {
    int64_t q = int64_t(s.qStride) * a, k = int64_t(s.kStride) * b;
    if (a >= s.q0 && a < s.q1 && b >= s.k0 && b < s.k1 &&
        (s.lo == kNone || q + s.lo <= k) && (s.hi == kAll || k <= q + s.hi)) {
      isUniform = s.uniform;
      return true;
    }
  }
  return false;
}

/// Attends in f64 to each list of slices in turn, and by the kernel, with the
/// state carried on; expects the same.
template <class Config>
void check(const Shape &shape, const std::vector<std::vector<Slice>> &steps,
           uint64_t seed, double scale = 0.1) {
  using Element = typename Config::Element;
  constexpr int kSize = Config::kShape.headSize,
                kValue = Config::kShape.valueSize;
  std::mt19937 random(static_cast<unsigned>(seed));
  Rows<Element> q(shape.batch, shape.queries, shape.heads, kSize, random);
  std::vector<Rows<Element>> k, v;
  for (size_t step = 0; step < steps.size(); ++step) {
    k.emplace_back(shape.batch, shape.keys, shape.kvHeads, kSize, random);
    v.emplace_back(shape.batch, shape.keys, shape.kvHeads, kValue, random);
  }
  std::vector<float> out(
      static_cast<size_t>(shape.batch * shape.queries * shape.heads * kValue),
      NAN),
      lse(static_cast<size_t>(shape.batch * shape.queries * shape.heads), NAN);

  for (size_t step = 0; step < steps.size(); ++step) {
    cuda::ForwardArguments arguments = {};
    arguments.q = q.map(Config::kShape.kRows);
    arguments.k = k[step].map(Config::kShape.keyBlock);
    arguments.v = v[step].map(Config::kShape.keyBlock);
    arguments.out = out.data();
    arguments.lse = lse.data();
    arguments.slices = steps[step].data();
    arguments.sliceCount = static_cast<int>(steps[step].size());
    arguments.queryBlocks = (shape.queries + Config::kShape.queryBlock() - 1) /
                            Config::kShape.queryBlock();
    std::vector<int32_t> order;
    for (int block = arguments.queryBlocks; block-- > 0;)
      order.push_back(block);
    arguments.order = order.data();
    arguments.pairs = shape.batch * shape.heads;
    arguments.heads = shape.heads;
    arguments.queries = shape.queries;
    arguments.headsTotal = shape.heads;
    arguments.kvTotal = shape.kvHeads;
    arguments.init = step == 0;
    arguments.scale = static_cast<float>(scale * 1.4426950408889634);
    int64_t row = shape.heads * kValue;
    arguments.outStrides[0] = shape.queries * row;
    arguments.outStrides[1] = row;
    arguments.outStrides[2] = kValue;
    arguments.lseStrides[0] = shape.queries * shape.heads;
    arguments.lseStrides[1] = shape.heads;
    arguments.lseStrides[2] = 1;
    cuda::emulation::run(
        {2, Config::kShape.threads(), Config::kShape.sharedBytes(), seed},
        [&] { cuda::attendForward<Config>(arguments); });
  }

  for (int b = 0; b < shape.batch; ++b)
    for (int h = 0; h < shape.heads; ++h)
      for (int i = 0; i < shape.queries; ++i) {
        int kv = h * shape.kvHeads / shape.heads;
        double sum = 0;
        std::vector<double> expected(kValue);
        for (size_t step = 0; step < steps.size(); ++step)
          for (int j = 0; j < shape.keys; ++j) {
            bool isUniform = false;
            if (!sees(steps[step], i, j, isUniform))
              continue;
            double score = 0;
            for (int d = 0; d < kSize && !isUniform; ++d)
              score += double(float(q.data[q.at(b, i, h, d)])) *
                       double(float(k[step].data[k[step].at(b, j, kv, d)]));
            double power = std::exp(score * scale);
            sum += power;
            for (int d = 0; d < kValue; ++d)
              expected[static_cast<size_t>(d)] +=
                  power * double(float(v[step].data[v[step].at(b, j, kv, d)]));
          }
        size_t at =
            static_cast<size_t>((b * shape.queries + i) * shape.heads + h);
        double bound =
            std::is_same_v<Element, BFloat16> ? 1.0 / 128 : 1.0 / 1024;
        if (sum == 0) {
          ASSERT_EQ(lse[at], -INFINITY) << "query " << i << " head " << h;
          for (int d = 0; d < kValue; ++d)
            ASSERT_EQ(out[at * kValue + static_cast<size_t>(d)], 0.f);
          continue;
        }
        ASSERT_NEAR(lse[at], std::log(sum),
                    2e-6 * std::abs(std::log(sum)) + 4e-6)
            << "query " << i << " head " << h;
        for (int d = 0; d < kValue; ++d)
          ASSERT_NEAR(out[at * kValue + static_cast<size_t>(d)],
                      expected[static_cast<size_t>(d)] / sum, bound)
              << "query " << i << " head " << h << " element " << d;
      }
}

using Full = cuda::ForwardConfig<BFloat16, 128, 128, 176, 2, 2>;
using Masked = cuda::ForwardConfig<BFloat16, 128, 128, 128, 2, 2>;
using Small = cuda::ForwardConfig<Half, 64, 64, 128, 3, 2>;
using Wide = cuda::ForwardConfig<BFloat16, 256, 256, 80, 2, 2>;
using Latent = cuda::ForwardConfig<BFloat16, 192, 128, 96, 2, 2>;
using Odd = cuda::ForwardConfig<Half, 96, 96, 128, 2, 2>;

Slice full(const Shape &shape) {
  return {0, shape.queries, 0, shape.keys, kNone, kAll, 1, 1, 0};
}
Slice banded(const Shape &shape, int lo, int hi) {
  return {0, shape.queries, 0, shape.keys, lo, hi, 1, 1, 0};
}

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
  check<Masked>(shape,
                {{banded(shape, kNone, -70)},
                 {full(shape)},
                 {},
                 {banded(shape, -30, 40)}},
                5);
}

TEST(AttentionForward, leaves_rows_without_keys) {
  Shape shape = {1, 140, 140, 1, 1};
  check<Masked>(shape, {{banded(shape, kNone, -100)}}, 1);
  check<Masked>(shape, {{}}, 1);
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

} // namespace
