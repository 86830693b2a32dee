/// Slices by their definition: sets of pairs, found by trying every pair.
#ifndef SPRT_TEST_ALGEBRA_SLICECHECKS_H
#define SPRT_TEST_ALGEBRA_SLICECHECKS_H

#include "sprt/algebra/Slices.h"

#include <numeric>
#include <set>
#include <utility>

namespace sprt::algebra {

using Pair = std::pair<int64_t, int64_t>;

inline std::set<Pair> pairsOf(const Slice &s) {
  std::set<Pair> pairs;
  for (int64_t a = s.q0; a < s.q1; ++a)
    for (int64_t b = s.k0; b < s.k1; ++b)
      if ((s.lo == unboundedBelow || s.qStride * a + s.lo <= s.kStride * b) &&
          (s.hi == unboundedAbove || s.kStride * b <= s.qStride * a + s.hi))
        pairs.insert({a, b});
  return pairs;
}

inline std::string text(const Slice &s) {
  auto interval = [](int64_t begin, int64_t end) {
    return "[" + std::to_string(begin) + "," + std::to_string(end) + ")";
  };
  return "q " + interval(s.q0, s.q1) + " k " + interval(s.k0, s.k1) + " " +
         (s.lo == unboundedBelow ? "-inf" : std::to_string(s.lo)) + ".." +
         (s.hi == unboundedAbove ? "inf" : std::to_string(s.hi)) + " strides " +
         std::to_string(s.qStride) + "," + std::to_string(s.kStride) +
         (s.uniform ? " uniform" : "");
}

/// What keeps a slice that shows something from being in normal form.
inline std::string flawOf(const Slice &s) {
  int64_t q0 = s.q1, q1 = s.q0, k0 = s.k1, k1 = s.k0;
  for (auto [a, b] : pairsOf(s)) {
    q0 = std::min(q0, a);
    q1 = std::max(q1, a + 1);
    k0 = std::min(k0, b);
    k1 = std::max(k1, b + 1);
  }
  if (q0 != s.q0 || q1 != s.q1)
    return "first or last query row sees nothing";
  if (k0 != s.k0 || k1 != s.k1)
    return "first or last key row is not seen";
  if (std::gcd(s.qStride, s.kStride) != 1)
    return "strides have a common divisor";
  bool below = s.lo != unboundedBelow, above = s.hi != unboundedAbove;
  if (!below && !above && (s.qStride != 1 || s.kStride != 1))
    return "strides without a bound";
  if (below && s.qStride * (s.q1 - 1) + s.lo <= s.kStride * s.k0)
    return "lower bound cuts nothing off";
  if (above && s.kStride * (s.k1 - 1) <= s.qStride * s.q0 + s.hi)
    return "upper bound cuts nothing off";
  return "";
}

} // namespace sprt::algebra

#endif // SPRT_TEST_ALGEBRA_SLICECHECKS_H
