// Which arithmetic an operation means, by the kind of its elements.

#include "Scalar/ScalarApply.h"

#include "Scalar/ScalarMath.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace mlir::sp {

using namespace stablehlo;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

bool hasScalarForm(Operation *op) {
  if (auto cast = dyn_cast<BitcastConvertOp>(op)) {
    ElementForm from(getElementTypeOrSelf(cast.getOperand().getType())),
        to(getElementTypeOrSelf(cast.getType()));
    return from.bytes() == to.bytes() && !from.isComplex && !from.isBool &&
           !to.isComplex && !to.isBool;
  }
  return op->hasTrait<Elementwise>();
}

/// Amounts outside [0, width) shift everything out.
static Value shift(ScalarEmitter &s, Operation *op, Value x, Value amount) {
  Type type = x.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value inside = arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::ult, amount,
                                       s.integer(type, width));
  Value safe = s.choose(inside, amount, s.integer(type, 0));
  Value out = s.integer(type, 0), shifted;
  if (isa<ShiftLeftOp>(op))
    shifted = arith::ShLIOp::create(s.b, s.loc, x, safe);
  else if (isa<ShiftRightLogicalOp>(op))
    shifted = arith::ShRUIOp::create(s.b, s.loc, x, safe);
  else {
    shifted = arith::ShRSIOp::create(s.b, s.loc, x, safe);
    out = arith::ShRSIOp::create(s.b, s.loc, x, s.integer(type, width - 1));
  }
  return s.choose(inside, shifted, out);
}

static Value integerPower(ScalarEmitter &s, Value base, Value exponent,
                          const ElementForm &form) {
  // Square and multiply, over the bits of the exponent.
  Type type = form.compute;
  Value one = s.integer(type, 1), zero = s.integer(type, 0);
  auto bound = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(s.b, s.loc, value);
  };
  auto loop = scf::ForOp::create(
      s.b, s.loc, bound(0), bound(type.getIntOrFloatBitWidth()), bound(1),
      ValueRange{one, base, exponent},
      [&](OpBuilder &inner, Location loc, Value, ValueRange state) {
        Value bit = arith::AndIOp::create(inner, loc, state[2], one);
        Value use =
            arith::CmpIOp::create(inner, loc, CmpIPredicate::ne, bit, zero);
        Value product = arith::MulIOp::create(inner, loc, state[0], state[1]);
        Value result =
            arith::SelectOp::create(inner, loc, use, product, state[0]);
        Value square = arith::MulIOp::create(inner, loc, state[1], state[1]);
        Value rest = arith::ShRUIOp::create(inner, loc, state[2], one);
        scf::YieldOp::create(inner, loc, ValueRange{result, square, rest});
      });
  Value power = loop.getResult(0);
  if (form.isUnsigned)
    return power;
  // A negative exponent: 1 and -1 keep their powers, 0 gives -1 (a division by
  // zero), all else vanishes.
  auto equals = [&](Value v, Value to) -> Value {
    return arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::eq, v, to);
  };
  Value isUnit = arith::OrIOp::create(s.b, s.loc, equals(base, one),
                                      equals(base, s.integer(type, -1)));
  Value other = s.choose(equals(base, zero), s.integer(type, -1), zero);
  Value negative =
      arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::slt, exponent, zero);
  return s.choose(negative, s.choose(isUnit, power, other), power);
}

static Value floatPower(ScalarEmitter &s, Operation *op, Value base,
                        Value exponent) {
  // Exponents that are known and simple, behind broadcasts and conversions.
  Value source = op->getOperand(1);
  while (Operation *def = source.getDefiningOp()) {
    if (!isa<BroadcastInDimOp, ReshapeOp, ConvertOp>(def))
      break;
    source = def->getOperand(0);
  }
  DenseElementsAttr known;
  if (matchPattern(source, m_Constant(&known)) && known.isSplat()) {
    Type element = known.getElementType();
    std::optional<double> value;
    if (isa<FloatType>(element))
      value = known.getSplatValue<APFloat>().convertToDouble();
    if (element.isSignlessInteger() && element.getIntOrFloatBitWidth() > 1)
      value = known.getSplatValue<APInt>().getSExtValue();
    Type type = base.getType();
    if (value == 1.0)
      return base;
    if (value == 2.0)
      return s.fmul(base, base);
    if (value == 3.0)
      return s.fmul(s.fmul(base, base), base);
    if (value == 4.0) {
      Value square = s.fmul(base, base);
      return s.fmul(square, square);
    }
    if (value == -1.0)
      return s.fdiv(s.number(type, 1.0), base);
    // pow differs from sqrt at -inf and -0 only.
    if (value == 0.5 || value == -0.5) {
      Value absolute =
          s.choose(arith::CmpFOp::create(s.b, s.loc, CmpFPredicate::OEQ, base,
                                         s.number(type, -INFINITY)),
                   s.number(type, INFINITY), s.fadd(base, s.number(type, 0.0)));
      Value root = math::SqrtOp::create(s.b, s.loc, absolute);
      return value == 0.5 ? root : s.fdiv(s.number(type, 1.0), root);
    }
  }
  return math::PowFOp::create(s.b, s.loc, base, exponent);
}

