#include "BackwardRing.h"

#include "sprt/algebra/Slices.h"
#include "sprt/kernel.h"

#include <cmath>
#include <cstring>

namespace sprt::test {

using namespace backward;

std::atomic<int> backwardTilesDone{0};

namespace {

struct Call {
  void *const *buffers;
  const int64_t *sizes;

  /// The row of a buffer.
  float *row(int buffer, int64_t batch, int64_t row, int64_t head) const {
    int strides = SPRT_BACKWARD_Q_STRIDES + 3 * buffer;
    return static_cast<float *>(buffers[buffer]) + batch * sizes[strides] +
           row * sizes[strides + 1] + head * sizes[strides + 2];
  }

  void clear(int buffer, int64_t batch, int64_t rows, int64_t head,
             int64_t inner) const {
    for (int64_t i = 0; i < rows; ++i)
      std::fill_n(row(buffer, batch, i, head), inner, 0.0F);
  }

  /// One pair of a query and a key.
  void pair(int64_t batch, int64_t head, int64_t kvHead, int64_t query,
            int64_t key) const {
    double scale;
    std::memcpy(&scale, &sizes[SPRT_BACKWARD_SCALE], sizeof scale);
    const float *q = row(SPRT_BACKWARD_Q, batch, query, head),
                *k = row(SPRT_BACKWARD_K, batch, key, kvHead),
                *v = row(SPRT_BACKWARD_V, batch, key, kvHead),
                *dOut = row(SPRT_BACKWARD_DO, batch, query, head);
    float *dq = row(SPRT_BACKWARD_DQ, batch, query, head),
          *dk = row(SPRT_BACKWARD_DK, batch, key, kvHead),
          *dv = row(SPRT_BACKWARD_DV, batch, key, kvHead);
    double score = 0, dPower = 0;
    for (int64_t d = 0; d < kHead; ++d)
      score += static_cast<double>(q[d]) * k[d];
    for (int64_t d = 0; d < kValue; ++d)
      dPower += static_cast<double>(dOut[d]) * v[d];
    double power = std::exp(scale * score -
                            *row(SPRT_BACKWARD_LSE, batch, query, head)),
           dScore = power * scale *
                    (dPower - *row(SPRT_BACKWARD_DELTA, batch, query, head));
    for (int64_t d = 0; d < kHead; ++d) {
      dq[d] += static_cast<float>(dScore * k[d]);
      dk[d] += static_cast<float>(dScore * q[d]);
    }
    for (int64_t d = 0; d < kValue; ++d)
      dv[d] += static_cast<float>(power * dOut[d]);
  }
};

void backwardTile(const Call &call, int64_t batch, int64_t kvHead) {
  const int64_t *sizes = call.sizes;
  if (sizes[SPRT_BACKWARD_INIT_KEYS]) {
    call.clear(SPRT_BACKWARD_DK, batch, sizes[SPRT_BACKWARD_KEYS], kvHead,
               kHead);
    call.clear(SPRT_BACKWARD_DV, batch, sizes[SPRT_BACKWARD_KEYS], kvHead,
               kValue);
  }
  const auto *slices =
      static_cast<const sprt_slice *>(call.buffers[SPRT_BACKWARD_SLICES]);
  for (int64_t head = 0; head < sizes[SPRT_BACKWARD_HEADS]; ++head) {
    if ((sizes[SPRT_BACKWARD_HEAD_FIRST] + head) *
                sizes[SPRT_BACKWARD_KV_TOTAL] /
                sizes[SPRT_BACKWARD_HEADS_TOTAL] -
            sizes[SPRT_BACKWARD_KV_FIRST] !=
        kvHead)
      continue;
    if (sizes[SPRT_BACKWARD_INIT_QUERIES])
      call.clear(SPRT_BACKWARD_DQ, batch, sizes[SPRT_BACKWARD_QUERIES], head,
                 kHead);
    for (int64_t s = 0; s < sizes[SPRT_BACKWARD_SLICE_COUNT]; ++s)
      for (int64_t query = slices[s].q0; query < slices[s].q1; ++query) {
        algebra::Interval keys = algebra::keysOf(slices[s], query);
        for (int64_t key = keys.begin; key < keys.end; ++key)
          call.pair(batch, head, kvHead, query, key);
      }
  }
}

void backwardTiles(void *const *buffers, const int64_t *sizes, int64_t first,
                   int64_t last, void *) {
  backwardTilesDone += static_cast<int>(last - first);
  for (int64_t tile = first; tile < last; ++tile)
    backwardTile({buffers, sizes}, tile / sizes[SPRT_BACKWARD_KV_HEADS],
                 tile % sizes[SPRT_BACKWARD_KV_HEADS]);
}

/// What one step of the ring does; `init` is the first.
plan::AttendBackwardT stepOf(const BackwardRing &ring, int64_t most) {
  plan::AttendBackwardT step;
  step.batch = Expr(1).build();
  step.heads = Expr(kHeads).build();
  step.head_first = Expr(0).build();
  step.heads_total = kHeads;
  step.kv_heads = Expr(kKvHeads).build();
  step.kv_first = Expr(0).build();
  step.kv_total = kKvHeads;
  step.bands = {plan::Band(0, ring.length, 0, ring.length, INT64_MIN,
                           ring.causal ? 0 : INT64_MAX, false)};
  step.scale = kScale;
  auto strides = [&](int64_t heads, int64_t inner) {
    return std::vector<int64_t>{most * heads * inner, heads * inner, inner};
  };
  step.q_strides = step.dq_strides = strides(kHeads, kHead);
  step.k_strides = step.dk_strides = strides(kKvHeads, kHead);
  step.v_strides = step.dv_strides = strides(kKvHeads, kValue);
  step.d_out_strides = strides(kHeads, kValue);
  step.lse_strides = step.delta_strides = strides(kHeads, 1);
  step.head_size = kHead;
  step.value_size = kValue;
  step.type = plan::DType::f32;
  return step;
}

} // namespace

PlanBuilder backwardRing(const BackwardRing &ring) {
  PlanBuilder builder(ring.ranks);
  uint32_t dealt = builder.layout(ring.kind, ring.length, ring.ranks);
  int deal = static_cast<int>(dealt);
  int64_t most = (ring.length + ring.ranks - 1) / ring.ranks;
  using D = PlanBuilder::Dim;
  auto give = [&](const char *name, int64_t heads, int64_t inner) {
    int64_t at = builder.arena(most * heads * inner * 4);
    builder.input(name, plan::DType::f32,
                  {D{ring.length, deal}, D{heads}, D{inner}}, at);
    return at;
  };
  int64_t q = give("q", kHeads, kHead), k = give("k", kKvHeads, kHead),
          v = give("v", kKvHeads, kValue), dOut = give("do", kHeads, kValue),
          lse = give("lse", kHeads, 1), delta = give("delta", kHeads, 1);
  auto take = [&](const char *name, int64_t heads, int64_t inner) {
    int64_t at = builder.arena(most * heads * inner * 4);
    builder.result(name, plan::DType::f32,
                   {D{ring.length, deal}, D{heads}, D{inner}}, at);
    return at;
  };
  int64_t dq = take("dq", kHeads, kHead), dk = take("dk", kKvHeads, kHead),
          dv = take("dv", kKvHeads, kValue);
  // What travels: k, v, dk and dv, each in two places in turn.
  struct Block {
    int64_t rowBytes, bytes, at, slot;
  };
  std::vector<Block> blocks;
  for (int64_t inner : {kHead, kValue, kHead, kValue}) {
    int64_t rowBytes = kKvHeads * inner * 4, bytes = most * rowBytes;
    int64_t slot = (bytes + 63) / 64 * 64;
    blocks.push_back({rowBytes, bytes, builder.arena(2 * slot), slot});
  }
  Expr t = Expr::counter(0), r = Expr::coordinate(0), n = ring.ranks;
  auto here = [&](const Block &block) {
    return view(Expr(block.at) + t % 2 * block.slot, block.bytes);
  };
  auto copy = [&](std::unique_ptr<plan::ViewT> from,
                  std::unique_ptr<plan::ViewT> to) {
    plan::CopyT copy;
    copy.source = std::move(from);
    copy.target = std::move(to);
    builder.add(std::move(copy));
  };
  for (auto [from, block] : {std::pair(k, blocks[0]), {v, blocks[1]}})
    copy(view(from, block.bytes), view(block.at, block.bytes));

  Expr owner = (r + t * -1 + n) % n, ownerNext = (r + t * -1 + (n + -1)) % n;
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = n.build();
  uint32_t kernel = builder.kernel("attend_backward", backwardTiles);
  for (bool init : {true, false}) {
    plan::AttendBackwardT step = stepOf(ring, most);
    step.kernel = kernel;
    step.q = view(q, most * kHeads * kHead * 4);
    step.k = here(blocks[0]);
    step.v = here(blocks[1]);
    step.d_out = view(dOut, most * kHeads * kValue * 4);
    step.lse = view(lse, most * kHeads * 4);
    step.delta = view(delta, most * kHeads * 4);
    step.dq = view(dq, most * kHeads * kHead * 4);
    step.dk = here(blocks[2]);
    step.dv = here(blocks[3]);
    step.queries = rows(dealt, r);
    step.keys = rows(dealt, owner);
    step.init_queries = step.init_keys = init;
    plan::CommandT &command = builder.add(std::move(step), &loop.body);
    command.when = init ? (t < 1).build() : (Expr(0) < t).build();
    command.name = "layer0";
  }
  // Keys end their way one hop earlier than their gradients.
  for (size_t first : {size_t(0), size_t(2)}) {
    plan::SendRecvT shift;
    shift.to = ((r + 1) % n).build();
    shift.from = ((r + (n + -1)) % n).build();
    for (size_t i = first; i < first + 2; ++i) {
      auto slot = [&](const Expr &turn, const Expr &whose) {
        return block(rowsOf(Expr(blocks[i].at) + turn % 2 * blocks[i].slot,
                            blocks[i].bytes, blocks[i].rowBytes),
                     rows(dealt, whose));
      };
      shift.sends.push_back(slot(t, owner));
      shift.receives.push_back(slot(t + 1, ownerNext));
    }
    builder.add(std::move(shift), &loop.body).when =
        (t < n + (first == 0 ? -1 : 0)).build();
  }
  builder.add(std::move(loop));
  for (auto [block, to] : {std::pair(blocks[2], dk), {blocks[3], dv}})
    copy(view(block.at + ring.ranks % 2 * block.slot, block.bytes),
         view(to, block.bytes));
  return builder;
}

plan::AttendBackwardT &backwardOf(plan::PlanT &plan, size_t number) {
  return *plan.commands[2]
              ->operation.AsLoop()
              ->body[number]
              ->operation.AsAttendBackward();
}

} // namespace sprt::test
