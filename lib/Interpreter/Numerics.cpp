//===- Numerics.cpp - Rounding to the program's types ---------------------===//
#include "Numerics.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace mlir::interpreter;

double interpreter::toDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

/// A bf16 is the upper half of an f32.
static uint32_t bfloatBits(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

double interpreter::floatFromBits(uint64_t bits, FloatType type) {
  if (type.isF64())
    return llvm::bit_cast<double>(bits);
  if (type.isF32())
    return llvm::bit_cast<float>(uint32_t(bits));
  if (type.isBF16())
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  return toDouble(
      APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits)));
}

/// Through APFloat: right for every format, for the ones too rare to be fast.
static APFloat convertSlowly(double value, FloatType type) {
  APFloat result(static_cast<double>(static_cast<float>(value)));
  bool losesInfo;
  result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return result;
}

uint64_t interpreter::floatToBits(double value, FloatType type) {
  if (type.isF64())
    return llvm::bit_cast<uint64_t>(value);
  if (type.isF32())
    return llvm::bit_cast<uint32_t>(float(value));
  if (type.isBF16())
    return bfloatBits(float(value));
  return convertSlowly(value, type).bitcastToAPInt().getZExtValue();
}

/// Nearest f16: a multiple of 2^-24 below 2^-14, else 11 significant bits.
static double roundToHalf(float value) {
  if (!std::isfinite(value) || value == 0)
    return value;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f)
    return std::copysign(HUGE_VAL, value);
  int exponent = std::max(std::ilogb(magnitude), -14);
  return std::ldexp(std::nearbyint(std::ldexp(double(value), 10 - exponent)),
                    exponent - 10);
}

double interpreter::roundToType(double value, FloatType type) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return float(value);
  if (type.isBF16())
    return llvm::bit_cast<float>(bfloatBits(float(value)) << 16);
  if (type.isF16())
    return roundToHalf(float(value));
  return toDouble(convertSlowly(value, type));
}

Rounder::Rounder(Type elementType, Precision precision) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    elementType = complex.getElementType();
  if (auto integer = dyn_cast<IntegerType>(elementType))
    width = integer.getWidth();
  auto type = dyn_cast<FloatType>(elementType);
  if (type && precision == Precision::Program && !type.isF64())
    floating = type;
}

void Rounder::operator()(MutableArrayRef<int64_t> values) const {
  if (width == 64)
    return;
  for (int64_t &value : values)
    value = wrapSigned(value, width);
}

void Rounder::operator()(MutableArrayRef<uint64_t> values) const {
  if (width == 64)
    return;
  for (uint64_t &value : values)
    value = wrapUnsigned(value, width);
}

void Rounder::operator()(MutableArrayRef<double> values) const {
  if (!floating)
    return;
  if (floating.isF32()) {
    for (double &value : values)
      value = float(value);
    return;
  }
  for (double &value : values)
    value = roundToType(value, floating);
}

void Rounder::operator()(MutableArrayRef<std::complex<double>> values) const {
  // The standard lays a complex number out as an array of two.
  (*this)(MutableArrayRef<double>(reinterpret_cast<double *>(values.data()),
                                  2 * values.size()));
}

void Rounder::apply(Tensor &tensor) const {
  Storage storage = tensor.getStorage();
  bool isFloat = storage == Storage::Float || storage == Storage::Complex;
  if (isFloat ? !floating : width == 64 || storage == Storage::Bool)
    return;
  dispatch(storage, [&](auto tag) {
    (*this)(tensor.mutableElements<typename decltype(tag)::type>());
  });
}
