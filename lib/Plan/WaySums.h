/// Sums over the ranks of rings, whose intervals are added in one go.
#ifndef SP_LIB_PLAN_WAYSUMS_H
#define SP_LIB_PLAN_WAYSUMS_H

#include "sprt/algebra/Ring.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace mlir::sp {

/// What ranks send along one way: each block's part of the ring at once.
class WaySums {
public:
  WaySums(const sprt::algebra::RingWay &way, int64_t ranks)
      : way(way), changes(ranks) {}

  bool isAlong(const sprt::algebra::RingWay &other) const {
    return other.stride == way.stride && other.size == way.size;
  }
  /// `bytes` for so many ranks from `first` on, at most all of the ring.
  void add(int64_t first, int64_t step, int64_t ranks, int64_t bytes) {
    if (ranks <= 0)
      return;
    int64_t begin = step > 0 ? first : way.moved(first, 1 - ranks);
    changes[begin] += bytes;
    int64_t end = way.digit(begin) + ranks;
    if (end > way.size)
      changes[way.moved(begin, -way.digit(begin))] += bytes;
    if (end != way.size)
      changes[way.moved(begin, ranks)] -= bytes;
  }
  /// Calls `visit` with every rank and what it sends.
  void
  forEach(llvm::function_ref<void(int64_t rank, int64_t bytes)> visit) const {
    std::vector<int64_t> bytes(changes);
    for (int64_t rank = 0; rank < int64_t(bytes.size()); ++rank) {
      if (way.digit(rank) > 0)
        bytes[rank] += bytes[way.moved(rank, -1)];
      visit(rank, bytes[rank]);
    }
  }

private:
  sprt::algebra::RingWay way;
  std::vector<int64_t> changes; ///< from the rank of the digit before
};

} // namespace mlir::sp

#endif // SP_LIB_PLAN_WAYSUMS_H
