//===- BinaryOps.cpp - Element-wise functions of two operands -------------===//
#include "Arithmetic.h"
#include "Elementwise.h"
#include "sp/StableHLO/StableHLO.h"
#include <cmath>

using namespace mlir;
using namespace mlir::interpreter;
using Complex = std::complex<double>;

template <typename OpT, typename OnInteger, typename OnFloat,
          typename OnComplex>
static void addBinary(Handlers &handlers, OnInteger onInteger, OnFloat onFloat,
                      OnComplex onComplex) {
  handlers.addElementwise<OpT>([=](OpT op, Tensors &operands,
                                   Evaluator &evaluator) {
    return mapBinary(op, operands, evaluator, onInteger, onFloat, onComplex);
  });
}

/// One rule for all storages.
template <typename OpT, typename Fn>
static void addUniform(Handlers &handlers, Fn fn) {
  addBinary<OpT>(handlers, fn, fn, fn);
}

//===----------------------------------------------------------------------===//
// Integers: see Arithmetic.h
//===----------------------------------------------------------------------===//

template <typename T> static T subtractIntegers(T x, T y) {
  if constexpr (isBool<T>)
    return x ^ y;
  return T(uint64_t(x) - uint64_t(y));
}

/// Towards zero; x / 0 has all bits set; min / -1 wraps to min.
template <typename T> static T divideIntegers(T x, T y) {
  if (y == 0)
    return isBool<T> ? T(1) : T(~uint64_t(0));
  if (std::is_signed_v<T> && y == T(-1))
    return T(0 - uint64_t(x));
  return x / y;
}

/// Sign of x; x % 0 is x; min % -1 is 0.
template <typename T> static T remainderIntegers(T x, T y) {
  if (y == 0)
    return x;
  if (std::is_signed_v<T> && y == T(-1))
    return 0;
  return x % y;
}

/// By squaring. A negative exponent gives 0 but for bases 1 and -1.
template <typename T> static T powerIntegers(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < 0) {
    if (base == T(-1))
      return exponent % 2 ? base : T(1);
    return base == 1;
  }
  uint64_t result = 1, factor = uint64_t(base);
  for (auto rest = uint64_t(exponent); rest; rest >>= 1, factor *= factor)
    if (rest & 1)
      result *= factor;
  return T(result);
}

static void addBinaryArithmetic(Handlers &h) {
  addUniform<stablehlo::AddOp>(h, [](auto x, auto y) { return sum(x, y); });
  addUniform<stablehlo::MulOp>(h, [](auto x, auto y) { return product(x, y); });
  addUniform<stablehlo::MaxOp>(h, [](auto x, auto y) { return maximum(x, y); });
  addUniform<stablehlo::MinOp>(h, [](auto x, auto y) { return minimum(x, y); });
  addBinary<stablehlo::SubtractOp>(
      h, [](auto x, auto y) { return subtractIntegers(x, y); },
      [](double x, double y) { return x - y; },
      [](Complex x, Complex y) { return x - y; });
  addBinary<stablehlo::DivOp>(
      h, [](auto x, auto y) { return divideIntegers(x, y); },
      [](double x, double y) { return x / y; },
      [](Complex x, Complex y) { return x / y; });
  addBinary<stablehlo::RemOp>(
      h, [](auto x, auto y) { return remainderIntegers(x, y); },
      [](double x, double y) { return std::fmod(x, y); }, None());
  addBinary<stablehlo::PowOp>(
      h, [](auto x, auto y) { return powerIntegers(x, y); },
      [](double x, double y) { return std::pow(x, y); },
      [](Complex x, Complex y) { return std::pow(x, y); });
}

static void addBinaryBitwise(Handlers &h) {
  using T = uint64_t;
  addBinary<stablehlo::AndOp>(
      h, [](auto x, auto y) { return decltype(x)(T(x) & T(y)); }, None(),
      None());
  addBinary<stablehlo::OrOp>(
      h, [](auto x, auto y) { return decltype(x)(T(x) | T(y)); }, None(),
      None());
  addBinary<stablehlo::XorOp>(
      h, [](auto x, auto y) { return decltype(x)(T(x) ^ T(y)); }, None(),
      None());
}

/// Shifts by the width or more (a negative amount is a large one) leave no bit
/// of x, or only its sign. `fn` sees x's bits, the amount and the width.
template <typename OpT, typename Fn> static void addShift(Handlers &h, Fn fn) {
  h.addElementwise<OpT>([fn](OpT op, Tensors &operands, Evaluator &evaluator) {
    unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
    return mapBinary(
        op, operands, evaluator,
        [fn, width](auto x, auto y) {
          return decltype(x)(fn(wrapUnsigned(uint64_t(x), width),
                                wrapUnsigned(uint64_t(y), width), width));
        },
        None(), None());
  });
}

static void addShifts(Handlers &h) {
  addShift<stablehlo::ShiftLeftOp>(
      h, [](uint64_t x, uint64_t amount, unsigned width) -> uint64_t {
        return amount >= width ? 0 : wrapUnsigned(x << amount, width);
      });
  addShift<stablehlo::ShiftRightLogicalOp>(
      h, [](uint64_t x, uint64_t amount, unsigned width) -> uint64_t {
        return amount >= width ? 0 : x >> amount;
      });
  addShift<stablehlo::ShiftRightArithmeticOp>(
      h, [](uint64_t x, uint64_t amount, unsigned width) -> uint64_t {
        int64_t value = wrapSigned(x, width);
        int64_t shifted = value >> std::min<uint64_t>(amount, 63);
        return wrapUnsigned(uint64_t(shifted), width);
      });
}

void interpreter::addBinaryOps(Handlers &handlers) {
  addBinaryArithmetic(handlers);
  addBinaryBitwise(handlers);
  addShifts(handlers);
  handlers.addElementwise<stablehlo::ComplexOp>(
      [](stablehlo::ComplexOp op, Tensors &operands, Evaluator &evaluator) {
        alignShapes(operands);
        Type element = resultElement(op);
        return map<Complex, double>(
            operands[0], operands[1], element, evaluator.rounderFor(element),
            [](double x, double y) { return Complex(x, y); });
      });
}
