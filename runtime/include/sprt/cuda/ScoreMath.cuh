/// What score functions are made of: StableHLO's meaning of operations on
/// single numbers, where C++ has none or another one. Narrow floating-point
/// numbers are floats that are rounded after each operation.
#ifndef SPRT_CUDA_SCOREMATH_CUH
#define SPRT_CUDA_SCOREMATH_CUH

#include "sprt/cuda/AttentionArguments.h"
#include "sprt/cuda/Ptx.cuh"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace sprt::cuda {

/// A query row, local, whose scores a function is asked of.
struct ScoreRow {
  int batch, head, row;
  int globalHead;
};

/// What no score function stands for. One that there is has
///     Query, query(arguments, row)             what it reads of a query row
///     Key, key(arguments, batch, row)          and of a key
///     apply(arguments, query, key, score)      the exponent
///     factor(arguments, query, key, score)     of the power that meets a value
/// the last one where `kHasFactor`. `kIsLight`: registers are left for a
/// product that is computed meanwhile.
struct NoScore {
  static constexpr bool kIsNone = true, kIsLight = true, kHasFactor = false;
  struct Query {};
  struct Key {};
};

namespace score {

// Integers wrap around, as unsigned ones do.
template <class T>
using Wrapping = typename std::conditional_t<
    std::is_integral_v<T> && !std::is_same_v<T, bool>, std::make_unsigned<T>,
    std::common_type<T>>::type;

template <class T> SPRT_DEVICE T add(T x, T y) {
  if constexpr (std::is_same_v<T, bool>)
    return x || y;
  else
    return static_cast<T>(Wrapping<T>(x) + Wrapping<T>(y));
}
template <class T> SPRT_DEVICE T subtract(T x, T y) {
  return static_cast<T>(Wrapping<T>(x) - Wrapping<T>(y));
}
template <class T> SPRT_DEVICE T multiply(T x, T y) {
  if constexpr (std::is_same_v<T, bool>)
    return x && y;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(uint64_t(x) * uint64_t(y));
  else
    return x * y;
}
template <class T> SPRT_DEVICE T negate(T x) { return subtract(T(0), x); }
template <class T> SPRT_DEVICE T divide(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && y == static_cast<T>(-1))
      return negate(x);
  }
  return static_cast<T>(x / y);
}
template <class T> SPRT_DEVICE T remainder(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(x, y);
  else if (y == 0)
    return x;
  else if (std::is_signed_v<T> && y == static_cast<T>(-1))
    return 0;
  else
    return static_cast<T>(x % y);
}

// NaN wins.
template <class T> SPRT_DEVICE T maximum(T x, T y) {
  return x != x || x > y ? x : y;
}
template <class T> SPRT_DEVICE T minimum(T x, T y) {
  return x != x || x < y ? x : y;
}
template <class T> SPRT_DEVICE T clamp(T low, T x, T high) {
  return minimum(maximum(low, x), high);
}
template <class T> SPRT_DEVICE T select(bool condition, T x, T y) {
  return condition ? x : y;
}

template <class T> SPRT_DEVICE T bitAnd(T x, T y) { return x & y; }
template <class T> SPRT_DEVICE T bitOr(T x, T y) { return x | y; }
template <class T> SPRT_DEVICE T bitXor(T x, T y) { return x ^ y; }
template <class T> SPRT_DEVICE T bitNot(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return !x;
  else
    return static_cast<T>(~x);
}
/// Whether a shift leaves nothing of a number.
template <class T> SPRT_DEVICE bool isTooFar(T by) {
  return static_cast<std::make_unsigned_t<T>>(by) >= 8 * sizeof(T);
}
template <class T> SPRT_DEVICE T shiftLeft(T x, T by) {
  return isTooFar(by)
             ? T(0)
             : static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << by);
}
template <class T> SPRT_DEVICE T shiftRightLogical(T x, T by) {
  return isTooFar(by)
             ? T(0)
             : static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> by);
}
template <class T> SPRT_DEVICE T shiftRightArithmetic(T x, T by) {
  using Signed = std::make_signed_t<T>;
  T far = static_cast<T>(8 * sizeof(T) - 1);
  return static_cast<T>(static_cast<Signed>(x) >> (isTooFar(by) ? far : by));
}

template <class T> SPRT_DEVICE T absolute(T x) { return x < 0 ? negate(x) : x; }
SPRT_DEVICE float absolute(float x) { return std::fabs(x); }
SPRT_DEVICE double absolute(double x) { return std::fabs(x); }
/// Zeros and NaN stay as they are.
template <class T> SPRT_DEVICE T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}
template <class T> SPRT_DEVICE T logistic(T x) {
  return 1 / (1 + std::exp(-x));
}
template <class T> SPRT_DEVICE T rsqrt(T x) { return 1 / std::sqrt(x); }
template <class T> SPRT_DEVICE bool isFinite(T x) { return x - x == 0; }

/// Saturates where the number does not fit; NaN becomes 0.
template <class To, class From> SPRT_DEVICE To convert(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    if (x != x)
      return 0;
    if (x >= static_cast<From>(Limits::max()))
      return Limits::max();
    if (x <= static_cast<From>(Limits::lowest()))
      return Limits::lowest();
    return static_cast<To>(x);
  } else
    return static_cast<To>(x);
}
template <class To, class From> SPRT_DEVICE To bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From), "numbers of other widths");
  To to;
  std::memcpy(&to, &x, sizeof to);
  return to;
}
/// A float as an element of 16 bits holds it.
template <class Element> SPRT_DEVICE float rounded(float x) {
  return static_cast<float>(static_cast<Element>(x));
}

/// Element `index` of memory, as a number to compute with.
template <class Number, class Element>
SPRT_DEVICE Number load(const void *data, int64_t index) {
  return static_cast<Number>(
      ptx::loadConstant(static_cast<const Element *>(data) + index));
}
/// Which element of a term belongs to a query row, and to the first key.
SPRT_DEVICE int64_t place(const ScoreTerm &term, const ScoreRow &at) {
  return at.batch * term.strides[0] + at.head * term.strides[1] +
         at.row * term.strides[2];
}
/// Which one belongs to a key of every query.
SPRT_DEVICE int64_t place(const ScoreTerm &term, int batch, int key) {
  return batch * term.strides[0] + key * term.strides[3];
}

template <class Element>
SPRT_DEVICE const Element *begin(const ScoreTerm &term, const ScoreRow &at) {
  return static_cast<const Element *>(term.data) + place(term, at);
}

// Without branches or calls, for functions of elements of 16 bits.
SPRT_DEVICE float quickDivide(float x, float y) {
  return x * ptx::reciprocal(y);
}
SPRT_DEVICE float quickLogistic(float x) {
  return ptx::reciprocal(1 + ptx::exp2(x * -1.4426950408889634f));
}
/// Wrong by 2^-11 of what it gives at most: a score that is capped so, by 2^-11
/// of its size, which its cap bounds (0.01 of a logit for a cap of 20, half of
/// what bf16 makes of q.k there). Two instructions for powers would take half
/// as long again as the products beside them.
SPRT_DEVICE float quickTanh(float x) { return ptx::nearTanh(x); }

} // namespace score
} // namespace sprt::cuda

#endif // SPRT_CUDA_SCOREMATH_CUH