static Value reducePrecision(ScalarEmitter &s, Value x, int exponent,
                             int mantissa) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  if (exponent == 8 && mantissa == 7 && element.isF32())
    return s.convert({x, {}}, element, s.b.getBF16Type()).value;
  unsigned width = element.getIntOrFloatBitWidth();
  auto &semantics = cast<FloatType>(element).getFloatSemantics();
  int fraction = APFloat::semanticsPrecision(semantics) - 1;
  int exponentBits = width - 1 - fraction;
  Type bitsType = s.shaped(s.b.getIntegerType(width));
  Value bits = arith::BitcastOp::create(s.b, s.loc, bitsType, x);
  auto number = [&](uint64_t value) { return s.integer(bitsType, value); };
  if (mantissa < fraction) {
    // To nearest even at the last kept place.
    int dropped = fraction - mantissa;
    Value last = arith::AndIOp::create(
        s.b, s.loc, arith::ShRUIOp::create(s.b, s.loc, bits, number(dropped)),
        number(1));
    Value bias = arith::AddIOp::create(
        s.b, s.loc, last, number((uint64_t(1) << (dropped - 1)) - 1));
    bits = arith::AndIOp::create(s.b, s.loc,
                                 arith::AddIOp::create(s.b, s.loc, bits, bias),
                                 number(~((uint64_t(1) << dropped) - 1)));
  }
  if (exponent < exponentBits) {
    // Exponents above the narrow range become infinite, those below zero.
    uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
    uint64_t narrow = (uint64_t(1) << (exponent - 1)) - 1;
    Value sign = arith::AndIOp::create(s.b, s.loc, bits,
                                       number(uint64_t(1) << (width - 1)));
    Value field = arith::AndIOp::create(
        s.b, s.loc, bits,
        number(((uint64_t(1) << exponentBits) - 1) << fraction));
    Value infinite = number(((uint64_t(1) << exponentBits) - 1) << fraction);
    Value over = arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::ugt, field,
                                       number((bias + narrow) << fraction));
    Value under = arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::ule, field,
                                        number((bias - narrow) << fraction));
    bits =
        s.choose(over, arith::OrIOp::create(s.b, s.loc, sign, infinite), bits);
    bits = s.choose(under, sign, bits);
  }
  Value result = arith::BitcastOp::create(s.b, s.loc, type, bits);
  Value isNaN = arith::CmpFOp::create(s.b, s.loc, CmpFPredicate::UNO, x, x);
  return s.choose(isNaN, x, result);
}

