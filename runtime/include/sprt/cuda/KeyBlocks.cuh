/// Which blocks of keys a block of queries meets through one slice.
#ifndef SPRT_CUDA_KEYBLOCKS_CUH
#define SPRT_CUDA_KEYBLOCKS_CUH

#include "sprt/cuda/AttentionArguments.h"
#include "sprt/cuda/Ptx.cuh"

namespace sprt::cuda {

/// x / y towards minus infinity; y > 0. Where x is negative, that is ~(~x / y).
SPRT_DEVICE int floorDivide(int x, int y) {
  if (y == 1)
    return x;
  int sign = x < 0 ? -1 : 0;
  return static_cast<int>(static_cast<uint32_t>(x ^ sign) /
                          static_cast<uint32_t>(y)) ^
         sign;
}
SPRT_DEVICE int atLeast(int x, int y) { return x > y ? x : y; }
SPRT_DEVICE int atMost(int x, int y) { return x < y ? x : y; }

/// The first key that query row `row` sees by the lines of the slice alone.
SPRT_DEVICE int lowestKey(const Slice &slice, int row) {
  if (slice.lo == INT32_MIN)
    return slice.k0;
  int line = slice.qStride * row + slice.lo;
  return atLeast(slice.k0, -floorDivide(-line, slice.kStride));
}
/// The key behind the last one that it sees.
SPRT_DEVICE int endOfKeys(const Slice &slice, int row) {
  if (slice.hi == INT32_MAX)
    return slice.k1;
  int line = slice.qStride * row + slice.hi;
  return atMost(slice.k1, floorDivide(line, slice.kStride) + 1);
}

/// The keys [first, first + count) that a query row sees through a slice.
SPRT_DEVICE void keysOf(const Slice &slice, int row, int &first, int &count) {
  first = count = 0;
  if (row < slice.q0 || row >= slice.q1)
    return;
  first = lowestKey(slice, row);
  count = atLeast(endOfKeys(slice, row) - first, 0);
}

/// Blocks [first, last) hold every key that a row of [q0, q1) sees. Of blocks
/// [firstWhole, lastWhole) each such row sees every key; the others are partial
/// and come first.
struct KeyBlocks {
  int first, firstWhole, lastWhole, last;

  SPRT_DEVICE KeyBlocks(const Slice &slice, int q0, int q1, int queries,
                        int keyBlock) {
    q1 = atMost(q1, queries);
    int a0 = atLeast(q0, slice.q0), a1 = atMost(q1, slice.q1) - 1;
    first = lowestKey(slice, a0) / keyBlock;
    last = (endOfKeys(slice, a1) + keyBlock - 1) / keyBlock;
    if (a0 > a1 || last < first)
      last = first;
    firstWhole = (lowestKey(slice, a1) + keyBlock - 1) / keyBlock;
    lastWhole = endOfKeys(slice, a0) / keyBlock;
    bool hasAllRows = a0 == q0 && a1 == q1 - 1 && !slice.uniform;
    if (!hasAllRows || firstWhole > last || lastWhole <= firstWhole)
      firstWhole = lastWhole = first;
    lastWhole = atMost(lastWhole, last);
  }

  SPRT_DEVICE int count() const { return last - first; }
  SPRT_DEVICE bool isWhole(int block) const {
    return block >= firstWhole && block < lastWhole;
  }
  /// The block that is met after this one, or -1; after `last` the first one.
  /// From the last one down, so that the diagonal of a causal mask begins;
  /// partial ones on both sides, then whole ones.
  SPRT_DEVICE int next(int block) const {
    bool isLeft = block < firstWhole, isRight = block >= lastWhole;
    int least = isRight ? lastWhole : isLeft ? first : firstWhole;
    if (block > least)
      return block - 1;
    if (isRight && firstWhole > first)
      return firstWhole - 1;
    return (isRight || isLeft) && lastWhole > firstWhole ? lastWhole - 1 : -1;
  }
};

} // namespace sprt::cuda

#endif // SPRT_CUDA_KEYBLOCKS_CUH
