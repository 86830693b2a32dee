// Commands that compute: kernels, attention, GEMMs, and small moves of memory.

#include "executor/Gemm.h"
#include "executor/StreamRun.h"

#include <algorithm>
#include <cstring>

namespace sprt {

namespace {

/// Pairs that a block of queries sees: what its tiles cost.
algebra::Area blockArea(const std::vector<sprt_slice> &slices, int64_t first,
                        int64_t last) {
  algebra::Area total = 0;
  for (sprt_slice slice : slices) {
    slice.q0 = std::max(slice.q0, first);
    slice.q1 = std::min(slice.q1, last);
    if (slice.q0 < slice.q1)
      total += algebra::area(slice);
  }
  return total;
}

std::vector<int64_t> heaviestFirst(const std::vector<sprt_slice> &slices,
                                   int64_t queries, int64_t block) {
  std::vector<std::pair<algebra::Area, int64_t>> blocks;
  for (int64_t first = 0; first < queries; first += block)
    blocks.emplace_back(
        blockArea(slices, first, std::min(first + block, queries)),
        first / block);
  std::sort(blocks.begin(), blocks.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<int64_t> order;
  for (const auto &entry : blocks)
    order.push_back(entry.second);
  return order;
}

std::vector<int64_t> positionsOf(const algebra::Layout &layout, int64_t owner) {
  std::vector<int64_t> positions;
  for (const algebra::Range &range : layout.ranges(owner))
    for (int64_t i = 0; i < range.count; ++i)
      positions.push_back(range.at(i));
  return positions;
}

template <typename T>
void writeRows(std::byte *target, const std::vector<int64_t> &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value = static_cast<T>(values[i]);
    std::memcpy(target + i * sizeof value, &value, sizeof value);
  }
}

} // namespace

Status StreamRun::aligned(const plan::ViewT &view, std::byte *&out_data) const {
  if (Status failure = rank.resolve(view, scope, out_data))
    return failure;
  if (reinterpret_cast<uintptr_t>(out_data) % 64 != 0)
    return fail(SPRT_DAMAGED) << "a kernel's buffer is not 64-byte aligned";
  return Status::success();
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
  sprt_kernel kernel = program.kernels[launch.kernel];
  rank.pool->run(launch.tiles, [&](int64_t first, int64_t last, int worker) {
    kernel(buffers, nullptr, first, last, rank.scratch(worker));
  });
  return Status::success();
}

const SliceTable &StreamRun::slicesOf(const Step &step,
                                      const plan::AttendT &attend,
                                      int64_t queryOwner, int64_t keyOwner) {
  auto [entry, added] =
      rank.slices[number].try_emplace({step.id, queryOwner, keyOwner});
  SliceTable &table = entry->second;
  if (!added)
    return table;
  const algebra::Layout &queries = program.layouts[attend.queries->layout];
  const algebra::Layout &keys = program.layouts[attend.keys->layout];
  table.slices = program.bandsOf[static_cast<size_t>(step.id)].restrict(
      queries, queryOwner, keys, keyOwner);
  if (rank.pool->threads() > 1)
    table.order = heaviestFirst(table.slices, queries.count(queryOwner),
                                attend.query_block);
  if (attend.scored)
    for (auto [positions, layout, owner] :
         {std::tuple(&table.queryPositions, &queries, queryOwner),
          std::tuple(&table.keyPositions, &keys, keyOwner)})
      for (int64_t position : positionsOf(*layout, owner))
        positions->push_back(static_cast<int32_t>(position));
  return table;
}

Status StreamRun::attend(const Step &step, const plan::AttendT &attend) {
  int64_t batch = 0, heads = 0, headFirst = 0, kvFirst = 0, queryOwner = 0,
          keyOwner = 0;
  for (auto [expression, out] : {std::pair(attend.batch.get(), &batch),
                                 {attend.heads.get(), &heads},
                                 {attend.head_first.get(), &headFirst},
                                 {attend.kv_first.get(), &kvFirst},
                                 {attend.queries->owner.get(), &queryOwner},
                                 {attend.keys->owner.get(), &keyOwner}})
    if (Status failure = evaluate(*expression, scope, *out))
      return failure;
  int64_t queries = program.layouts[attend.queries->layout].count(queryOwner);
  int64_t keys = program.layouts[attend.keys->layout].count(keyOwner);
  if (batch < 0 || heads < 0 || headFirst < 0 ||
      headFirst > attend.heads_total - heads || kvFirst < 0 ||
      kvFirst > attend.kv_total)
    return fail(SPRT_DAMAGED)
           << "heads " << headFirst << " to " << headFirst + heads << " of "
           << attend.heads_total << ", kv heads from " << kvFirst << " of "
           << attend.kv_total << ", batch " << batch;
  const SliceTable &table = slicesOf(step, attend, queryOwner, keyOwner);
  int64_t blocks = (queries + attend.query_block - 1) / attend.query_block;
  int64_t pairs = batch * heads;
  if (pairs * blocks == 0 || (table.slices.empty() && !attend.init))
    return Status::success();

  std::vector<void *> buffers(SPRT_ATTEND_BUFFERS + attend.terms.size());
  size_t next = SPRT_ATTEND_Q;
  for (const auto *view :
       {&attend.q, &attend.k, &attend.v, &attend.out, &attend.lse}) {
    std::byte *data = nullptr;
    if (Status failure = aligned(**view, data))
      return failure;
    buffers[next++] = data;
  }
  buffers[SPRT_ATTEND_SLICES] = const_cast<sprt_slice *>(table.slices.data());
  buffers[SPRT_ATTEND_QUERY_POSITIONS] =
      const_cast<int32_t *>(table.queryPositions.data());
  buffers[SPRT_ATTEND_KEY_POSITIONS] =
      const_cast<int32_t *>(table.keyPositions.data());

  std::vector<int64_t> sizes(SPRT_ATTEND_SIZES);
  sizes[SPRT_ATTEND_BATCH] = batch;
  sizes[SPRT_ATTEND_HEADS] = heads;
  sizes[SPRT_ATTEND_QUERIES] = queries;
  sizes[SPRT_ATTEND_KEYS] = keys;
  sizes[SPRT_ATTEND_HEAD_FIRST] = headFirst;
  sizes[SPRT_ATTEND_HEADS_TOTAL] = attend.heads_total;
  sizes[SPRT_ATTEND_KV_FIRST] = kvFirst;
  sizes[SPRT_ATTEND_KV_TOTAL] = attend.kv_total;
  sizes[SPRT_ATTEND_SLICE_COUNT] = static_cast<int64_t>(table.slices.size());
  sizes[SPRT_ATTEND_INIT] = attend.init;
  std::memcpy(&sizes[SPRT_ATTEND_SCALE], &attend.scale, sizeof attend.scale);
  auto to = sizes.begin() + SPRT_ATTEND_Q_STRIDES;
  for (const auto *strides :
       {&attend.q_strides, &attend.k_strides, &attend.v_strides,
        &attend.o_strides, &attend.lse_strides})
    to = std::copy(strides->begin(), strides->end(), to);
  next = SPRT_ATTEND_TERMS;
  for (const auto &term : attend.terms) {
    std::byte *data = nullptr;
    if (Status failure = rank.resolve(*term->view, scope, data))
      return failure;
    buffers[next++] = data + headFirst * term->head_bytes;
    sizes.insert(sizes.end(), term->strides.begin(), term->strides.end());
  }

  sprt_kernel kernel = program.kernels[attend.kernel];
  if (table.order.empty()) {
    kernel(buffers.data(), sizes.data(), 0, pairs * blocks, rank.scratch(0));
    return Status::success();
  }
  // Job i is block order[i / pairs] of pair i mod pairs: heavy blocks start
  // first.
  rank.pool->run(pairs * blocks, [&](int64_t first, int64_t last, int worker) {
    for (int64_t job = first; job < last; ++job) {
      int64_t tile =
          job % pairs * blocks + table.order[static_cast<size_t>(job / pairs)];
      kernel(buffers.data(), sizes.data(), tile, tile + 1,
             rank.scratch(worker));
    }
  });
  return Status::success();
}

Status StreamRun::gemm(const plan::GemmT &gemm) {
  std::byte *a = nullptr, *b = nullptr, *c = nullptr;
  if (Status failure = rank.resolve(*gemm.a, scope, a))
    return failure;
  if (Status failure = rank.resolve(*gemm.b, scope, b))
    return failure;
  if (Status failure = rank.resolve(*gemm.c, scope, c))
    return failure;
  return runGemm(gemm, a, b, c, *rank.pool);
}

Status StreamRun::copy(const plan::CopyT &copy) {
  std::byte *from = nullptr, *to = nullptr;
  if (Status failure = rank.resolve(*copy.source, scope, from))
    return failure;
  if (Status failure = rank.resolve(*copy.target, scope, to))
    return failure;
  std::memmove(to, from, static_cast<size_t>(copy.source->bytes));
  return Status::success();
}

Status StreamRun::fill(const plan::FillT &fill) {
  std::byte *to = nullptr;
  if (Status failure = rank.resolve(*fill.target, scope, to))
    return failure;
  std::memset(to, fill.value, static_cast<size_t>(fill.target->bytes));
  return Status::success();
}

Status StreamRun::rowsTable(const plan::RowsTableT &table) {
  int64_t owner = 0;
  std::byte *to = nullptr;
  if (Status failure = evaluate(*table.rows->owner, scope, owner))
    return failure;
  if (Status failure = rank.resolve(*table.target, scope, to))
    return failure;
  const algebra::Layout &layout = program.layouts[table.rows->layout];
  std::vector<int64_t> values;
  if (table.query == plan::RowsQuery::count) {
    values.push_back(layout.count(owner));
  } else {
    values = positionsOf(layout, owner);
    values.resize(static_cast<size_t>(table.count));
  }
  if (table.type == plan::DType::i64 || table.type == plan::DType::u64)
    writeRows<int64_t>(to, values);
  else
    writeRows<int32_t>(to, values);
  return Status::success();
}

} // namespace sprt
