#ifndef SPRT_ALGEBRA_RING_H
#define SPRT_ALGEBRA_RING_H

#include <cstdint>

namespace sprt::algebra {

/// How blocks are handed round: among ranks that differ in one digit of their
/// number, (rank / stride) mod size, `hops` times at most. A ring of 6 as 2
/// windows of 3, which turn both ways at once:
///
///     way            stride  size  step  hops   block 4 goes to
///     inner, on        1      3      1     1     5 (or 2, in the other window)
///     inner, back      1      3     -1     1     3 (or 0)
///     outer            3      2      1     1     1
///
/// Ranks below the digit, of the same window, get a block from the one of them
/// that it is handed to. A group of neighbours that hand round among themselves
/// begins at the rank `first`: 2 to 4 are the one of stride 1, size 3, first 2.
struct RingWay {
  int64_t stride = 1;
  int64_t size = 1;
  int64_t step = 1; ///< 1: on, -1: back
  int64_t hops = 0;
  int64_t first = 0;

  int64_t digit(int64_t rank) const { return (rank - first) / stride % size; }
  /// Which of the rings that are alike but for the digits above it.
  int64_t above(int64_t rank) const { return (rank - first) / stride / size; }
  /// The rank whose digit is `by` further.
  int64_t moved(int64_t rank, int64_t by) const {
    int64_t to = (digit(rank) + by % size + size) % size;
    return rank + (to - digit(rank)) * stride;
  }
  /// After how many hops the block of `owner` would be at `rank`.
  int64_t hopsTo(int64_t owner, int64_t rank) const {
    return ((digit(rank) - digit(owner)) * step + size) % size;
  }
};

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_RING_H
