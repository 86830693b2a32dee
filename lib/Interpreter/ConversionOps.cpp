//===- ConversionOps.cpp - Changes of element type and precision ----------===//
#include "Elementwise.h"
#include "sp/Interpreter/TensorBytes.h"
#include "sp/StableHLO/StableHLO.h"
#include <cmath>

using namespace mlir;
using namespace mlir::interpreter;
using Complex = std::complex<double>;

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

/// Towards zero; NaN is 0; what does not fit is the nearest that does.
static int64_t toSigned(double x, unsigned width) {
  double bound = std::ldexp(1.0, int(width) - 1);
  if (std::isnan(x))
    return 0;
  if (x >= bound)
    return wrapSigned((uint64_t(1) << (width - 1)) - 1, width);
  return int64_t(std::max(x, -bound));
}

static uint64_t toUnsigned(double x, unsigned width) {
  if (!(x > -1))
    return 0;
  if (x >= std::ldexp(1.0, int(width)))
    return wrapUnsigned(~uint64_t(0), width);
  return uint64_t(std::max(x, 0.0));
}

/// One element; R and T are the C++ types of the storages.
template <typename R, typename T> static R convertElement(T x, unsigned width) {
  if constexpr (std::is_same_v<T, Complex>) {
    if constexpr (std::is_same_v<R, Complex>)
      return x;
    else if constexpr (std::is_same_v<R, uint8_t>)
      return x != Complex(0);
    else
      return convertElement<R, double>(x.real(), width);
  } else if constexpr (std::is_same_v<R, uint8_t>) {
    return x != T(0);
  } else if constexpr (std::is_same_v<R, Complex>) {
    return Complex(double(x), 0);
  } else if constexpr (std::is_same_v<T, double> &&
                       std::is_same_v<R, int64_t>) {
    return toSigned(x, width);
  } else if constexpr (std::is_same_v<T, double> &&
                       std::is_same_v<R, uint64_t>) {
    return toUnsigned(x, width);
  } else {
    return R(x);
  }
}

static Tensor convertOp(stablehlo::ConvertOp op, Tensors &operands,
                        Evaluator &evaluator) {
  Tensor &x = operands[0];
  Type element = resultElement(op);
  if (element == x.getElementType())
    return x;
  Rounder round = evaluator.rounderFor(element);
  unsigned width = element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
  return dispatch(*storageOf(element), [&](auto resultTag) {
    using R = typename decltype(resultTag)::type;
    return dispatch(x.getStorage(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      return map<R, T>(x, element, round, [width](T value) {
        return convertElement<R, T>(value, width);
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// bitcast_convert: through the bytes of the program's own types
//===----------------------------------------------------------------------===//

static FailureOr<Tensor> bitcastOp(stablehlo::BitcastConvertOp op,
                                   Tensors &operands, Evaluator &) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type from = operands[0].getElementType(), to = type.getElementType();
  auto wholeBytes = [](Type element) {
    return isa<ComplexType>(element) ||
           element.getIntOrFloatBitWidth() % 8 == 0;
  };
  if (from == to)
    return operands[0];
  if (!wholeBytes(from) || !wholeBytes(to))
    return op.emitOpError() << "is not evaluated from " << from << " to " << to
                            << ": expected elements of whole bytes";
  return tensorFromBytes(type, bytesOf(operands[0]));
}

//===----------------------------------------------------------------------===//
// reduce_precision
//===----------------------------------------------------------------------===//

double interpreter::reducePrecision(double x, FloatType type, int exponentBits,
                                    int mantissaBits) {
  x = roundToType(x, type);
  if (!std::isfinite(x) || x == 0)
    return x;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int ownMantissa = int(APFloat::semanticsPrecision(semantics)) - 1;
  if (mantissaBits < ownMantissa) {
    // Rounds at a bit of the source's own format, subnormal or not.
    int exponent =
        std::max<int>(std::ilogb(x), APFloat::semanticsMinExponent(semantics));
    x = std::ldexp(std::nearbyint(std::ldexp(x, mantissaBits - exponent)),
                   exponent - mantissaBits);
  }
  int largest = (1 << (exponentBits - 1)) - 1;
  if (largest >= APFloat::semanticsMaxExponent(semantics))
    return roundToType(x, type);
  if (x != 0 && std::ilogb(x) > largest)
    return std::copysign(HUGE_VAL, x);
  if (x != 0 && std::ilogb(x) < 1 - largest)
    return std::copysign(0.0, x);
  return x;
}

static FailureOr<Tensor> reducePrecisionOp(stablehlo::ReducePrecisionOp op,
                                           Tensors &operands,
                                           Evaluator &evaluator) {
  Type element = resultElement(op);
  auto type = cast<FloatType>(element);
  int exponentBits = std::min<int>(op.getExponentBits(), 11);
  int mantissaBits = std::min<int>(op.getMantissaBits(), 52);
  return map<double, double>(
      operands[0], element, evaluator.rounderFor(element), [=](double x) {
        return reducePrecision(x, type, exponentBits, mantissaBits);
      });
}

void interpreter::addConversionOps(Handlers &handlers) {
  handlers.addElementwise<stablehlo::ConvertOp>(convertOp);
  handlers.addElementwise<stablehlo::ReducePrecisionOp>(reducePrecisionOp);
  handlers.add<stablehlo::BitcastConvertOp>(bitcastOp);
}
