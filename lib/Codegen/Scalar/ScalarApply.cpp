// Which arithmetic an operation means, by the kind of its elements.

#include "Scalar/ScalarEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace mlir::sp {

using namespace stablehlo;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

Value ScalarEmitter::applyFloat(Operation *op, Value x,
                                const ElementForm &form) {
  Type type = form.compute;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) { return math::AbsFOp::create(b, loc, x); })
      .Case([&](NegOp) { return arith::NegFOp::create(b, loc, x); })
      .Case([&](CeilOp) { return math::CeilOp::create(b, loc, x); })
      .Case([&](FloorOp) { return math::FloorOp::create(b, loc, x); })
      .Case([&](RoundOp) { return math::RoundOp::create(b, loc, x); })
      .Case([&](RoundNearestEvenOp) {
        return math::RoundEvenOp::create(b, loc, x);
      })
      .Case([&](SqrtOp) { return math::SqrtOp::create(b, loc, x); })
      .Case([&](RsqrtOp) {
        return fdiv(number(type, 1.0), math::SqrtOp::create(b, loc, x));
      })
      .Case([&](CbrtOp) { return math::CbrtOp::create(b, loc, x); })
      .Case([&](ExpOp) { return exp(x); })
      .Case([&](Expm1Op) { return expm1(x); })
      .Case([&](LogOp) { return log(x); })
      .Case([&](Log1pOp) { return log1p(x); })
      .Case([&](LogisticOp) { return logistic(x); })
      .Case([&](TanhOp) { return tanh(x); })
      .Case([&](SineOp) { return trigonometric(x, Trig::Sine); })
      .Case([&](CosineOp) { return trigonometric(x, Trig::Cosine); })
      .Case([&](TanOp) { return trigonometric(x, Trig::Tangent); })
      .Case([&](chlo::ErfOp) { return erf(x); })
      .Case([&](chlo::ErfcOp) { return erfc(x); })
      .Case([&](chlo::ErfInvOp) { return erfInv(x); })
      .Case([&](chlo::AsinOp) { return math::AsinOp::create(b, loc, x); })
      .Case([&](chlo::AcosOp) { return math::AcosOp::create(b, loc, x); })
      .Case([&](chlo::AtanOp) { return math::AtanOp::create(b, loc, x); })
      .Case([&](chlo::SinhOp) { return math::SinhOp::create(b, loc, x); })
      .Case([&](chlo::CoshOp) { return math::CoshOp::create(b, loc, x); })
      .Case([&](SignOp) {
        // Zeros and NaN stay as they are.
        Value one = math::CopySignOp::create(b, loc, number(type, 1.0), x);
        Value ordinary = arith::CmpFOp::create(b, loc, CmpFPredicate::ONE, x,
                                               number(type, 0.0));
        return choose(ordinary, one, x);
      })
      .Case([&](IsFiniteOp) {
        Value size = math::AbsFOp::create(b, loc, x);
        // A narrow element overflows at its own bound, not at that of f32.
        double bound = INFINITY;
        if (form.element.isF16())
          bound = 65520.0;
        return lessThan(size, bound);
      })
      .Case([&](ReducePrecisionOp reduce) {
        return reducePrecision(x, reduce.getExponentBits(),
                               reduce.getMantissaBits());
      })
      .Default([](Operation *) { return Value(); });
}

Value ScalarEmitter::applyInteger(Operation *op, ArrayRef<Scalar> operands,
                                  const ElementForm &form) {
  Type type = form.compute;
  Value x = operands[0].value;
  Value y = operands.size() > 1 ? operands[1].value : Value();
  auto isNegative = [&]() -> Value {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::slt, x,
                                 integer(type, 0));
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) {
        if (form.isUnsigned || form.isBool)
          return x;
        Value negated = arith::SubIOp::create(b, loc, integer(type, 0), x);
        return choose(isNegative(), negated, x);
      })
      .Case([&](NegOp) {
        return arith::SubIOp::create(b, loc, integer(type, 0), x);
      })
      .Case([&](NotOp) { return bitNot(x); })
      .Case([&](ClzOp) { return math::CountLeadingZerosOp::create(b, loc, x); })
      .Case([&](PopulationCountOp) { return math::CtPopOp::create(b, loc, x); })
      .Case([&](SignOp) -> Value {
        Value positive = arith::CmpIOp::create(b, loc, CmpIPredicate::ne, x,
                                               integer(type, 0));
        Value one = choose(positive, integer(type, 1), integer(type, 0));
        if (form.isUnsigned || form.isBool)
          return one;
        return choose(isNegative(), integer(type, -1), one);
      })
      .Case([&](AndOp) { return arith::AndIOp::create(b, loc, x, y); })
      .Case([&](OrOp) { return arith::OrIOp::create(b, loc, x, y); })
      .Case([&](XorOp) { return arith::XOrIOp::create(b, loc, x, y); })
      .Case<ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(
          [&](Operation *) { return shift(op, x, y); })
      .Case([&](PowOp) { return integerPower(x, y, form); })
      .Default([](Operation *) { return Value(); });
}

