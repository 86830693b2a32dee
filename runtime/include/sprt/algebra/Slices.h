/// Slices: the visible pairs of one block of local queries and one of keys.
///
/// A slice is what an attention kernel receives, sprt_slice itself: local query
/// rows [q0, q1), local key rows [k0, k1), and a band between two parallel
/// lines
///
///     qStride * a + lo  <=  kStride * b  <=  qStride * a + hi
///
/// in local rows a and b. Strides other than 1 appear where queries and keys
/// are dealt with different strides, as striped queries and gathered keys are.
///
/// The normal form, which `tighten` makes, is unique for strides 1:
///   - strides have no common divisor, and are 1 where neither line matters;
///   - the first and last row of both intervals see, or are seen by, something;
///   - a line that cuts nothing off is INT64_MIN or INT64_MAX.
///
///     before                                  after
///     q [0,8) k [0,4) -inf..0                 the same: row 3 sees keys 0..3
///     q [0,8) k [4,8) -inf..0                 q [4,8) k [4,8) -inf..0
///     q [4,8) k [0,4) -inf..0                 q [4,8) k [0,4), no bound
///     q [0,3) k [0,3) strides 4, -inf..-1     q [1,3) k [0,2) strides 1,
///     -inf..-1
#ifndef SPRT_ALGEBRA_SLICES_H
#define SPRT_ALGEBRA_SLICES_H

#include "sprt/algebra/Ranges.h"
#include "sprt/kernel.h"

#include <string>

namespace sprt::algebra {

/// A number of query-key pairs: 2^40 x 2^40 does not fit in 64 bits.
using Area = unsigned __int128;

/// The decimal digits of an area.
std::string toString(Area area);

using Slice = sprt_slice;

inline constexpr int64_t unboundedBelow = INT64_MIN;
inline constexpr int64_t unboundedAbove = INT64_MAX;

bool equal(const Slice &a, const Slice &b);

/// Whether query row `a` sees key row `b` through this slice.
bool visible(const Slice &slice, int64_t a, int64_t b);

/// The key rows that query row `a` sees through this slice (they are always an
/// interval); empty for a row outside [q0, q1).
Interval keysOf(const Slice &slice, int64_t a);

/// How many pairs the slice shows. Exact, and O(log stride): a sum of floors,
/// reduced like a greatest common divisor.
Area area(const Slice &slice);
Area area(const std::vector<Slice> &slices);

/// Brings the slice to normal form. False if it shows no pair.
bool tighten(Slice &slice);

/// Replaces pairs of disjoint normal slices by one slice wherever their union
/// is one, so that kernels see few large slices. Zigzag's causal first step is
/// four chunk pairs, and one triangle after joining.
void join(std::vector<Slice> &slices);

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_SLICES_H