static Value applyFloat(ScalarEmitter &s, Operation *op, Value x,
                        const ElementForm &form) {
  Type type = form.compute;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) { return math::AbsFOp::create(s.b, s.loc, x); })
      .Case([&](NegOp) { return arith::NegFOp::create(s.b, s.loc, x); })
      .Case([&](CeilOp) { return math::CeilOp::create(s.b, s.loc, x); })
      .Case([&](FloorOp) { return math::FloorOp::create(s.b, s.loc, x); })
      .Case([&](RoundOp) { return math::RoundOp::create(s.b, s.loc, x); })
      .Case([&](RoundNearestEvenOp) {
        return math::RoundEvenOp::create(s.b, s.loc, x);
      })
      .Case([&](SqrtOp) { return math::SqrtOp::create(s.b, s.loc, x); })
      .Case([&](RsqrtOp) {
        return s.fdiv(s.number(type, 1.0), math::SqrtOp::create(s.b, s.loc, x));
      })
      .Case([&](CbrtOp) { return math::CbrtOp::create(s.b, s.loc, x); })
      .Case([&](ExpOp) { return exp(s, x); })
      .Case([&](Expm1Op) { return expm1(s, x); })
      .Case([&](LogOp) { return log(s, x); })
      .Case([&](Log1pOp) { return log1p(s, x); })
      .Case([&](LogisticOp) { return logistic(s, x); })
      .Case([&](TanhOp) { return tanh(s, x); })
      .Case([&](SineOp) { return trigonometric(s, x, Trig::Sine); })
      .Case([&](CosineOp) { return trigonometric(s, x, Trig::Cosine); })
      .Case([&](TanOp) { return trigonometric(s, x, Trig::Tangent); })
      .Case([&](chlo::ErfOp) { return erf(s, x); })
      .Case([&](chlo::ErfcOp) { return erfc(s, x); })
      .Case([&](chlo::ErfInvOp) { return erfInv(s, x); })
      .Case([&](chlo::AsinOp) { return math::AsinOp::create(s.b, s.loc, x); })
      .Case([&](chlo::AcosOp) { return math::AcosOp::create(s.b, s.loc, x); })
      .Case([&](chlo::AtanOp) { return math::AtanOp::create(s.b, s.loc, x); })
      .Case([&](chlo::SinhOp) { return math::SinhOp::create(s.b, s.loc, x); })
      .Case([&](chlo::CoshOp) { return math::CoshOp::create(s.b, s.loc, x); })
      .Case([&](SignOp) {
        // Zeros and NaN stay as they are.
        Value one =
            math::CopySignOp::create(s.b, s.loc, s.number(type, 1.0), x);
        Value ordinary = arith::CmpFOp::create(s.b, s.loc, CmpFPredicate::ONE,
                                               x, s.number(type, 0.0));
        return s.choose(ordinary, one, x);
      })
      .Case([&](IsFiniteOp) {
        Value size = math::AbsFOp::create(s.b, s.loc, x);
        // A narrow element overflows at its own bound, not at that of f32.
        double bound = INFINITY;
        if (form.element.isF16())
          bound = 65520.0;
        return s.lessThan(size, bound);
      })
      .Case([&](ReducePrecisionOp reduce) {
        return reducePrecision(s, x, reduce.getExponentBits(),
                               reduce.getMantissaBits());
      })
      .Default([](Operation *) { return Value(); });
}

static Value applyInteger(ScalarEmitter &s, Operation *op,
                          ArrayRef<Scalar> operands, const ElementForm &form) {
  Type type = form.compute;
  Value x = operands[0].value;
  Value y = operands.size() > 1 ? operands[1].value : Value();
  auto isNegative = [&]() -> Value {
    return arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::slt, x,
                                 s.integer(type, 0));
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AbsOp) {
        if (form.isUnsigned || form.isBool)
          return x;
        Value negated =
            arith::SubIOp::create(s.b, s.loc, s.integer(type, 0), x);
        return s.choose(isNegative(), negated, x);
      })
      .Case([&](NegOp) {
        return arith::SubIOp::create(s.b, s.loc, s.integer(type, 0), x);
      })
      .Case([&](NotOp) { return s.bitNot(x); })
      .Case([&](ClzOp) {
        return math::CountLeadingZerosOp::create(s.b, s.loc, x);
      })
      .Case([&](PopulationCountOp) {
        return math::CtPopOp::create(s.b, s.loc, x);
      })
      .Case([&](SignOp) -> Value {
        Value positive = arith::CmpIOp::create(s.b, s.loc, CmpIPredicate::ne, x,
                                               s.integer(type, 0));
        Value one = s.choose(positive, s.integer(type, 1), s.integer(type, 0));
        if (form.isUnsigned || form.isBool)
          return one;
        return s.choose(isNegative(), s.integer(type, -1), one);
      })
      .Case([&](AndOp) { return arith::AndIOp::create(s.b, s.loc, x, y); })
      .Case([&](OrOp) { return arith::OrIOp::create(s.b, s.loc, x, y); })
      .Case([&](XorOp) { return arith::XOrIOp::create(s.b, s.loc, x, y); })
      .Case<ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(
          [&](Operation *) { return shift(s, op, x, y); })
      .Case([&](PowOp) { return integerPower(s, x, y, form); })
      .Default([](Operation *) { return Value(); });
}

