/// How many bytes are in use at each point of a program.
#ifndef SP_LIB_MEMORY_LIVEBYTES_H
#define SP_LIB_MEMORY_LIVEBYTES_H

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace mlir::sp {

class LiveBytes {
public:
  /// Of points [0, points).
  explicit LiveBytes(int64_t points) : at(points) {}

  /// From the first point to the last one.
  void add(int64_t first, int64_t last, int64_t bytes) {
    for (int64_t point = first; point <= last; ++point)
      at[point] += bytes;
  }
  /// At one of these points at most; 0 where there is none.
  int64_t most(int64_t first, int64_t last) const {
    int64_t most = 0;
    for (int64_t point = first; point <= last; ++point)
      most = std::max(most, at[point]);
    return most;
  }

private:
  llvm::SmallVector<int64_t> at;
};

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_LIVEBYTES_H
