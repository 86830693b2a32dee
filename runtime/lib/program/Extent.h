/// What a strided access touches of its buffer.
#ifndef SPRT_LIB_PROGRAM_EXTENT_H
#define SPRT_LIB_PROGRAM_EXTENT_H

#include "sprt/algebra/Slices.h"
#include "support/Status.h"

#include <array>

namespace sprt {

/// Runs of `inner` bytes, `counts` of them along three or four dimensions, in
/// `strides` of bytes. None of the numbers is negative, and strides, inner and
/// what the buffer has are at most 2^50, so that nothing here overflows before
/// it is too much.
struct Extent {
  std::array<int64_t, 4> counts = {1, 1, 1, 1};
  std::array<int64_t, 4> strides = {0, 0, 0, 0};
  int64_t inner = 0;

  bool isEmpty() const {
    for (int64_t count : counts)
      if (count == 0)
        return true;
    return inner == 0;
  }

  /// From the first to behind the last byte.
  algebra::Area reach() const {
    algebra::Area bytes = static_cast<algebra::Area>(inner);
    for (size_t dim = 0; dim < counts.size(); ++dim)
      bytes += static_cast<algebra::Area>(counts[dim] - 1) *
               static_cast<algebra::Area>(strides[dim]);
    return bytes;
  }

  /// What all runs have together, or more than `most`.
  algebra::Area total(int64_t most) const {
    algebra::Area bytes = static_cast<algebra::Area>(inner);
    for (int64_t count : counts)
      if (bytes <= static_cast<algebra::Area>(most))
        bytes *= static_cast<algebra::Area>(count);
    return bytes;
  }
};

/// Whether a buffer holds what is touched. Runs that `areApart` are no more
/// than it has place for, which bounds the work that they are.
inline Status checkExtent(const Extent &extent, int64_t bytes,
                          const std::string &what, bool areApart = true) {
  if (extent.isEmpty())
    return Status::success();
  algebra::Area needed = extent.reach();
  if (areApart)
    needed = std::max(needed, extent.total(bytes));
  if (needed > static_cast<algebra::Area>(bytes))
    return fail(SPRT_DAMAGED)
           << what << " of " << algebra::toString(needed)
           << " bytes does not fit into its buffer of " << bytes;
  return Status::success();
}

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_EXTENT_H
