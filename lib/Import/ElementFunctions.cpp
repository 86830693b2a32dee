//===- ElementFunctions.cpp - Element-wise operations in f64 --------------===//

#include "SampleEvaluator.h"

#include "sp/Interpreter/Interpreter.h"
#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/StringMap.h"

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

/// A NaN in either makes the result NaN, as in the specification.
static double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
static double minimum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}

static double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static const llvm::StringMap<Unary> &unaryFunctions() {
  static const llvm::StringMap<Unary> functions = {
      {"abs", [](double a) { return std::fabs(a); }},
      {"cbrt", [](double a) { return std::cbrt(a); }},
      {"ceil", [](double a) { return std::ceil(a); }},
      {"cosine", [](double a) { return std::cos(a); }},
      {"exponential", [](double a) { return std::exp(a); }},
      {"exponential_minus_one", [](double a) { return std::expm1(a); }},
      {"floor", [](double a) { return std::floor(a); }},
      {"is_finite", [](double a) { return std::isfinite(a) ? 1.0 : 0.0; }},
      {"log", [](double a) { return std::log(a); }},
      {"log_plus_one", [](double a) { return std::log1p(a); }},
      {"logistic", [](double a) { return 1.0 / (1.0 + std::exp(-a)); }},
      {"negate", [](double a) { return -a; }},
      {"round_nearest_afz", [](double a) { return std::round(a); }},
      {"round_nearest_even", [](double a) { return std::nearbyint(a); }},
      {"rsqrt", [](double a) { return 1.0 / std::sqrt(a); }},
      {"sign", sign},
      {"sine", [](double a) { return std::sin(a); }},
      {"sqrt", [](double a) { return std::sqrt(a); }},
      {"tanh", [](double a) { return std::tanh(a); }}};
  return functions;
}

static const llvm::StringMap<Binary> &binaryFunctions() {
  static const llvm::StringMap<Binary> functions = {
      {"add", [](double a, double b) { return a + b; }},
      {"divide", [](double a, double b) { return a / b; }},
      {"maximum", maximum},
      {"minimum", minimum},
      {"multiply", [](double a, double b) { return a * b; }},
      {"power", [](double a, double b) { return std::pow(a, b); }},
      {"remainder", [](double a, double b) { return std::fmod(a, b); }},
      {"subtract", [](double a, double b) { return a - b; }}};
  return functions;
}

/// Bits shifted out are lost; so are all by an amount outside [0, width).
static ElementFunction shiftFunction(StringRef name, unsigned width) {
  bool isLeft = name == "shift_left",
       isSigned = name == "shift_right_arithmetic";
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
static ElementFunction integerFunction(StringRef name, Type type) {
  bool boolean = type.isInteger(1);
  auto bitwise = [](auto combine) -> ElementFunction {
    return [combine](ArrayRef<double> a) {
      return double(combine(int64_t(a[0]), int64_t(a[1])));
    };
  };
  if (name == "and" || (boolean && (name == "multiply" || name == "minimum")))
    return bitwise([](int64_t a, int64_t b) { return a & b; });
  if (name == "or" || (boolean && (name == "add" || name == "maximum")))
    return bitwise([](int64_t a, int64_t b) { return a | b; });
  if (name == "xor")
    return bitwise([](int64_t a, int64_t b) { return a ^ b; });
  if (name == "not")
    return [boolean](ArrayRef<double> a) {
      return boolean ? 1.0 - a[0] : double(~int64_t(a[0]));
    };
  unsigned width = type.getIntOrFloatBitWidth();
  if (name.starts_with("shift_"))
    return shiftFunction(name, width);
  // The low bits, also of products that no double holds.
  if (name == "multiply" && width <= 32)
    return [width](ArrayRef<double> a) {
      uint64_t product = uint64_t(int64_t(a[0])) * uint64_t(int64_t(a[1]));
      return double(product & llvm::maskTrailingOnes<uint64_t>(width));
    };
  if (name == "divide")
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
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("stablehlo."))
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
  if (auto reduce = dyn_cast<stablehlo::ReducePrecisionOp>(op)) {
    auto type = cast<FloatType>(result);
    int exponent = reduce.getExponentBits(),
        mantissa = reduce.getMantissaBits();
    return [=](ArrayRef<double> a) {
      return interpreter::reducePrecision(a[0], type, std::min(exponent, 11),
                                          std::min(mantissa, 52));
    };
  }
  if (name == "select")
    return [](ArrayRef<double> a) { return a[0] != 0 ? a[1] : a[2]; };
  if (name == "clamp")
    return
        [](ArrayRef<double> a) { return minimum(maximum(a[1], a[0]), a[2]); };
  if (name == "convert") {
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
    if (ElementFunction function = integerFunction(name, result))
      return function;
  auto unary = unaryFunctions().find(name);
  if (unary != unaryFunctions().end() && op->getNumOperands() == 1) {
    Unary function = unary->second;
    return [function](ArrayRef<double> a) { return function(a[0]); };
  }
  auto binary = binaryFunctions().find(name);
  if (binary != binaryFunctions().end() && op->getNumOperands() == 2) {
    Binary function = binary->second;
    return [function](ArrayRef<double> a) { return function(a[0], a[1]); };
  }
  return nullptr;
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
