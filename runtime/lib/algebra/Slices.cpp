#include "sprt/algebra/Slices.h"

#include "Arithmetic.h"

#include <numeric>

namespace sprt::algebra {

std::string toString(Area area) {
  std::string digits;
  do {
    digits.insert(digits.begin(), char('0' + int(area % 10)));
    area /= 10;
  } while (area != 0);
  return digits;
}

bool equal(const Slice &a, const Slice &b) {
  return a.q0 == b.q0 && a.q1 == b.q1 && a.k0 == b.k0 && a.k1 == b.k1 &&
         a.lo == b.lo && a.hi == b.hi && a.qStride == b.qStride &&
         a.kStride == b.kStride && a.uniform == b.uniform;
}

/// Sum of floor((a * i + b) / m) for 0 <= i < n, with a, b >= 0 and m > 0.
/// Whole multiples of m come out of a and b; what is left counts the lattice
/// points under a line of slope below 1, and seen from the other axis that is
/// the same problem with a and m exchanged, as in Euclid's algorithm.
static Area sumOfFloors(Area n, Area a, Area b, Area m) {
  Area sum = 0;
  while (n > 0) {
    if (a >= m) {
      sum += n * (n - 1) / 2 * (a / m);
      a %= m;
    }
    if (b >= m) {
      sum += n * (b / m);
      b %= m;
    }
    Area top = a * n + b;
    n = top / m;
    b = top % m;
    std::swap(a, m);
  }
  return sum;
}

/// Pairs of the slice's rectangle with kStride * b <= qStride * a + bound.
static Area pairsUpTo(const Slice &s, Wide bound) {
  Wide keys = Wide(s.k1) - s.k0;
  // Row a has floor((qStride * a + shift) / kStride) such keys, cut to [0,
  // keys]: none before row `some`, all of them from row `all` on.
  Wide shift = bound - Wide(s.kStride) * s.k0 + s.kStride;
  Wide some =
      std::clamp<Wide>(ceilDiv(s.kStride - shift, s.qStride), s.q0, s.q1);
  Wide all = std::clamp<Wide>(ceilDiv(keys * s.kStride - shift, s.qStride),
                              some, s.q1);
  Area pairs = Area(s.q1 - all) * Area(keys);
  if (all > some)
    pairs += sumOfFloors(Area(all - some), Area(s.qStride),
                         Area(s.qStride * some + shift), Area(s.kStride));
  return pairs;
}

Area area(const Slice &s) {
  if (s.q0 >= s.q1 || s.k0 >= s.k1 ||
      (s.lo != unboundedBelow && s.hi != unboundedAbove && s.lo > s.hi))
    return 0;
  Area upTo = s.hi == unboundedAbove
                  ? Area(Wide(s.q1) - s.q0) * Area(Wide(s.k1) - s.k0)
                  : pairsUpTo(s, s.hi);
  return s.lo == unboundedBelow ? upTo : upTo - pairsUpTo(s, Wide(s.lo) - 1);
}

Area area(const std::vector<Slice> &slices) {
  Area sum = 0;
  for (const Slice &slice : slices)
    sum += area(slice);
  return sum;
}

Interval keysOf(const Slice &s, int64_t a) {
  if (a < s.q0 || a >= s.q1)
    return {};
  Wide begin = s.k0, end = s.k1;
  if (s.lo != unboundedBelow)
    begin = std::max(begin, ceilDiv(Wide(s.qStride) * a + s.lo, s.kStride));
  if (s.hi != unboundedAbove)
    end = std::min(end, floorDiv(Wide(s.qStride) * a + s.hi, s.kStride) + 1);
  if (begin >= end)
    return {};
  return {int64_t(begin), int64_t(end)};
}

bool visible(const Slice &slice, int64_t a, int64_t b) {
  Interval keys = keysOf(slice, a);
  return keys.begin <= b && b < keys.end;
}

/// Divides the strides by their greatest common divisor; for integers,
/// g * x + lo <= g * y is x + ceil(lo / g) <= y.
static void reduceStrides(Slice &s) {
  int64_t divisor = std::gcd(s.qStride, s.kStride);
  if (divisor == 1)
    return;
  s.qStride /= divisor;
  s.kStride /= divisor;
  if (s.lo != unboundedBelow)
    s.lo = int64_t(ceilDiv(s.lo, divisor));
  if (s.hi != unboundedAbove)
    s.hi = int64_t(floorDiv(s.hi, divisor));
}

/// Where the lines are closer than a stride, rows between ones that see
/// something may see nothing, the first and the last row included. Moves
/// [*begin, *end), which is an interval of the slice, to the outermost rows
/// that count, by bisection on the area.
static void trimHoles(Slice &s, int64_t *begin, int64_t *end) {
  Area whole = area(s);
  int64_t low = *begin, high = *end - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    *begin = middle + 1;
    if (area(s) == whole)
      low = middle + 1;
    else
      high = middle;
  }
  *begin = low;
  high = *end - 1;
  while (low < high) {
    int64_t middle = low + (high - low + 1) / 2;
    *end = middle;
    if (area(s) == whole)
      high = middle - 1;
    else
      low = middle;
  }
  *end = low + 1;
}

