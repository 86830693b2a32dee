/// What attention reads of a mask: slices of local rows, made once per step and
/// kept.
#ifndef SPRT_LIB_TILES_SLICETABLE_H
#define SPRT_LIB_TILES_SLICETABLE_H

#include "program/Program.h"
#include "sprt/cuda/AttentionArguments.h"

namespace sprt {

/// The slices that a block of queries meets are among [first, end) of a list.
struct SliceRange {
  size_t first = 0, end = 0;
};

/// Of each block of `block` queries, as few as one range can name.
std::vector<SliceRange> rangesOf(const std::vector<sprt_slice> &slices,
                                 int64_t queries, int64_t block);

/// The slices of one attention step.
struct SliceTable {
  std::vector<sprt_slice> slices;
  /// By block of queries.
  std::vector<SliceRange> ranges;
  /// Blocks of queries, as they begin.
  std::vector<int64_t> order;
  /// The same by ranges of keys, where a step does one range after another.
  std::vector<std::vector<sprt_slice>> parts;
  /// Of local rows, where a score function reads them.
  std::vector<int32_t> queryPositions, keyPositions;
};

/// Blocks of `block` queries by the pairs that they see; of equals the first
/// one first.
std::vector<int64_t> orderBlocks(const std::vector<sprt_slice> &slices,
                                 int64_t queries, int64_t block,
                                 plan::BlockOrder order);

/// Blocks of queries as a kernel for GPUs takes them.
struct BlockList {
  std::vector<int32_t> order;
  /// Block order[i] sees keys through slices [ranges[2 i], ranges[2 i + 1]).
  std::vector<int32_t> ranges;
  /// Whether each sees as many pairs as any other, but for a last one with
  /// fewer rows.
  bool isEven = true;
};

/// The same, and the slices that each block meets. Blocks that see no key are
/// left out where their state is `isCarried`: nothing would change it.
BlockList listBlocks(const std::vector<sprt_slice> &slices, int64_t queries,
                     int64_t block, plan::BlockOrder order, bool isCarried);

/// Pairs of batch and head whose items a grid of `blocks` takes together: as
/// few as keep it busy, so that the keys and values which they read again are
/// in the cache. Where blocks of queries differ in work that is one item each,
/// so that the light ones of a group fill what its heavy ones leave. Pairs that
/// share a kv head stay together. 0: all of them.
int32_t groupPairs(const BlockList &list, int64_t pairs, int64_t pairsPerKvHead,
                   int64_t blocks);

/// The slices of `count` keys after another, at least one part.
std::vector<std::vector<sprt_slice>>
splitKeys(const std::vector<sprt_slice> &slices, int64_t keys, int64_t count);

/// A number as kernels have it; whether it is one of 32 bits.
inline bool narrow(int64_t value, int32_t &out_value) {
  out_value = static_cast<int32_t>(value);
  return out_value == value;
}

/// The slice as GPUs read it; false where 32 bits do not hold it.
bool narrowSlice(const sprt_slice &slice, cuda::Slice &out_slice);

/// Positions of an owner's rows, in local order.
std::vector<int64_t> positionsOf(const algebra::Layout &layout, int64_t owner);

/// The most that these tables and those of RowsTables take of a device's memory
/// for one rank.
algebra::Area tableBytes(const Program &program);

/// The bytes of a RowsTable's target.
std::vector<std::byte> rowsTableBytes(const plan::RowsTableT &table,
                                      const algebra::Layout &layout,
                                      int64_t owner);

} // namespace sprt

#endif // SPRT_LIB_TILES_SLICETABLE_H
