#include "CudaRing.h"

#include "sprt/cuda/AttentionArguments.h"
#include "support/Types.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace sprt::test {

std::atomic<int> cudaRingLaunches{0};

namespace {

using cuda::ForwardArguments;
using cuda::TensorMap;
using cuda::TensorMapFields;

constexpr int64_t kQueryBlock = 3, kKeyBlock = 16;
constexpr double kScale = 0.5;

double element(const TensorMap &map, int64_t inner, int64_t row, int64_t head,
               int64_t batch) {
  TensorMapFields fields;
  std::memcpy(&fields, &map, sizeof fields);
  if (row >= fields.sizes[1] || head < 0 || head >= fields.sizes[2])
    return std::nan("");
  uint16_t bits;
  std::memcpy(&bits,
              static_cast<char *>(fields.base) + 2 * inner +
                  row * fields.strides[0] + head * fields.strides[1] +
                  batch * fields.strides[2],
              sizeof bits);
  return bf16ToFloat(bits);
}

bool visible(const cuda::Slice &slice, int64_t query, int64_t key) {
  int64_t from = slice.qStride * query, to = slice.kStride * key;
  return query >= slice.q0 && query < slice.q1 && key >= slice.k0 &&
         key < slice.k1 && (slice.lo == INT32_MIN || to >= from + slice.lo) &&
         (slice.hi == INT32_MAX || to <= from + slice.hi);
}

/// One query: adds the visible keys of its block's slices to its state.
void attendQuery(const ForwardArguments &a, int64_t place, int64_t batch,
                 int64_t head, int64_t query) {
  float *o = static_cast<float *>(a.out) + batch * a.outStrides[0] +
             query * a.outStrides[1] + head * a.outStrides[2];
  float *lse = static_cast<float *>(a.lse) + batch * a.lseStrides[0] +
               query * a.lseStrides[1] + head * a.lseStrides[2];
  int64_t kvHead = (a.headFirst + head) * a.kvTotal / a.headsTotal - a.kvFirst;
  double sum = a.init ? 0 : std::exp(*lse), weighted[kRingHead];
  for (int64_t d = 0; d < kRingHead; ++d)
    weighted[d] = a.init ? 0 : o[d] * sum;
  for (int s = a.ranges[2 * place]; s < a.ranges[2 * place + 1]; ++s)
    for (int64_t key = a.slices[s].k0; key < a.slices[s].k1; ++key) {
      if (!visible(a.slices[s], query, key))
        continue;
      double score = 0;
      for (int64_t d = 0; d < kRingHead; ++d)
        score += element(a.q, d, query, head, batch) *
                 element(a.k, d, key, kvHead, batch);
      double weight = std::exp2(a.scale * score);
      sum += weight;
      for (int64_t d = 0; d < kRingHead; ++d)
        weighted[d] += weight * element(a.v, d, key, kvHead, batch);
    }
  *lse = static_cast<float>(std::log(sum));
  for (int64_t d = 0; d < kRingHead; ++d)
    o[d] = sum > 0 ? static_cast<float>(weighted[d] / sum) : 0;
}

int attendBlocks(const void *raw, int64_t blocks, uint64_t, char *error,
                 int64_t errorBytes) {
  ++cudaRingLaunches;
  const auto &a = *static_cast<const ForwardArguments *>(raw);
  int64_t items = int64_t(a.pairs) * a.queryBlocks;
  if (blocks < 1 || blocks > items || a.heads != kRingHeads) {
    std::snprintf(error, static_cast<size_t>(errorBytes), "%d blocks of %d",
                  int(blocks), int(items));
    return 1;
  }
  if (!a.ranges || !a.counter || *a.counter != 0) {
    std::snprintf(error, static_cast<size_t>(errorBytes),
                  "no ranges, or no counter at 0");
    return 1;
  }
  int64_t item = 0;
  while ((item = (*a.counter)++) < items) {
    int64_t pair = item % a.pairs, place = item / a.pairs,
            first = a.order[place] * kQueryBlock;
    for (int64_t query = first;
         query < std::min<int64_t>(first + kQueryBlock, a.queries); ++query)
      attendQuery(a, place, pair / a.heads, pair % a.heads, query);
  }
  *a.counter = 0;
  return 0;
}

/// bf16 values, two in the bytes of a float.
std::vector<float> packed(const std::vector<double> &values) {
  std::vector<float> result((values.size() + 1) / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = floatToBf16(static_cast<float>(values[i]));
    std::memcpy(reinterpret_cast<char *>(result.data()) + 2 * i, &bits, 2);
  }
  return result;
}

std::vector<double> wave(int64_t count, double step) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = bf16ToFloat(floatToBf16(
        static_cast<float>(std::sin(step * static_cast<double>(i)))));
  return values;
}

} // namespace

