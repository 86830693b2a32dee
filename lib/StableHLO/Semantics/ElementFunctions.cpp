//===- ElementFunctions.cpp - Element-wise operations in f64 --------------===//

#include "sp/StableHLO/ElementFunctions.h"

#include "sp/StableHLO/ScalarForms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sp;

static bool compareNumbers(stablehlo::ComparisonDirection direction, double a,
                           double b) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return a == b;
  case stablehlo::ComparisonDirection::NE:
    return a != b;
  case stablehlo::ComparisonDirection::GE:
    return a >= b;
  case stablehlo::ComparisonDirection::GT:
    return a > b;
  case stablehlo::ComparisonDirection::LE:
    return a <= b;
  case stablehlo::ComparisonDirection::LT:
    return a < b;
  }
  return false;
}

/// Bits shifted out are lost; so are all by an amount outside [0, width).
static ElementFunction shiftFunction(Operation *op, unsigned width) {
  bool isLeft = isa<stablehlo::ShiftLeftOp>(op),
       isSigned = isa<stablehlo::ShiftRightArithmeticOp>(op);
  return [=](ArrayRef<double> a) {
    int64_t value = int64_t(a[0]);
    bool isInside = a[1] >= 0 && a[1] < width;
    if (isSigned)
      return double(value >> (isInside ? int64_t(a[1]) : width - 1));
    uint64_t bits = uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
    unsigned amount = isInside ? unsigned(a[1]) : 0;
    bits = isLeft ? bits << amount : bits >> amount;
    return isInside ? double(bits & llvm::maskTrailingOnes<uint64_t>(width))
                    : 0.0;
  };
}

/// Bitwise operations, and what is different for booleans and integers.
static ElementFunction integerFunction(Operation *op, Type type) {
  bool boolean = type.isInteger(1);
  auto bitwise = [](auto combine) -> ElementFunction {
    return [combine](ArrayRef<double> a) {
      return double(combine(int64_t(a[0]), int64_t(a[1])));
    };
  };
  if (isa<stablehlo::AndOp>(op) ||
      (boolean && isa<stablehlo::MulOp, stablehlo::MinOp>(op)))
    return bitwise([](int64_t a, int64_t b) { return a & b; });
  if (isa<stablehlo::OrOp>(op) ||
      (boolean && isa<stablehlo::AddOp, stablehlo::MaxOp>(op)))
    return bitwise([](int64_t a, int64_t b) { return a | b; });
  if (isa<stablehlo::XorOp>(op))
    return bitwise([](int64_t a, int64_t b) { return a ^ b; });
  if (isa<stablehlo::NotOp>(op))
    return [boolean](ArrayRef<double> a) {
      return boolean ? 1.0 - a[0] : double(~int64_t(a[0]));
    };
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<stablehlo::ShiftLeftOp, stablehlo::ShiftRightArithmeticOp,
          stablehlo::ShiftRightLogicalOp>(op))
    return shiftFunction(op, width);
  // The low bits, also of products that no double holds.
  if (isa<stablehlo::MulOp>(op) && width <= 32)
    return [width](ArrayRef<double> a) {
      uint64_t product = uint64_t(int64_t(a[0])) * uint64_t(int64_t(a[1]));
      return double(product & llvm::maskTrailingOnes<uint64_t>(width));
    };
  if (isa<stablehlo::DivOp>(op))
    return [](ArrayRef<double> a) {
      return a[1] == 0 ? -1.0 : std::trunc(a[0] / a[1]);
    };
  return nullptr;
}

/// A float that an integer type does not hold becomes the nearest it holds, and
/// NaN 0, as kernels and XLA have it.
static ElementFunction saturatingFunction(Type to) {
  int width = int(to.getIntOrFloatBitWidth());
  double least = to.isUnsignedInteger() ? 0.0 : -std::ldexp(1.0, width - 1);
  double end = least + std::ldexp(1.0, width);
  // The greatest that a double holds below the end.
  double greatest = std::min(end - 1, std::nextafter(end, 0.0));
  return [=](ArrayRef<double> a) {
    return std::isnan(a[0]) ? 0.0
                            : std::clamp(std::trunc(a[0]), least, greatest);
  };
}