bool tighten(Slice &s) {
  reduceStrides(s);
  bool below = s.lo != unboundedBelow, above = s.hi != unboundedAbove;
  if (s.q0 >= s.q1 || s.k0 >= s.k1 || (below && above && s.lo > s.hi))
    return false;

  // Queries that the key interval leaves a key, then keys that those see.
  Wide q0 = s.q0, q1 = s.q1, k0 = s.k0, k1 = s.k1;
  if (above)
    q0 = std::max(q0, ceilDiv(s.kStride * k0 - s.hi, s.qStride));
  if (below)
    q1 = std::min(q1, floorDiv(s.kStride * (k1 - 1) - s.lo, s.qStride) + 1);
  if (q0 >= q1)
    return false;
  s.q0 = int64_t(q0);
  s.q1 = int64_t(q1);
  Wide gap = Wide(s.hi) - s.lo;
  bool holes = below && above && gap < std::max(s.qStride, s.kStride) - 1;
  if (holes) {
    if (area(s) == 0)
      return false;
    trimHoles(s, &s.q0, &s.q1);
  }
  if (below)
    k0 = std::max(k0, ceilDiv(Wide(s.qStride) * s.q0 + s.lo, s.kStride));
  if (above)
    k1 = std::min(k1,
                  floorDiv(Wide(s.qStride) * (s.q1 - 1) + s.hi, s.kStride) + 1);
  if (k0 >= k1)
    return false;
  s.k0 = int64_t(k0);
  s.k1 = int64_t(k1);
  if (holes)
    trimHoles(s, &s.k0, &s.k1);

  if (Wide(s.qStride) * (s.q1 - 1) + s.lo <= Wide(s.kStride) * s.k0)
    s.lo = unboundedBelow;
  if (Wide(s.qStride) * s.q0 + s.hi >= Wide(s.kStride) * (s.k1 - 1))
    s.hi = unboundedAbove;
  if (s.lo == unboundedBelow && s.hi == unboundedAbove)
    s.qStride = s.kStride = 1;
  return true;
}

/// The slice whose pairs are those of both, if there is one.
static bool joined(const Slice &a, const Slice &b, Slice &result) {
  if (a.qStride != b.qStride || a.kStride != b.kStride ||
      a.uniform != b.uniform)
    return false;
  // A bound that cuts nothing off inside a slice is as good as the outermost
  // line through its rectangle.
  auto lowest = [](const Slice &s) {
    return s.lo != unboundedBelow
               ? Wide(s.lo)
               : Wide(s.kStride) * s.k0 - Wide(s.qStride) * (s.q1 - 1);
  };
  auto highest = [](const Slice &s) {
    return s.hi != unboundedAbove
               ? Wide(s.hi)
               : Wide(s.kStride) * (s.k1 - 1) - Wide(s.qStride) * s.q0;
  };
  Slice both = a;
  both.q0 = std::min(a.q0, b.q0);
  both.q1 = std::max(a.q1, b.q1);
  both.k0 = std::min(a.k0, b.k0);
  both.k1 = std::max(a.k1, b.k1);
  both.lo = saturate(std::min(lowest(a), lowest(b)));
  both.hi = saturate(std::max(highest(a), highest(b)));
  // It holds both slices, which are disjoint: nothing more if areas agree.
  if (area(both) != area(a) + area(b))
    return false;
  tighten(both);
  result = both;
  return true;
}

void join(std::vector<Slice> &slices) {
  for (size_t i = 0; i < slices.size(); ++i)
    for (size_t j = i + 1; j < slices.size(); ++j)
      if (joined(slices[i], slices[j], slices[i])) {
        slices.erase(slices.begin() + std::ptrdiff_t(j));
        // The larger slice may now meet any other.
        i = size_t(-1);
        break;
      }
}

} // namespace sprt::algebra
