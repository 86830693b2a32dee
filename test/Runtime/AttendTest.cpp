// Attention commands: the runtime's part is slices, sizes and tiles. The kernel
// here is the plainest that follows sprt/kernel.h.

#include "PlanBuilder.h"
#include "sprt/algebra/Slices.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

namespace sprt::test {
namespace {

constexpr int64_t kHead = 4;
constexpr int64_t kQueryBlock = 3;
constexpr float kEmpty = -std::numeric_limits<float>::infinity();
std::atomic<int> tilesDone{0};

struct Sizes {
  const int64_t *at;
  int64_t operator[](int index) const { return at[index]; }
  int64_t offset(int strides, int64_t batch, int64_t row, int64_t head) const {
    return batch * at[strides] + row * at[strides + 1] + head * at[strides + 2];
  }
};

/// One query: adds the visible keys of all slices to its state.
void attendQuery(void *const *buffers, const Sizes &sizes, int64_t batch,
                 int64_t head, int64_t query) {
  const float *q = static_cast<float *>(buffers[SPRT_ATTEND_Q]) +
                   sizes.offset(SPRT_ATTEND_Q_STRIDES, batch, query, head);
  float *o = static_cast<float *>(buffers[SPRT_ATTEND_O]) +
             sizes.offset(SPRT_ATTEND_O_STRIDES, batch, query, head);
  float *lse = static_cast<float *>(buffers[SPRT_ATTEND_LSE]) +
               sizes.offset(SPRT_ATTEND_LSE_STRIDES, batch, query, head);
  int64_t kvHead = (sizes[SPRT_ATTEND_HEAD_FIRST] + head) *
                       sizes[SPRT_ATTEND_KV_TOTAL] /
                       sizes[SPRT_ATTEND_HEADS_TOTAL] -
                   sizes[SPRT_ATTEND_KV_FIRST];
  double scale;
  std::memcpy(&scale, &sizes.at[SPRT_ATTEND_SCALE], sizeof scale);
  if (sizes[SPRT_ATTEND_INIT]) {
    *lse = kEmpty;
    std::fill(o, o + kHead, 0.0F);
  }
  double sum = std::exp(*lse), weighted[kHead];
  for (int64_t d = 0; d < kHead; ++d)
    weighted[d] = o[d] * sum;
  const auto *slices =
      static_cast<const sprt_slice *>(buffers[SPRT_ATTEND_SLICES]);
  for (int64_t s = 0; s < sizes[SPRT_ATTEND_SLICE_COUNT]; ++s) {
    algebra::Interval keys = algebra::keysOf(slices[s], query);
    for (int64_t key = keys.begin; key < keys.end; ++key) {
      const float *k = static_cast<float *>(buffers[SPRT_ATTEND_K]) +
                       sizes.offset(SPRT_ATTEND_K_STRIDES, batch, key, kvHead);
      const float *v = static_cast<float *>(buffers[SPRT_ATTEND_V]) +
                       sizes.offset(SPRT_ATTEND_V_STRIDES, batch, key, kvHead);
      double score = 0;
      for (int64_t d = 0; d < kHead; ++d)
        score += static_cast<double>(q[d]) * k[d];
      double weight = std::exp(scale * score);
      sum += weight;
      for (int64_t d = 0; d < kHead; ++d)
        weighted[d] += weight * v[d];
    }
  }
  *lse = static_cast<float>(std::log(sum));
  for (int64_t d = 0; d < kHead; ++d)
    o[d] = sum > 0 ? static_cast<float>(weighted[d] / sum) : 0;
}

void attendTiles(void *const *buffers, const int64_t *raw, int64_t first,
                 int64_t last, void *) {
  tilesDone += static_cast<int>(last - first);
  Sizes sizes{raw};
  int64_t blocks = (sizes[SPRT_ATTEND_QUERIES] + kQueryBlock - 1) / kQueryBlock;
  for (int64_t tile = first; tile < last; ++tile) {
    int64_t pair = tile / blocks, begin = tile % blocks * kQueryBlock;
    for (int64_t query = begin;
         query < std::min(begin + kQueryBlock, sizes[SPRT_ATTEND_QUERIES]);
         ++query)
      attendQuery(buffers, sizes, pair / sizes[SPRT_ATTEND_HEADS],
                  pair % sizes[SPRT_ATTEND_HEADS], query);
  }
}

/// Ring attention of `length` tokens, 4 query heads, 2 kv heads.
struct Setting {
  int64_t ranks, length;
  plan::LayoutKind kind;
  bool causal;
  int threads;
};
constexpr int64_t kHeads = 4, kKvHeads = 2;

PlanBuilder ringAttention(const Setting &setting) {
  PlanBuilder builder(setting.ranks);
  uint32_t dealt = builder.layout(setting.kind, setting.length, setting.ranks);
  int deal = static_cast<int>(dealt);
  int64_t most = (setting.length + setting.ranks - 1) / setting.ranks;
  int64_t qRow = kHeads * kHead * 4, kvRow = kKvHeads * kHead * 4;
  int64_t half = most * kvRow, vAt = (half + 63) / 64 * 64, kvBytes = 2 * vAt;
  int64_t q = builder.arena(most * qRow), kv = builder.arena(2 * kvBytes);
  int64_t k = builder.arena(half), v = builder.arena(half);
  int64_t o = builder.arena(most * qRow),
          lse = builder.arena(most * kHeads * 4);
  using D = PlanBuilder::Dim;
  builder.input("q", plan::DType::f32,
                {D{setting.length, deal}, D{kHeads}, D{kHead}}, q);
  builder.input("k", plan::DType::f32,
                {D{setting.length, deal}, D{kKvHeads}, D{kHead}}, k);
  builder.input("v", plan::DType::f32,
                {D{setting.length, deal}, D{kKvHeads}, D{kHead}}, v);
  builder.result("o", plan::DType::f32,
                 {D{setting.length, deal}, D{kHeads}, D{kHead}}, o);
  for (int64_t part : {0, 1}) {
    plan::CopyT copy;
    copy.source = view(part ? v : k, half);
    copy.target = view(kv + part * vAt, half);
    builder.add(std::move(copy));
  }
  Expr t = Expr::counter(0), r = Expr::coordinate(0), n = setting.ranks;
  Expr owner = (r + t * -1 + n) % n, ownerNext = (r + t * -1 + (n + -1)) % n;
  Expr here = Expr(kv) + t % 2 * kvBytes,
       next = Expr(kv) + (t + 1) % 2 * kvBytes;
  plan::Band band(0, setting.length, 0, setting.length, INT64_MIN,
                  setting.causal ? 0 : INT64_MAX, false);
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = n.build();
  for (bool init : {true, false}) {
    plan::AttendT attend;
    attend.kernel = init ? builder.kernel("attend", attendTiles) : 0;
    attend.q = view(q, most * qRow);
    attend.k = view(here, half);
    attend.v = view(here + vAt, half);
    attend.out = view(o, most * qRow);
    attend.lse = view(lse, most * kHeads * 4);
    attend.batch = Expr(1).build();
    attend.heads = Expr(kHeads).build();
    attend.head_first = Expr(0).build();
    attend.heads_total = kHeads;
    attend.kv_first = Expr(0).build();
    attend.kv_total = kKvHeads;
    attend.queries = rows(dealt, r);
    attend.keys = rows(dealt, owner);
    attend.bands = {band};
    attend.scale = 0.5;
    attend.init = init;
    attend.q_strides = attend.o_strides = {0, kHeads * kHead, kHead};
    attend.k_strides = attend.v_strides = {0, kKvHeads * kHead, kHead};
    attend.lse_strides = {0, kHeads, 1};
    attend.query_block = kQueryBlock;
    attend.head_size = attend.value_size = kHead;
    builder.add(std::move(attend), &loop.body).when =
        init ? (t < 1).build() : (Expr(0) < t).build();
  }
  plan::SendRecvT shift;
  shift.to = ((r + 1) % n).build();
  shift.from = ((r + (n + -1)) % n).build();
  for (int64_t part : {0, 1}) {
    shift.sends.push_back(
        block(rowsOf(here + part * vAt, half, kvRow), rows(dealt, owner)));
    shift.receives.push_back(
        block(rowsOf(next + part * vAt, half, kvRow), rows(dealt, ownerNext)));
  }
  shift.needs = std::make_unique<plan::NeedsT>();
  shift.needs->queries = dealt;
  shift.needs->bands = {band};
  shift.needs->size = setting.ranks;
  shift.needs->hops = setting.ranks - 1;
  builder.add(std::move(shift), &loop.body).when = (t < n + -1).build();
  builder.add(std::move(loop));
  return builder;
}

std::vector<float> wave(int64_t count, double step) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  return values;
}

std::vector<float> reference(const Setting &setting,
                             const std::vector<float> &q,
                             const std::vector<float> &k,
                             const std::vector<float> &v) {
  std::vector<float> result(q.size());
  for (int64_t i = 0; i < setting.length; ++i)
    for (int64_t h = 0; h < kHeads; ++h) {
      double sum = 0, weighted[kHead] = {};
      for (int64_t j = 0; j < (setting.causal ? i + 1 : setting.length); ++j) {
        double score = 0;
        const float *key = k.data() + (j * kKvHeads + h / 2) * kHead,
                    *value = v.data() + (j * kKvHeads + h / 2) * kHead;
        for (int64_t d = 0; d < kHead; ++d)
          score += static_cast<double>(
                       q[static_cast<size_t>((i * kHeads + h) * kHead + d)]) *
                   key[d];
        double weight = std::exp(0.5 * score);
        sum += weight;
        for (int64_t d = 0; d < kHead; ++d)
          weighted[d] += weight * value[d];
      }
      for (int64_t d = 0; d < kHead; ++d)
        result[static_cast<size_t>((i * kHeads + h) * kHead + d)] =
            static_cast<float>(weighted[d] / sum);
    }
  return result;
}

void expectReference(const Setting &setting) {
  SCOPED_TRACE(std::to_string(setting.ranks) + " ranks, " +
               std::to_string(setting.length) + " tokens, layout " +
               std::to_string(int(setting.kind)) +
               (setting.causal ? ", causal" : ", full"));
  std::vector<float> q = wave(setting.length * kHeads * kHead, 0.37),
                     k = wave(setting.length * kKvHeads * kHead, 0.73),
                     v = wave(setting.length * kKvHeads * kHead, 1.1);
  Runner runner(ringAttention(setting), setting.threads);
  ASSERT_EQ(runner.run({q, k, v}), "");
  std::vector<float> expected = reference(setting, q, k, v);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(runner.results[0][i], expected[i], 1e-5) << i;
}

TEST(Attend, ringEqualsDense) {
  for (plan::LayoutKind kind :
       {plan::LayoutKind::contiguous, plan::LayoutKind::zigzag,
        plan::LayoutKind::striped})
    for (bool causal : {false, true})
      for (int64_t ranks : {1, 2, 3, 4, 7})
        for (int64_t length : {1, 5, 13, 24})
          expectReference({ranks, length, kind, causal, 1});
}

TEST(Attend, threadsOfARankShareTiles) {
  expectReference({1, 29, plan::LayoutKind::contiguous, true, 4});
  expectReference({2, 29, plan::LayoutKind::zigzag, true, 3});
}

TEST(Attend, emptyStepsComputeAndMoveNothing) {
  // Contiguous and causal: rank r sees the blocks of ranks 0..r only.
  Setting setting{4, 8, plan::LayoutKind::contiguous, true, 1};
  Runner runner(ringAttention(setting));
  tilesDone = 0;
  ASSERT_EQ(runner.run({wave(8 * 16, 0.3), wave(8 * 8, 0.5), wave(8 * 8, 0.7)}),
            "");
  EXPECT_EQ(tilesDone, (1 + 2 + 3 + 4) * kHeads);
  // A block travels from its owner to the last rank: rank r hands on r + 1
  // blocks of k and v, 2 rows each; the last rank none.
  int64_t blockBytes = 2 * 2 * kKvHeads * kHead * 4;
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(runner.statistics(rank).bytes_sent,
              rank == 3 ? 0 : (rank + 1) * blockBytes)
        << rank;
}

} // namespace
} // namespace sprt::test
