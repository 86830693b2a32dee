//===- SpecialFunctions.cpp - Functions above the core operations ---------===//
#include "SpecialFunctions.h"
#include "Elementwise.h"
#include "sp/StableHLO/StableHLO.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::interpreter;

/// Newton's method on erf(x) - y from Winitzki's approximation, whose error is
/// below 2e-3: three steps reach the last bits. Near one, erfc keeps the digits
/// that 1 - y has.
double interpreter::inverseErf(double y) {
  double magnitude = std::fabs(y);
  if (!(magnitude < 1)) {
    if (magnitude == 1)
      return std::copysign(std::numeric_limits<double>::infinity(), y);
    return std::numeric_limits<double>::quiet_NaN();
  }
  constexpr double kPi = 3.14159265358979323846, kA = 0.147;
  double log = std::log1p(-magnitude * magnitude);
  double t = 2 / (kPi * kA) + log / 2;
  double x = std::sqrt(std::sqrt(t * t - log / kA) - t);
  for (int step = 0; step < 4; ++step) {
    double error = magnitude < 0.5 ? std::erf(x) - magnitude
                                   : (1 - magnitude) - std::erfc(x);
    x -= error * std::exp(x * x) * std::sqrt(kPi) / 2;
  }
  return std::copysign(x, y);
}

template <typename OpT, typename Fn>
static void addFloat(Handlers &handlers, Fn fn) {
  handlers.addElementwise<OpT>(
      [fn](OpT op, Tensors &operands, Evaluator &evaluator) {
        return mapUnary(op, operands[0], evaluator, None(), fn, None());
      });
}

void interpreter::addSpecialFunctions(Handlers &h) {
  addFloat<chlo::ErfOp>(h, [](double x) { return std::erf(x); });
  addFloat<chlo::ErfcOp>(h, [](double x) { return std::erfc(x); });
  addFloat<chlo::ErfInvOp>(h, [](double x) { return inverseErf(x); });
  addFloat<chlo::AsinOp>(h, [](double x) { return std::asin(x); });
  addFloat<chlo::AcosOp>(h, [](double x) { return std::acos(x); });
  addFloat<chlo::AtanOp>(h, [](double x) { return std::atan(x); });
  addFloat<chlo::SinhOp>(h, [](double x) { return std::sinh(x); });
  addFloat<chlo::CoshOp>(h, [](double x) { return std::cosh(x); });
  h.addElementwise<chlo::SquareOp>(
      [](chlo::SquareOp op, Tensors &operands, Evaluator &evaluator) {
        return mapUnary(
            op, operands[0], evaluator,
            [](auto x) { return decltype(x)(uint64_t(x) * uint64_t(x)); },
            [](double x) { return x * x; },
            [](std::complex<double> x) { return x * x; });
      });
}
