//===- UnaryOps.cpp - Element-wise functions of one operand ---------------===//
#include "Elementwise.h"
#include "sp/StableHLO/ScalarForms.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace mlir::interpreter;
using Complex = std::complex<double>;

/// Registers an operation whose meaning is a function of each storage.
template <typename OpT, typename OnInteger, typename OnFloat,
          typename OnComplex>
static void addUnary(Handlers &handlers, OnInteger onInteger, OnFloat onFloat,
                     OnComplex onComplex) {
  handlers.addElementwise<OpT>([=](OpT op, Tensors &operands,
                                   Evaluator &evaluator) {
    return mapUnary(op, operands[0], evaluator, onInteger, onFloat, onComplex);
  });
}

/// Integers wrap: they are computed without sign and cut to their width after.
template <typename T> static T negateInteger(T x) { return T(0 - uint64_t(x)); }

static void addUnaryArithmetic(Handlers &h) {
  addUnary<stablehlo::NegOp>(
      h, [](auto x) { return negateInteger(x); }, [](double x) { return -x; },
      [](Complex x) { return -x; });
  const auto &sign =
      stablehlo::scalarForms().at(TypeID::get<stablehlo::SignOp>());
  addUnary<stablehlo::SignOp>(
      h, [](auto x) { return decltype(x)((x > 0) - (x < 0)); },
      [real = sign.real](double x) { return real(x); },
      [complex = sign.complex](Complex x) { return complex(x); });

  addUnary<chlo::SquareOp>(
      h, [](auto x) { return decltype(x)(uint64_t(x) * uint64_t(x)); },
      [](double x) { return x * x; }, [](Complex x) { return x * x; });

  h.addElementwise<stablehlo::AbsOp>(
      [](stablehlo::AbsOp op, Tensors &operands,
         Evaluator &evaluator) -> FailureOr<Tensor> {
        Type element = resultElement(op);
        if (operands[0].getStorage() == Storage::Complex)
          return map<double, Complex>(operands[0], element,
                                      evaluator.rounderFor(element),
                                      [](Complex x) { return std::abs(x); });
        return mapUnary(
            op, operands[0], evaluator,
            [](auto x) { return x < 0 ? negateInteger(x) : x; },
            [](double x) { return std::fabs(x); }, None());
      });
  h.addElementwise<stablehlo::IsFiniteOp>(
      [](stablehlo::IsFiniteOp op, Tensors &operands, Evaluator &evaluator) {
        Type element = resultElement(op);
        return map<uint8_t, double>(
            operands[0], element, evaluator.rounderFor(element),
            [](double x) -> uint8_t { return std::isfinite(x); });
      });
}

/// Bit operations need the width of the element type.
template <typename OpT, typename Fn> static void addBits(Handlers &h, Fn fn) {
  h.addElementwise<OpT>([fn](OpT op, Tensors &operands, Evaluator &evaluator) {
    unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
    return mapUnary(
        op, operands[0], evaluator,
        [fn, width](auto x) {
          return decltype(x)(fn(wrapUnsigned(uint64_t(x), width), width));
        },
        None(), None());
  });
}

static void addUnaryBitwise(Handlers &h) {
  addBits<stablehlo::NotOp>(
      h, [](uint64_t x, unsigned width) { return wrapUnsigned(~x, width); });
  addBits<stablehlo::ClzOp>(h, [](uint64_t x, unsigned width) -> uint64_t {
    return llvm::countl_zero(x) - (64 - width);
  });
  addBits<stablehlo::PopulationCountOp>(
      h, [](uint64_t x, unsigned) -> uint64_t { return llvm::popcount(x); });
}

/// Real and imaginary part; a real number is its own real part.
template <typename OpT, typename OnFloat, typename OnComplex>
static void addPart(Handlers &h, OnFloat onFloat, OnComplex onComplex) {
  h.addElementwise<OpT>([=](OpT op, Tensors &operands, Evaluator &evaluator) {
    Type element = resultElement(op);
    Rounder round = evaluator.rounderFor(element);
    if (operands[0].getStorage() == Storage::Complex)
      return map<double, Complex>(operands[0], element, round, onComplex);
    return map<double, double>(operands[0], element, round, onFloat);
  });
}

static void addParts(Handlers &h) {
  addPart<stablehlo::RealOp>(
      h, [](double x) { return x; }, [](Complex x) { return x.real(); });
  addPart<stablehlo::ImagOp>(
      h, [](double) { return 0.0; }, [](Complex x) { return x.imag(); });
}

void interpreter::addUnaryOps(Handlers &handlers) {
  addUnaryArithmetic(handlers);
  addUnaryBitwise(handlers);
  addParts(handlers);
}
