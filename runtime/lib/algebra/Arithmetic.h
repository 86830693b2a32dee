/// Integer arithmetic that does not overflow for 64-bit positions.
#ifndef SPRT_LIB_ALGEBRA_ARITHMETIC_H
#define SPRT_LIB_ALGEBRA_ARITHMETIC_H

#include "sprt/algebra/Ranges.h"

#include <algorithm>

namespace sprt::algebra {

using Wide = __int128;

/// Towards minus infinity and plus infinity; b > 0.
constexpr Wide floorDiv(Wide a, Wide b) { return a / b - (a % b < 0); }
constexpr Wide ceilDiv(Wide a, Wide b) { return a / b + (a % b > 0); }

/// The nearest 64-bit number.
constexpr int64_t saturate(Wide value) {
  return int64_t(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

/// `length` things cut into `parts` consecutive parts, the first
/// (length mod parts) of which have one more.
struct Parts {
  int64_t length;
  int64_t parts;

  constexpr int64_t size(int64_t part) const {
    return length / parts + (part < length % parts);
  }
  constexpr int64_t start(int64_t part) const {
    return part * (length / parts) + std::min(part, length % parts);
  }
  constexpr int64_t largest() const { return size(0); }
  /// The part that holds `index`, 0 <= index < length.
  constexpr int64_t find(int64_t index) const {
    int64_t small = length / parts, larger = length % parts;
    int64_t inLarger = larger * (small + 1);
    if (index < inLarger)
      return index / (small + 1);
    return larger + (index - inLarger) / small;
  }
};

} // namespace sprt::algebra

#endif // SPRT_LIB_ALGEBRA_ARITHMETIC_H
