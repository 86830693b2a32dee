#include "tiles/SliceTable.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace sprt {

namespace {

/// Pairs that a block of queries sees through some slices: what its tiles cost.
algebra::Area blockArea(const std::vector<sprt_slice> &slices,
                        const SliceRange &range, int64_t first, int64_t last) {
  algebra::Area total = 0;
  for (size_t i = range.first; i < range.end; ++i) {
    sprt_slice slice = slices[i];
    slice.q0 = std::max(slice.q0, first);
    slice.q1 = std::min(slice.q1, last);
    if (slice.q0 < slice.q1)
      total += algebra::area(slice);
  }
  return total;
}

template <typename T>
std::vector<std::byte> narrowed(const std::vector<int64_t> &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value = static_cast<T>(values[i]);
    std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
  }
  return bytes;
}

/// A bound of a line `stride` * row + bound, over rows [first, last).
bool narrowBound(int64_t bound, int64_t stride, int64_t first, int64_t last,
                 int32_t &out_bound) {
  if (bound == algebra::unboundedBelow || bound == algebra::unboundedAbove) {
    out_bound = bound < 0 ? INT32_MIN : INT32_MAX;
    return true;
  }
  auto fits = [](algebra::Area value) { return value < INT32_MAX; };
  algebra::Area reach = static_cast<algebra::Area>(stride) *
                        static_cast<algebra::Area>(std::max(first, last));
  algebra::Area away = static_cast<algebra::Area>(
      bound < 0 ? -static_cast<__int128>(bound) : bound);
  return fits(reach + away) && narrow(bound, out_bound);
}

} // namespace

std::vector<SliceRange> rangesOf(const std::vector<sprt_slice> &slices,
                                 int64_t queries, int64_t block) {
  std::vector<SliceRange> ranges(
      static_cast<size_t>((queries + block - 1) / block));
  for (size_t i = 0; i < slices.size(); ++i)
    for (int64_t number = slices[i].q0 / block;
         number * block < std::min(slices[i].q1, queries); ++number) {
      SliceRange &range = ranges[static_cast<size_t>(number)];
      range.first = range.end == 0 ? i : range.first;
      range.end = i + 1;
    }
  return ranges;
}

std::vector<std::vector<sprt_slice>>
splitKeys(const std::vector<sprt_slice> &slices, int64_t keys, int64_t count) {
  if (count >= keys)
    return {slices};
  std::vector<std::vector<sprt_slice>> parts;
  for (int64_t first = 0; first < keys; first += count) {
    std::vector<sprt_slice> &part = parts.emplace_back();
    for (sprt_slice slice : slices) {
      slice.k0 = std::max(slice.k0, first);
      slice.k1 = std::min(slice.k1, first + count);
      if (slice.k0 < slice.k1)
        part.push_back(slice);
    }
  }
  return parts;
}

bool narrowSlice(const sprt_slice &from, cuda::Slice &out_slice) {
  cuda::Slice &to = out_slice;
  to.uniform = from.uniform != 0;
  int32_t farthest = 0;
  return narrow(from.q0, to.q0) && narrow(from.q1, to.q1) &&
         narrow(from.k0, to.k0) && narrow(from.k1, to.k1) &&
         narrow(from.qStride, to.qStride) && narrow(from.kStride, to.kStride) &&
         narrowBound(0, from.kStride, from.k0, from.k1, farthest) &&
         narrowBound(from.lo, from.qStride, from.q0, from.q1, to.lo) &&
         narrowBound(from.hi, from.qStride, from.q0, from.q1, to.hi);
}

std::vector<int64_t> orderBlocks(const std::vector<sprt_slice> &slices,
                                 int64_t queries, int64_t block,
                                 plan::BlockOrder order) {
  std::vector<SliceRange> ranges = rangesOf(slices, queries, block);
  std::vector<std::pair<algebra::Area, int64_t>> blocks;
  for (int64_t first = 0; first < queries; first += block)
    blocks.emplace_back(blockArea(slices,
                                  ranges[static_cast<size_t>(first / block)],
                                  first, std::min(first + block, queries)),
                        first / block);
  bool lightFirst = order == plan::BlockOrder::lightestFirst;
  std::sort(blocks.begin(), blocks.end(), [&](const auto &a, const auto &b) {
    if (a.first == b.first)
      return a.second < b.second;
    return (a.first < b.first) == lightFirst;
  });
  std::vector<int64_t> ordered;
  for (const auto &entry : blocks)
    ordered.push_back(entry.second);
  return ordered;
}

