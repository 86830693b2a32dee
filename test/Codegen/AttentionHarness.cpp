// The dense reference, and the comparison with it.
#include "AttentionHarness.h"
#include "AttentionArray.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace attention_test;

namespace {
struct Sums {
  double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
  std::vector<double> output;
};
} // namespace

sprt_slice attention_test::band(int64_t queries, int64_t keys, int64_t lo,
                                int64_t hi) {
  return {0, queries, 0, keys, lo, hi, 1, 1, 0};
}

//===----------------------------------------------------------------------===//
// Reference and comparison
//===----------------------------------------------------------------------===//

bool attention_test::isVisible(const sprt_slice &s, int64_t a, int64_t b) {
  if (a < s.q0 || a >= s.q1 || b < s.k0 || b >= s.k1)
    return false;
  __int128 query = static_cast<__int128>(s.qStride) * a;
  __int128 key = static_cast<__int128>(s.kStride) * b;
  return (s.lo == kNoLow || query + s.lo <= key) &&
         (s.hi == kNoHigh || key <= query + s.hi);
}

/// Softmax of one query over every call, in two passes.
static Sums reference(const Problem &p, const Array &q, const Array &k,
                      const Array &v, int64_t b, int64_t a, int64_t h) {
  int64_t kvHead = (p.headFirst + h) * p.kvTotal / p.headsTotal -
                   p.headFirst * p.kvTotal / p.headsTotal;
  struct Visible {
    int64_t row;
    Scored scored;
  };
  std::vector<Visible> scores;
  Sums sums;
  sums.output.assign(p.kernel.valueSize, 0);
  for (const Call &call : p.calls)
    for (const sprt_slice &slice : call.slices)
      for (int64_t key = 0; key < call.keyCount; ++key) {
        if (!isVisible(slice, a, key))
          continue;
        int64_t row = call.keyFirst + key;
        double score = 0;
        for (int64_t i = 0; i < p.kernel.headSize && !slice.uniform; ++i)
          score +=
              q.get(q.index(b, a, h) + i) * k.get(k.index(b, row, kvHead) + i);
        Scored scored{score * p.scale};
        if (p.score && !slice.uniform)
          scored = p.score(scored.exponent,
                           {b, h, p.headFirst + h, a, p.queryPositions[a], row,
                            p.keyPositions[row]});
        if (scored.exponent == -std::numeric_limits<double>::infinity())
          continue;
        scores.push_back({row, scored});
        sums.maximum = std::max(sums.maximum, scored.exponent);
      }
  for (const Visible &key : scores) {
    double power = std::exp(key.scored.exponent - sums.maximum);
    sums.sum += power;
    for (int64_t i = 0; i < p.kernel.valueSize; ++i)
      sums.output[i] +=
          power * key.scored.weight * v.get(v.index(b, key.row, kvHead) + i);
  }
  for (double &value : sums.output)
    value = sums.sum == 0 ? 0 : value / sums.sum;
  return sums;
}

static void launch(const Problem &p, const Kernel &kernel, const Call &call,
                   Array &q, Array &k, Array &v, Array &o, Array &lse) {
  int64_t kvFirst = p.headFirst * p.kvTotal / p.headsTotal;
  std::vector<int64_t> sizes = {
      p.batch,       p.heads,     p.queries,
      call.keyCount, p.headFirst, p.headsTotal,
      kvFirst,       p.kvTotal,   static_cast<int64_t>(call.slices.size()),
      call.init};
  sizes.resize(SPRT_ATTEND_SIZES);
  std::memcpy(&sizes[SPRT_ATTEND_SCALE], &p.scale, sizeof(double));
  // The block of keys lies alone in memory: what follows it is poison.
  auto keyBlock = [&](const Array &all) {
    Array block(all.element, all.batch, all.rows, all.heads, all.inner, 2,
                p.headsOutside);
    for (int64_t b = 0; b < all.batch; ++b)
      for (int64_t r = 0; r < call.keyCount; ++r)
        for (int64_t h = 0; h < all.heads; ++h)
          for (int64_t i = 0; i < all.inner; ++i)
            block.set(block.index(b, r, h) + i,
                      all.get(all.index(b, call.keyFirst + r, h) + i));
    return block;
  };
  Array keys = keyBlock(k), values = keyBlock(v);
  auto strides = [&](int64_t at, const Array &array) {
    std::copy(array.strides, array.strides + 3, sizes.begin() + at);
  };
  strides(SPRT_ATTEND_Q_STRIDES, q);
  strides(SPRT_ATTEND_K_STRIDES, keys);
  strides(SPRT_ATTEND_V_STRIDES, values);
  strides(SPRT_ATTEND_O_STRIDES, o);
  strides(SPRT_ATTEND_LSE_STRIDES, lse);

  std::vector<int32_t> keyPositions;
  if (p.score)
    keyPositions.assign(p.keyPositions.begin() + call.keyFirst,
                        p.keyPositions.begin() + call.keyFirst + call.keyCount);
  std::vector<void *> buffers = {q.bytes.data(),
                                 keys.bytes.data(),
                                 values.bytes.data(),
                                 o.bytes.data(),
                                 lse.bytes.data(),
                                 const_cast<sprt_slice *>(call.slices.data()),
                                 const_cast<int32_t *>(p.queryPositions.data()),
                                 keyPositions.data()};
  LaunchTerms terms;
  terms.append(p, p.kernel.perQuery, p.kernel.perKey, call.keyFirst, buffers,
               sizes);
  std::vector<uint8_t> scratch(kernel.scratchBytes + 128, 0xff);
  auto *aligned = reinterpret_cast<uint8_t *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.data()), 64));
  int64_t tiles = p.batch * p.heads *
                  ((p.queries + kernel.queryBlock - 1) / kernel.queryBlock);
  // Two ranges of tiles, as two threads would take them.
  kernel.function(buffers.data(), sizes.data(), tiles / 2, tiles, aligned);
  kernel.function(buffers.data(), sizes.data(), 0, tiles / 2, aligned);
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(aligned[kernel.scratchBytes + i], 0xff) << "scratch overrun";
}