Scalar ScalarEmitter::applyComplex(Operation *op, ArrayRef<Scalar> operands) {
  Scalar x = operands[0];
  auto polar = [&](Value radius, Value angle) -> Scalar {
    return {fmul(radius, trigonometric(angle, Trig::Cosine)),
            fmul(radius, trigonometric(angle, Trig::Sine))};
  };
  auto size = [&]() -> Value {
    // Scaled by the larger part, so that squares do not overflow.
    Value re = math::AbsFOp::create(b, loc, x.value);
    Value im = math::AbsFOp::create(b, loc, x.imag);
    Value high = arith::MaximumFOp::create(b, loc, re, im);
    Value low = arith::MinimumFOp::create(b, loc, re, im);
    Value ratio = fdiv(low, high);
    Value one = number(re.getType(), 1.0);
    Value root = math::SqrtOp::create(b, loc, fma(ratio, ratio, one));
    Value zero = arith::CmpFOp::create(b, loc, CmpFPredicate::OEQ, high,
                                       number(re.getType(), 0.0));
    Value infinite = arith::CmpFOp::create(b, loc, CmpFPredicate::OEQ, high,
                                           number(re.getType(), INFINITY));
    return choose(arith::OrIOp::create(b, loc, zero, infinite), high,
                  fmul(high, root));
  };
  auto angle = [&]() -> Value {
    return math::Atan2Op::create(b, loc, x.imag, x.value);
  };
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](NegOp) -> Scalar {
        return {arith::NegFOp::create(b, loc, x.value),
                arith::NegFOp::create(b, loc, x.imag)};
      })
      .Case([&](RealOp) -> Scalar { return {x.value, {}}; })
      .Case([&](ImagOp) -> Scalar { return {x.imag, {}}; })
      .Case([&](AbsOp) -> Scalar { return {size(), {}}; })
      .Case([&](ExpOp) { return polar(exp(x.value), x.imag); })
      .Case([&](LogOp) -> Scalar { return {log(size()), angle()}; })
      .Case([&](SqrtOp) {
        Value half = fmul(angle(), number(x.value.getType(), 0.5));
        return polar(math::SqrtOp::create(b, loc, size()), half);
      })
      .Default([](Operation *) { return Scalar(); });
}

Scalar ScalarEmitter::apply(Operation *op, ArrayRef<Scalar> operands) {
  // The operand that decides which arithmetic is meant: select and clamp put a
  // predicate or a bound first.
  unsigned main = isa<SelectOp, ClampOp>(op) ? 1 : 0;
  Type element = getElementTypeOrSelf(op->getOperand(main).getType());
  Type resultElement = getElementTypeOrSelf(op->getResult(0).getType());
  ElementForm form(element);
  Scalar x = operands[0];
  Scalar y = operands.size() > 1 ? operands[1] : Scalar();

  if (auto compareOp = dyn_cast<CompareOp>(op))
    return {
        compare(x, y, element, compareOp.getComparisonDirection(),
                compareOp.getCompareType().value_or(ComparisonType::NOTYPE)),
        {}};
  if (isa<SelectOp>(op))
    return select(x.value, y, operands[2]);
  if (isa<ConvertOp>(op))
    return convert(x, element, resultElement);
  if (isa<BitcastConvertOp>(op))
    return {fromBits(bitsOf(x.value, form), ElementForm(resultElement)), {}};
  if (isa<AddOp>(op))
    return add(x, y, form);
  if (isa<SubtractOp>(op))
    return subtract(x, y, form);
  if (isa<MulOp>(op))
    return multiply(x, y, form);
  if (isa<chlo::SquareOp>(op))
    return multiply(x, x, form);
  if (isa<DivOp>(op))
    return divide(x, y, form);
  if (isa<ComplexOp>(op))
    return {x.value, y.value};
  if (isa<RealOp>(op) && form.isFloat)
    return x;
  if (isa<ImagOp>(op) && form.isFloat)
    return {number(form.compute, 0.0), {}};
  if (form.isComplex)
    return applyComplex(op, operands);
  if (isa<RemOp>(op))
    return remainder(x, y, form);
  if (isa<MaxOp>(op))
    return maximum(x, y, form);
  if (isa<MinOp>(op))
    return minimum(x, y, form);
  if (isa<ClampOp>(op))
    return minimum(maximum(y, x, form), operands[2], form);
  if (isa<PowOp>(op) && form.isFloat)
    return {floatPower(op, x.value, y.value), {}};
  if (isa<Atan2Op>(op) && form.isFloat)
    return {math::Atan2Op::create(b, loc, x.value, y.value), {}};
  if (form.isFloat)
    return {applyFloat(op, x.value, form), {}};
  return {applyInteger(op, operands, form), {}};
}

} // namespace mlir::sp