PlanBuilder cudaRing(const RingSetting &setting) {
  PlanBuilder builder(setting.ranks);
  uint32_t dealt = builder.layout(setting.kind, setting.length, setting.ranks);
  int deal = static_cast<int>(dealt);
  int64_t most = (setting.length + setting.ranks - 1) / setting.ranks;
  int64_t qBytes = most * kRingHeads * kRingHead * 2, oBytes = 2 * qBytes;
  int64_t kvRow = kRingKvHeads * kRingHead * 2, half = most * kvRow;
  int64_t vAt = (half + 63) / 64 * 64;
  int64_t q = builder.arena(qBytes), kv = builder.arena(4 * vAt);
  int64_t k = builder.arena(half), v = builder.arena(half);
  int64_t o = builder.arena(oBytes), lse = builder.arena(most * kRingHeads * 4);
  using D = PlanBuilder::Dim;
  builder.input("q", plan::DType::bf16,
                {D{setting.length, deal}, D{kRingHeads}, D{kRingHead}}, q);
  for (auto [name, at] : {std::pair("k", k), {"v", v}})
    builder.input(name, plan::DType::bf16,
                  {D{setting.length, deal}, D{kRingKvHeads}, D{kRingHead}}, at);
  builder.result("o", plan::DType::f32,
                 {D{setting.length, deal}, D{kRingHeads}, D{kRingHead}}, o);
  int32_t arrived = static_cast<int32_t>(builder.event()),
          computed = static_cast<int32_t>(builder.event());
  for (int64_t part : {0, 1}) {
    plan::CopyT copy;
    copy.source = view(part ? v : k, half);
    copy.target = view(kv + part * vAt, half);
    builder.add(std::move(copy)).records = computed;
  }
  Expr t = Expr::counter(0), r = Expr::coordinate(0), n = setting.ranks;
  Expr owner = (r + t * -1 + n) % n, ownerNext = (r + t * -1 + (n + -1)) % n;
  Expr here = Expr(kv) + t % 2 * (2 * vAt),
       next = Expr(kv) + (t + 1) % 2 * (2 * vAt);
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = n.build();
  plan::SendRecvT shift;
  shift.to = ((r + 1) % n).build();
  shift.from = ((r + (n + -1)) % n).build();
  for (int64_t part : {0, 1}) {
    shift.sends.push_back(
        block(rowsOf(here + part * vAt, half, kvRow), rows(dealt, owner)));
    shift.receives.push_back(
        block(rowsOf(next + part * vAt, half, kvRow), rows(dealt, ownerNext)));
  }
  plan::Band mask(0, setting.length, 0, setting.length, INT64_MIN,
                  setting.causal ? 0 : INT64_MAX, false);
  shift.needs = std::make_unique<plan::NeedsT>();
  shift.needs->queries = dealt;
  shift.needs->bands = {mask};
  shift.needs->size = setting.ranks;
  shift.needs->hops = setting.ranks - 1;
  plan::CommandT &move = builder.add(std::move(shift), &loop.body);
  move.when = (t < n + -1).build();
  move.stream = plan::Stream::comm;
  move.waits = {static_cast<uint32_t>(computed)};
  move.records = arrived;
  uint32_t kernel = builder.kernel("attend", nullptr);
  builder.emulateAttention("attend", attendBlocks);
  for (bool init : {true, false}) {
    plan::AttendT attend;
    attend.kernel = kernel;
    attend.q = view(q, qBytes);
    attend.k = view(here, half);
    attend.v = view(here + vAt, half);
    attend.out = view(o, oBytes);
    attend.lse = view(lse, most * kRingHeads * 4);
    attend.batch = Expr(1).build();
    attend.heads = Expr(kRingHeads).build();
    attend.head_first = Expr(0).build();
    attend.kv_first = Expr(0).build();
    attend.heads_total = kRingHeads;
    attend.kv_total = kRingKvHeads;
    attend.queries = rows(dealt, r);
    attend.keys = rows(dealt, owner);
    attend.bands = {mask};
    attend.scale = kScale;
    attend.init = init;
    attend.q_strides =
        attend.o_strides = {0, kRingHeads * kRingHead, kRingHead};
    attend.k_strides =
        attend.v_strides = {0, kRingKvHeads * kRingHead, kRingHead};
    attend.lse_strides = {0, kRingHeads, 1};
    attend.query_block = kQueryBlock;
    attend.key_block = kKeyBlock;
    attend.head_size = attend.value_size = kRingHead;
    plan::CommandT &command = builder.add(std::move(attend), &loop.body);
    command.name = init ? "first" : "onward";
    command.when = init ? (t < 1).build() : (Expr(0) < t).build();
    command.records = computed;
  }
  builder.add(plan::SyncT(), &loop.body).waits = {
      static_cast<uint32_t>(arrived)};
  builder.add(std::move(loop));
  return std::move(builder.target(plan::Target::cuda));
}

RingInputs::RingInputs(int64_t length)
    : q(wave(length * kRingHeads * kRingHead, 0.37)),
      k(wave(length * kRingKvHeads * kRingHead, 0.73)),
      v(wave(length * kRingKvHeads * kRingHead, 1.1)) {}

std::vector<std::vector<float>> RingInputs::arrays() const {
  return {packed(q), packed(k), packed(v)};
}

double RingInputs::expected(const RingSetting &setting, int64_t row,
                            int64_t head, int64_t inner) const {
  double sum = 0, weighted = 0;
  for (int64_t j = 0; j < (setting.causal ? row + 1 : setting.length); ++j) {
    size_t key = static_cast<size_t>((j * kRingKvHeads + head / 2) * kRingHead);
    double score = 0;
    for (size_t e = 0; e < kRingHead; ++e)
      score +=
          q[static_cast<size_t>((row * kRingHeads + head) * kRingHead) + e] *
          k[key + e];
    double weight = std::exp(kScale * score);
    sum += weight;
    weighted += weight * v[key + static_cast<size_t>(inner)];
  }
  return weighted / sum;
}

} // namespace sprt::test
