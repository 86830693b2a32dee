//===- Numerics.h - Rounding to the program's types ------------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_NUMERICS_H
#define SP_LIB_INTERPRETER_NUMERICS_H

#include "sp/Interpreter/Interpreter.h"
#include "llvm/ADT/APFloat.h"

namespace mlir::interpreter {

/// The low `width` bits of `bits`, sign- or zero-extended.
inline int64_t wrapSigned(uint64_t bits, unsigned width) {
  return int64_t(bits << (64 - width)) >> (64 - width);
}
inline uint64_t wrapUnsigned(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

double toDouble(APFloat value);
/// Between a double and the bits of a narrower (or equal) float type, rounding
/// to nearest even.
double floatFromBits(uint64_t bits, FloatType type);
uint64_t floatToBits(double value, FloatType type);
/// The nearest value of a float type (f16, bf16 and f8 by way of f32).
double roundToType(double value, FloatType type);

/// Gives results the range and precision of their element type.
class Rounder {
public:
  Rounder(Type elementType, Precision precision);

  void operator()(MutableArrayRef<uint8_t>) const {}
  void operator()(MutableArrayRef<int64_t> values) const;
  void operator()(MutableArrayRef<uint64_t> values) const;
  void operator()(MutableArrayRef<double> values) const;
  void operator()(MutableArrayRef<std::complex<double>> values) const;

  /// Rounds all elements of a tensor; does not touch one that needs nothing.
  void apply(Tensor &tensor) const;

private:
  /// Float type to round to; null where f64 holds.
  FloatType floating;
  unsigned width = 64;
};

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_NUMERICS_H
