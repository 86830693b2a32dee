// Commands that compute: kernels, attention, GEMMs, and small moves of memory.

#include "executor/StreamRun.h"
#include "tiles/Gemm.h"

#include <algorithm>
#include <cstring>

namespace sprt {

namespace {

/// How much of a tile of gradients is done between two looks at whether the run
/// goes on: pairs of queries and keys times elements of both, a tenth of a
/// second or so.
constexpr algebra::Area kPartWork = algebra::Area(1) << 32;
/// Blocks of keys that kernels work on are no larger, or divide it.
constexpr int64_t kKeyBlock = 512;

/// Keys of a tile that do at a time, where each pair is `work`.
int64_t keysAtOnce(const std::vector<sprt_slice> &slices, int64_t keys,
                   int64_t work) {
  algebra::Area parts =
      algebra::area(slices) * static_cast<algebra::Area>(work) / kPartWork + 1;
  algebra::Area blocks =
      static_cast<algebra::Area>(keys) / parts / kKeyBlock + 1;
  return static_cast<int64_t>(blocks) * kKeyBlock;
}

/// That what a kernel writes is nobody else's: its code relies on that.
Status checkApart(const plan::LaunchT &launch,
                  const plan::SignatureT *signature, void *const *buffers) {
  if (!signature)
    return Status::success();
  auto takenBy = [&](size_t i) {
    return Taken{"", static_cast<std::byte *>(buffers[i]),
                 signature->operands[i].bytes()};
  };
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    for (size_t other = 0; signature->operands[i].written() && other < i;
         ++other)
      if (takenBy(i).overlaps(takenBy(other)))
        return fail(SPRT_DAMAGED)
               << "buffer " << i << " of kernel \"" << signature->symbol
               << "\", which it writes, overlaps with "
               << "buffer " << other;
  return Status::success();
}

/// Adds what a score function reads, or its gradients, to a kernel's buffers
/// and sizes.
Status addTerms(const Rank &rank, const Scope &scope,
                const std::vector<std::unique_ptr<plan::ScoreTermT>> &terms,
                const AttendShape &shape, std::vector<void *> &buffers,
                std::vector<int64_t> &sizes) {
  for (const auto &term : terms) {
    std::byte *data = nullptr;
    if (Status failure = rank.resolve(*term->view, scope, data))
      return failure;
    buffers.push_back(data + shape.headFirst * term->head_bytes);
    sizes.insert(sizes.end(), term->strides.begin(), term->strides.end());
  }
  return Status::success();
}

} // namespace

Status StreamRun::compute(int64_t tiles, const TilePool::Work &work) {
  cpu.pool->run(tiles, work);
  return cpu.pool->isLate() ? tooLong("a kernel") : Status::success();
}

Status StreamRun::launch(const plan::LaunchT &launch) {
  constexpr size_t kFew = 32;
  void *few[kFew];
  std::vector<void *> many;
  void **buffers = few;
  if (launch.buffers.size() > kFew) {
    many.resize(launch.buffers.size());
    buffers = many.data();
  }
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    std::byte *data = nullptr;
    if (Status failure = aligned(*launch.buffers[i], data))
      return failure;
    buffers[i] = data;
  }
  if (Status failure =
          checkApart(launch, program.signatureOf[launch.kernel], buffers))
    return failure;
  sprt_kernel kernel = program.kernels[launch.kernel];
  return compute(launch.tiles, [&](int64_t first, int64_t last, int worker) {
    kernel(buffers, nullptr, first, last, cpu.scratch(worker));
  });
}

template <typename TableT>
std::pair<SliceTable &, bool> StreamRun::slicesOf(const Step &step,
                                                  const TableT &attend,
                                                  const AttendShape &shape) {
  auto [entry, added] = cpu.slices[number].try_emplace(
      {step.id, here.number(), shape.queryOwner, shape.keyOwner});
  SliceTable &table = entry->second;
  if (!added)
    return {table, false};
  const algebra::Layout &queries = here.layout(attend.queries->layout);
  const algebra::Layout &keys = here.layout(attend.keys->layout);
  table.slices = here.mask(program, step)
                     .restrict(queries, shape.queryOwner, keys, shape.keyOwner);
  if (attend.scored)
    for (auto [positions, layout, owner] :
         {std::tuple(&table.queryPositions, &queries, shape.queryOwner),
          std::tuple(&table.keyPositions, &keys, shape.keyOwner)})
      for (int64_t position : positionsOf(*layout, owner))
        positions->push_back(static_cast<int32_t>(position));
  return {table, true};
}