static Scalar applyComplex(ScalarEmitter &s, Operation *op,
                           ArrayRef<Scalar> operands) {
  Scalar x = operands[0];
  auto polar = [&](Value radius, Value angle) -> Scalar {
    return {s.fmul(radius, trigonometric(s, angle, Trig::Cosine)),
            s.fmul(radius, trigonometric(s, angle, Trig::Sine))};
  };
  auto size = [&]() -> Value {
    // Scaled by the larger part, so that squares do not overflow.
    Value re = math::AbsFOp::create(s.b, s.loc, x.value);
    Value im = math::AbsFOp::create(s.b, s.loc, x.imag);
    Value high = arith::MaximumFOp::create(s.b, s.loc, re, im);
    Value low = arith::MinimumFOp::create(s.b, s.loc, re, im);
    Value ratio = s.fdiv(low, high);
    Value one = s.number(re.getType(), 1.0);
    Value root = math::SqrtOp::create(s.b, s.loc, s.fma(ratio, ratio, one));
    Value zero = arith::CmpFOp::create(s.b, s.loc, CmpFPredicate::OEQ, high,
                                       s.number(re.getType(), 0.0));
    Value infinite = arith::CmpFOp::create(s.b, s.loc, CmpFPredicate::OEQ, high,
                                           s.number(re.getType(), INFINITY));
    return s.choose(arith::OrIOp::create(s.b, s.loc, zero, infinite), high,
                    s.fmul(high, root));
  };
  auto angle = [&]() -> Value {
    return math::Atan2Op::create(s.b, s.loc, x.imag, x.value);
  };
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](NegOp) -> Scalar {
        return {arith::NegFOp::create(s.b, s.loc, x.value),
                arith::NegFOp::create(s.b, s.loc, x.imag)};
      })
      .Case([&](RealOp) -> Scalar { return {x.value, {}}; })
      .Case([&](ImagOp) -> Scalar { return {x.imag, {}}; })
      .Case([&](AbsOp) -> Scalar { return {size(), {}}; })
      .Case([&](ExpOp) { return polar(exp(s, x.value), x.imag); })
      .Case([&](LogOp) -> Scalar { return {log(s, size()), angle()}; })
      .Case([&](SqrtOp) {
        Value half = s.fmul(angle(), s.number(x.value.getType(), 0.5));
        return polar(math::SqrtOp::create(s.b, s.loc, size()), half);
      })
      .Default([](Operation *) { return Scalar(); });
}

Scalar applyToScalars(ScalarEmitter &s, Operation *op,
                      ArrayRef<Scalar> operands) {
  // The operand that decides which arithmetic is meant: select and clamp put a
  // predicate or a bound first.
  unsigned main = isa<SelectOp, ClampOp>(op) ? 1 : 0;
  Type element = getElementTypeOrSelf(op->getOperand(main).getType());
  Type resultElement = getElementTypeOrSelf(op->getResult(0).getType());
  ElementForm form(element);
  Scalar x = operands[0];
  Scalar y = operands.size() > 1 ? operands[1] : Scalar();

  // What is equal when it is stored is equal here.
  if (isa<CompareOp>(op) && form.isFloat && form.compute != element)
    for (Scalar *each : {&x, &y})
      *each = s.convert(*each, form.compute, element);
  if (auto compareOp = dyn_cast<CompareOp>(op))
    return {
        s.compare(x, y, element, compareOp.getComparisonDirection(),
                  compareOp.getCompareType().value_or(ComparisonType::NOTYPE)),
        {}};
  if (isa<SelectOp>(op))
    return s.select(x.value, y, operands[2]);
  if (isa<ConvertOp>(op))
    return s.convert(x, element, resultElement);
  if (isa<BitcastConvertOp>(op))
    return {s.fromBits(s.bitsOf(x.value, form), ElementForm(resultElement)),
            {}};
  if (isa<AddOp>(op))
    return s.add(x, y, form);
  if (isa<SubtractOp>(op))
    return s.subtract(x, y, form);
  if (isa<MulOp>(op))
    return s.multiply(x, y, form);
  if (isa<chlo::SquareOp>(op))
    return s.multiply(x, x, form);
  if (isa<DivOp>(op))
    return s.divide(x, y, form);
  if (isa<ComplexOp>(op))
    return {x.value, y.value};
  if (isa<RealOp>(op) && form.isFloat)
    return x;
  if (isa<ImagOp>(op) && form.isFloat)
    return {s.number(form.compute, 0.0), {}};
  if (form.isComplex)
    return applyComplex(s, op, operands);
  if (isa<RemOp>(op))
    return s.remainder(x, y, form);
  if (isa<MaxOp>(op))
    return s.maximum(x, y, form);
  if (isa<MinOp>(op))
    return s.minimum(x, y, form);
  if (isa<ClampOp>(op))
    return s.minimum(s.maximum(y, x, form), operands[2], form);
  if (isa<PowOp>(op) && form.isFloat)
    return {floatPower(s, op, x.value, y.value), {}};
  if (isa<Atan2Op>(op) && form.isFloat)
    return {math::Atan2Op::create(s.b, s.loc, x.value, y.value), {}};
  if (form.isFloat)
    return {applyFloat(s, op, x.value, form), {}};
  return {applyInteger(s, op, operands, form), {}};
}

} // namespace mlir::sp