static ElementFunction bitcastFunction(Type from, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  if (!from.isIntOrFloat() || from.getIntOrFloatBitWidth() != width ||
      width > 32)
    return nullptr;
  return [=](ArrayRef<double> a) {
    llvm::APInt bits(width, uint64_t(int64_t(a[0])), false, true);
    bool isLost = false;
    if (auto real = dyn_cast<FloatType>(from)) {
      llvm::APFloat number(a[0]);
      number.convert(real.getFloatSemantics(),
                     llvm::APFloat::rmNearestTiesToEven, &isLost);
      bits = number.bitcastToAPInt();
    }
    auto real = dyn_cast<FloatType>(to);
    if (!real)
      return double(bits.getZExtValue());
    llvm::APFloat number(real.getFloatSemantics(), bits);
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &isLost);
    return number.convertToDouble();
  };
}

ElementFunction mlir::sp::elementFunction(Operation *op) {
  if (!isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()))
    return nullptr;
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (!result.isIntOrFloat())
    return nullptr;
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    stablehlo::ComparisonDirection direction = compare.getComparisonDirection();
    return [direction](ArrayRef<double> a) {
      return compareNumbers(direction, a[0], a[1]) ? 1.0 : 0.0;
    };
  }
  if (isa<stablehlo::BitcastConvertOp>(op))
    return bitcastFunction(getElementTypeOrSelf(op->getOperand(0).getType()),
                           result);
  if (isa<stablehlo::SelectOp>(op))
    return [](ArrayRef<double> a) { return a[0] != 0 ? a[1] : a[2]; };
  if (isa<stablehlo::ClampOp>(op))
    return [](ArrayRef<double> a) {
      return std::isnan(a[0]) || std::isnan(a[1]) || std::isnan(a[2])
                 ? std::nan("")
                 : std::min(std::max(a[1], a[0]), a[2]);
    };
  if (isa<stablehlo::ConvertOp>(op)) {
    if (isa<FloatType>(result))
      return [](ArrayRef<double> a) { return a[0]; };
    if (result.isInteger(1))
      return [](ArrayRef<double> a) { return a[0] != 0 ? 1.0 : 0.0; };
    Type operand = getElementTypeOrSelf(op->getOperand(0).getType());
    if (!isa<FloatType>(operand))
      return [](ArrayRef<double> a) { return a[0]; };
    return saturatingFunction(result);
  }
  if (result.isInteger() && !isa<stablehlo::IsFiniteOp>(op))
    if (ElementFunction function = integerFunction(op, result))
      return function;
  if (isa<stablehlo::IsFiniteOp>(op))
    return [](ArrayRef<double> a) { return std::isfinite(a[0]) ? 1.0 : 0.0; };
  const stablehlo::ScalarForm *form = stablehlo::scalarFormOf(op);
  return form ? ElementFunction(form->real) : nullptr;
}

void mlir::sp::roundTo(Type type, std::vector<double> &data) {
  if (auto real = dyn_cast<FloatType>(type)) {
    if (real.isF64())
      return;
    for (double &value : data) {
      llvm::APFloat number(value);
      bool lost = false;
      number.convert(real.getFloatSemantics(),
                     llvm::APFloat::rmNearestTiesToEven, &lost);
      number.convert(llvm::APFloat::IEEEdouble(),
                     llvm::APFloat::rmNearestTiesToEven, &lost);
      value = number.convertToDouble();
    }
    return;
  }
  if (!type.isInteger() || type.getIntOrFloatBitWidth() > 32)
    return;
  double period = std::ldexp(1.0, type.getIntOrFloatBitWidth());
  bool isSigned = !type.isUnsignedInteger() && !type.isInteger(1);
  for (double &value : data) {
    value -= period * std::floor(value / period);
    if (isSigned && value >= period / 2)
      value -= period;
  }
}