BlockList listBlocks(const std::vector<sprt_slice> &slices, int64_t queries,
                     int64_t block, plan::BlockOrder order, bool isCarried) {
  BlockList list;
  std::optional<algebra::Area> ofWhole;
  std::vector<SliceRange> ranges = rangesOf(slices, queries, block);
  for (int64_t number : orderBlocks(slices, queries, block, order)) {
    int64_t q0 = number * block, q1 = std::min(q0 + block, queries);
    auto [first, end] = ranges[static_cast<size_t>(number)];
    algebra::Area area = blockArea(slices, {first, end}, q0, q1);
    if (isCarried && area == 0)
      continue;
    if (q1 - q0 == block) {
      list.isEven &= !ofWhole || *ofWhole == area;
      ofWhole = area;
    }
    list.order.push_back(static_cast<int32_t>(number));
    list.ranges.push_back(static_cast<int32_t>(first));
    list.ranges.push_back(static_cast<int32_t>(end));
  }
  return list;
}

int32_t groupPairs(const BlockList &list, int64_t pairs, int64_t pairsPerKvHead,
                   int64_t blocks) {
  auto items = std::max<int64_t>(static_cast<int64_t>(list.order.size()), 1);
  int64_t least = list.isEven ? 1 : (2 * blocks + items - 1) / items;
  int64_t groups = std::max<int64_t>(pairs / least, 1);
  int64_t kvHeads =
      ((pairs + groups - 1) / groups + pairsPerKvHead - 1) / pairsPerKvHead;
  int64_t grouped = kvHeads * pairsPerKvHead;
  return grouped < pairs ? static_cast<int32_t>(grouped) : 0;
}

std::vector<int64_t> positionsOf(const algebra::Layout &layout, int64_t owner) {
  std::vector<int64_t> positions;
  for (const algebra::Range &range : layout.ranges(owner))
    for (int64_t i = 0; i < range.count; ++i)
      positions.push_back(range.at(i));
  return positions;
}

/// What a device gives at least, and in multiples of.
static algebra::Area allocated(algebra::Area bytes) {
  constexpr algebra::Area kGrain = 512;
  return std::max<algebra::Area>((bytes + kGrain - 1) / kGrain, 1) * kGrain;
}

/// How many owners these may be for one rank.
static algebra::Area ownersOf(const plan::RowsT &rows,
                              const algebra::Layout &layout) {
  for (const plan::Term &term : rows.owner->terms)
    if (term.op() == plan::ExprOp::counter)
      return static_cast<algebra::Area>(layout.ranks());
  return 1;
}

algebra::Area tableBytes(const Program &program) {
  algebra::Area total = 0;
  for (const Step *step : program.stepOf) {
    const plan::OperationUnion &operation = step->command->operation;
    if (const plan::RowsTableT *table = operation.AsRowsTable())
      total += ownersOf(*table->rows,
                        program.bindings.whole.layouts[table->rows->layout]) *
               allocated(static_cast<algebra::Area>(table->target->bytes));
    const plan::AttendT *attend = operation.AsAttend();
    if (!attend)
      continue;
    const algebra::Layout
        &queries = program.bindings.whole.layouts[attend->queries->layout],
        &keys = program.bindings.whole.layouts[attend->keys->layout];
    const auto &bands = program.maskIn(program.bindings.whole, *step).bands();
    // Of each band at most one slice for each pair of two ranges.
    algebra::Area slices = bands.size() * 4;
    auto rows = [](const algebra::Layout &layout) {
      return static_cast<algebra::Area>(layout.maxCount());
    };
    algebra::Area blocks =
        rows(queries) / static_cast<algebra::Area>(attend->query_block) + 1;
    algebra::Area bytes = allocated(slices * sizeof(cuda::Slice)) +
                          allocated(blocks * sizeof(int32_t)) +
                          allocated(2 * blocks * sizeof(int32_t)) +
                          allocated(sizeof(int32_t)); // the counter
    if (attend->scored)
      bytes += allocated(rows(queries) * sizeof(int32_t)) +
               allocated(rows(keys) * sizeof(int32_t));
    total += ownersOf(*attend->queries, queries) *
             ownersOf(*attend->keys, keys) * bytes;
  }
  return total;
}

std::vector<std::byte> rowsTableBytes(const plan::RowsTableT &table,
                                      const algebra::Layout &layout,
                                      int64_t owner) {
  std::vector<int64_t> values;
  if (table.query == plan::RowsQuery::count) {
    values.push_back(layout.count(owner));
  } else {
    values = positionsOf(layout, owner);
    values.resize(static_cast<size_t>(table.count));
  }
  bool wide = table.type == plan::DType::i64 || table.type == plan::DType::u64;
  return wide ? narrowed<int64_t>(values) : narrowed<int32_t>(values);
}

} // namespace sprt