Status StreamRun::attend(const Step &step, const plan::AttendT &attend) {
  AttendShape shape;
  if (Status failure = shapeOf(attend, shape))
    return failure;
  std::pair<SliceTable &, bool> slices = slicesOf(step, attend, shape);
  SliceTable &table = slices.first;
  if (slices.second)
    table.ranges = rangesOf(table.slices, shape.queries, attend.query_block);
  if (slices.second && cpu.pool->threads() > 1)
    table.order = orderBlocks(table.slices, shape.queries, attend.query_block,
                              attend.order);
  int64_t blocks = shape.blocks, pairs = shape.pairs();
  if (pairs * blocks == 0 || (table.slices.empty() && !attend.init))
    return Status::success();

  std::vector<void *> buffers(SPRT_ATTEND_BUFFERS);
  size_t next = SPRT_ATTEND_Q;
  for (const auto *view :
       {&attend.q, &attend.k, &attend.v, &attend.out, &attend.lse}) {
    std::byte *data = nullptr;
    if (Status failure = aligned(**view, data))
      return failure;
    buffers[next++] = data;
  }
  buffers[SPRT_ATTEND_QUERY_POSITIONS] =
      const_cast<int32_t *>(table.queryPositions.data());
  buffers[SPRT_ATTEND_KEY_POSITIONS] =
      const_cast<int32_t *>(table.keyPositions.data());

  std::vector<int64_t> sizes(SPRT_ATTEND_SIZES);
  sizes[SPRT_ATTEND_BATCH] = shape.batch;
  sizes[SPRT_ATTEND_HEADS] = shape.heads;
  sizes[SPRT_ATTEND_QUERIES] = shape.queries;
  sizes[SPRT_ATTEND_KEYS] = shape.keys;
  sizes[SPRT_ATTEND_HEAD_FIRST] = shape.headFirst;
  sizes[SPRT_ATTEND_HEADS_TOTAL] = attend.heads_total;
  sizes[SPRT_ATTEND_KV_FIRST] = shape.kvFirst;
  sizes[SPRT_ATTEND_KV_TOTAL] = attend.kv_total;
  sizes[SPRT_ATTEND_INIT] = attend.init;
  std::memcpy(&sizes[SPRT_ATTEND_SCALE], &attend.scale, sizeof attend.scale);
  auto to = sizes.begin() + SPRT_ATTEND_Q_STRIDES;
  for (const auto *strides :
       {&attend.q_strides, &attend.k_strides, &attend.v_strides,
        &attend.o_strides, &attend.lse_strides})
    to = std::copy(strides->begin(), strides->end(), to);
  if (Status failure =
          addTerms(rank, scope, attend.terms, shape, buffers, sizes))
    return failure;

  sprt_kernel kernel = program.kernels[attend.kernel];
  // Job i is block order[i / pairs] of pair i mod pairs: heavy blocks start
  // first.
  return compute(pairs * blocks, [&](int64_t first, int64_t last, int worker) {
    std::vector<void *> ownBuffers = buffers;
    std::vector<int64_t> ownSizes = sizes;
    for (int64_t job = first; job < last && !cpu.pool->stopped(); ++job) {
      int64_t tile = job;
      if (!table.order.empty())
        tile = job % pairs * blocks +
               table.order[static_cast<size_t>(job / pairs)];
      auto [begin, end] = table.ranges[static_cast<size_t>(tile % blocks)];
      ownBuffers[SPRT_ATTEND_SLICES] = table.slices.data() + begin;
      ownSizes[SPRT_ATTEND_SLICE_COUNT] = static_cast<int64_t>(end - begin);
      kernel(ownBuffers.data(), ownSizes.data(), tile, tile + 1,
             cpu.scratch(worker));
    }
  });
}

