//===- Arithmetic.h - Scalar rules that several operations share -*- C++
//-*-===//
#ifndef SP_LIB_INTERPRETER_ARITHMETIC_H
#define SP_LIB_INTERPRETER_ARITHMETIC_H

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace mlir::interpreter {

/// Integers are computed without sign, where overflow wraps, and cut to their
/// width later. On i1, addition and maximum are `or`, multiplication and
/// minimum `and`.
template <typename T> inline constexpr bool isBool = std::is_same_v<T, uint8_t>;

template <typename T> T sum(T x, T y) {
  if constexpr (isBool<T>)
    return x | y;
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(x) + uint64_t(y));
  else
    return x + y;
}

template <typename T> T product(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return T(uint64_t(x) * uint64_t(y));
  else
    return x * y;
}

/// Complex numbers are ordered by real, then by imaginary part.
template <typename T> bool lessThan(T x, T y) {
  if constexpr (std::is_same_v<T, std::complex<double>>)
    return x.real() < y.real() || (x.real() == y.real() && x.imag() < y.imag());
  else
    return x < y;
}

/// NaN if either is; -0 is below +0.
template <typename T> T maximum(T x, T y) {
  if constexpr (std::is_same_v<T, double>) {
    if (x == y)
      return std::signbit(x) ? y : x;
    return x > y || std::isnan(x) ? x : y;
  } else {
    return lessThan(x, y) ? y : x;
  }
}

template <typename T> T minimum(T x, T y) {
  if constexpr (std::is_same_v<T, double>) {
    if (x == y)
      return std::signbit(x) ? x : y;
    return x < y || std::isnan(x) ? x : y;
  } else {
    return lessThan(y, x) ? y : x;
  }
}

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_ARITHMETIC_H