void attention_test::check(const Problem &p, double tolerance,
                           double lseTolerance) {
  Kernel kernel = loadKernel(p.kernel);
  ASSERT_NE(kernel.function, nullptr);
  std::mt19937 random(p.seed);
  Element element = p.kernel.element;
  Element stateElement = element == Element::f64 ? Element::f64 : Element::f32;
  int64_t kvFirst = p.headFirst * p.kvTotal / p.headsTotal;
  int64_t kvHeads =
      (p.headFirst + p.heads - 1) * p.kvTotal / p.headsTotal - kvFirst + 1;
  Array q(element, p.batch, p.queries, p.heads, p.kernel.headSize, 2,
          p.headsOutside);
  Array k(element, p.batch, p.keys, kvHeads, p.kernel.headSize, 0, false);
  Array v(element, p.batch, p.keys, kvHeads, p.kernel.valueSize, 0, false);
  Array o(stateElement, p.batch, p.queries, p.heads, p.kernel.valueSize, 2,
          p.headsOutside);
  // The logarithm of a sum, or the greatest exponent and a sum.
  bool hasTwo = p.kernel.keepsSums;
  double perExponent = p.score ? 1 : std::log2(std::exp(1.0));
  Array lse(stateElement, p.batch, p.queries, p.heads, hasTwo ? 2 : 1, 2,
            !p.headsOutside);
  q.fill(random, p.magnitude);
  k.fill(random, 1);
  v.fill(random, 1);
  Array empty = o, emptyLse = lse;
  for (const Call &call : p.calls)
    launch(p, kernel, call, q, k, v, o, lse);

  double largest = 0, worst = 0, worstLse = 0;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t a = 0; a < p.queries; ++a)
      for (int64_t h = 0; h < p.heads; ++h) {
        Sums sums = reference(p, q, k, v, b, a, h);
        double expected = hasTwo ? sums.maximum * perExponent
                                 : sums.maximum + std::log(sums.sum);
        int64_t at = lse.index(b, a, h);
        double actual = lse.get(at);
        double divisor = hasTwo && sums.sum != 0 ? lse.get(at + 1) : 1;
        if (hasTwo && sums.sum != 0)
          worstLse =
              std::fmax(worstLse, std::fabs(lse.get(at + 1) / sums.sum - 1));
        if (sums.sum == 0)
          EXPECT_EQ(actual, -std::numeric_limits<double>::infinity());
        else
          worstLse = std::fmax(worstLse, std::fabs(actual - expected) /
                                             std::fmax(1, std::fabs(expected)));
        EXPECT_FALSE(std::isnan(actual))
            << "lse of " << b << " " << a << " " << h;
        std::memset(lse.bytes.data() + at * lse.width(), 0xff,
                    lse.inner * lse.width());
        // A score function that hides all keys leaves no number.
        bool isNone = p.score && !hasTwo && sums.sum == 0;
        for (int64_t i = 0; i < p.kernel.valueSize; ++i) {
          double value = o.get(o.index(b, a, h) + i) / divisor;
          if (isNone) {
            ASSERT_TRUE(std::isnan(value)) << b << " " << a << " " << h;
            continue;
          }
          ASSERT_FALSE(std::isnan(value))
              << b << " " << a << " " << h << " column " << i;
          largest = std::fmax(largest, std::fabs(sums.output[i]));
          worst = std::fmax(worst, std::fabs(value - sums.output[i]));
        }
        std::memset(o.bytes.data() + o.index(b, a, h) * o.width(), 0xff,
                    o.inner * o.width());
      }
  EXPECT_LE(worst, tolerance * largest) << "o";
  EXPECT_LE(worstLse, lseTolerance == 0 ? tolerance : lseTolerance) << "lse";
  EXPECT_EQ(o.bytes, empty.bytes) << "written outside the valid rows of o";
  EXPECT_EQ(lse.bytes, emptyLse.bytes)
      << "written outside the valid rows of lse";
}