Status StreamRun::attendBackward(const Step &step,
                                 const plan::AttendBackwardT &backward) {
  AttendShape shape;
  if (Status failure = shapeOf(backward, shape))
    return failure;
  std::vector<void *> buffers(SPRT_BACKWARD_BUFFERS);
  if (Status failure = resolve(backward, shape, buffers))
    return failure;
  SliceTable &table = slicesOf(step, backward, shape).first;
  if (table.slices.empty() && !backward.init_queries && !backward.init_keys)
    return Status::success();
  buffers[SPRT_BACKWARD_QUERY_POSITIONS] =
      const_cast<int32_t *>(table.queryPositions.data());
  buffers[SPRT_BACKWARD_KEY_POSITIONS] =
      const_cast<int32_t *>(table.keyPositions.data());

  std::vector<int64_t> sizes(SPRT_BACKWARD_SIZES);
  sizes[SPRT_BACKWARD_BATCH] = shape.batch;
  sizes[SPRT_BACKWARD_HEADS] = shape.heads;
  sizes[SPRT_BACKWARD_KV_HEADS] = shape.kvHeads;
  sizes[SPRT_BACKWARD_QUERIES] = shape.queries;
  sizes[SPRT_BACKWARD_KEYS] = shape.keys;
  sizes[SPRT_BACKWARD_HEAD_FIRST] = shape.headFirst;
  sizes[SPRT_BACKWARD_HEADS_TOTAL] = backward.heads_total;
  sizes[SPRT_BACKWARD_KV_FIRST] = shape.kvFirst;
  sizes[SPRT_BACKWARD_KV_TOTAL] = backward.kv_total;
  std::memcpy(&sizes[SPRT_BACKWARD_SCALE], &backward.scale,
              sizeof backward.scale);
  auto to = sizes.begin() + SPRT_BACKWARD_Q_STRIDES;
  for (const auto *strides :
       {&backward.q_strides, &backward.k_strides, &backward.v_strides,
        &backward.d_out_strides, &backward.lse_strides, &backward.delta_strides,
        &backward.dq_strides, &backward.dk_strides, &backward.dv_strides})
    to = std::copy(strides->begin(), strides->end(), to);
  for (const auto *terms : {&backward.terms, &backward.term_gradients})
    if (Status failure = addTerms(rank, scope, *terms, shape, buffers, sizes))
      return failure;

  sprt_kernel kernel = program.kernels[backward.kernel];
  if (table.parts.empty())
    table.parts = splitKeys(
        table.slices, shape.keys,
        keysAtOnce(table.slices, shape.keys,
                   (shape.heads / std::max<int64_t>(shape.kvHeads, 1) + 1) *
                       (backward.head_size + backward.value_size)));
  auto runPart = [&](size_t number, int64_t tile, std::byte *scratch) {
    std::vector<sprt_slice> &part = table.parts[number];
    std::vector<void *> ownBuffers = buffers;
    std::vector<int64_t> ownSizes = sizes;
    ownBuffers[SPRT_BACKWARD_SLICES] = part.data();
    ownSizes[SPRT_BACKWARD_SLICE_COUNT] = static_cast<int64_t>(part.size());
    ownSizes[SPRT_BACKWARD_INIT_QUERIES] = backward.init_queries && number == 0;
    ownSizes[SPRT_BACKWARD_INIT_KEYS] = backward.init_keys && number == 0;
    kernel(ownBuffers.data(), ownSizes.data(), tile, tile + 1, scratch);
  };
  return compute(shape.batch * shape.kvHeads, [&](int64_t first, int64_t last,
                                                  int worker) {
    for (int64_t tile = first; tile < last; ++tile)
      for (size_t i = 0; i < table.parts.size() && !cpu.pool->stopped(); ++i)
        runPart(i, tile, cpu.scratch(worker));
  });
}

Status StreamRun::multiply(const plan::GemmT &gemm, const GemmData &data) {
  if (Status failure = runGemm(gemm, data, *cpu.pool))
    return failure;
  return cpu.pool->isLate() ? tooLong("a product") : Status::success();
}

Status StreamRun::move(const Message &target, const Message &source) {
  if (!target.empty() && cpu.isFar(target[0].base, source[0].base))
    return cpu.copy(target[0].base, source[0].base, messageBytes(target));
  copyMessage(target, source);
  return Status::success();
}

Status StreamRun::fill(std::byte *target, uint8_t value, int64_t bytes) {
  std::memset(target, value, static_cast<size_t>(bytes));
  return Status::success();
}

Status StreamRun::write(std::byte *target,
                        const std::vector<std::byte> &bytes) {
  std::memcpy(target, bytes.data(), bytes.size());
  return Status::success();
}

} // namespace sprt
