// The elementwise operations of StableHLO and CHLO on scalars.

#include "Scalar/ScalarEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

static arith::FastMathFlags flags(bool reassociate) {
  auto contract = arith::FastMathFlags::contract;
  return reassociate ? contract | arith::FastMathFlags::reassoc : contract;
}

Value ScalarEmitter::fadd(Value x, Value y) {
  return arith::AddFOp::create(b, loc, x, y, flags(reassociate));
}
/// Never one with a product: x - max(x) is 0 at the maximum, however often x is
/// computed.
Value ScalarEmitter::fsub(Value x, Value y) {
  return arith::SubFOp::create(b, loc, x, y);
}
Value ScalarEmitter::fmul(Value x, Value y) {
  return arith::MulFOp::create(b, loc, x, y, flags(reassociate));
}
Value ScalarEmitter::fdiv(Value x, Value y) {
  return arith::DivFOp::create(b, loc, x, y);
}
Value ScalarEmitter::fma(Value x, Value y, Value z) {
  return math::FmaOp::create(b, loc, x, y, z);
}
Value ScalarEmitter::bitNot(Value value) {
  return arith::XOrIOp::create(b, loc, value, integer(value.getType(), -1));
}

Scalar ScalarEmitter::add(Scalar x, Scalar y, const ElementForm &form) {
  if (form.isComplex)
    return {fadd(x.value, y.value), fadd(x.imag, y.imag)};
  if (form.isFloat)
    return {fadd(x.value, y.value), {}};
  if (form.isBool)
    return {arith::OrIOp::create(b, loc, x.value, y.value), {}};
  return {arith::AddIOp::create(b, loc, x.value, y.value), {}};
}

Scalar ScalarEmitter::subtract(Scalar x, Scalar y, const ElementForm &form) {
  if (form.isComplex)
    return {fsub(x.value, y.value), fsub(x.imag, y.imag)};
  if (form.isFloat)
    return {fsub(x.value, y.value), {}};
  if (form.isBool)
    return {arith::XOrIOp::create(b, loc, x.value, y.value), {}};
  return {arith::SubIOp::create(b, loc, x.value, y.value), {}};
}

Scalar ScalarEmitter::multiply(Scalar x, Scalar y, const ElementForm &form) {
  if (form.isComplex)
    return {fsub(fmul(x.value, y.value), fmul(x.imag, y.imag)),
            fadd(fmul(x.value, y.imag), fmul(x.imag, y.value))};
  if (form.isFloat)
    return {fmul(x.value, y.value), {}};
  if (form.isBool)
    return {arith::AndIOp::create(b, loc, x.value, y.value), {}};
  return {arith::MulIOp::create(b, loc, x.value, y.value), {}};
}

/// x / 0 is -1 (all ones when unsigned) and the least integer over -1 is
/// itself, as on XLA's CPU.
Scalar ScalarEmitter::divide(Scalar x, Scalar y, const ElementForm &form) {
  if (form.isComplex) {
    Value norm = fadd(fmul(y.value, y.value), fmul(y.imag, y.imag));
    Value real = fadd(fmul(x.value, y.value), fmul(x.imag, y.imag));
    Value imag = fsub(fmul(x.imag, y.value), fmul(x.value, y.imag));
    return {fdiv(real, norm), fdiv(imag, norm)};
  }
  if (form.isFloat)
    return {fdiv(x.value, y.value), {}};
  Type type = form.compute;
  Value zero = integer(type, 0), one = integer(type, 1);
  auto equals = [&](Value v, Value to) -> Value {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::eq, v, to);
  };
  Value byZero = equals(y.value, zero), ones = integer(type, -1);
  if (form.isUnsigned || form.isBool) {
    Value safe = choose(byZero, one, y.value);
    return {choose(byZero, ones, arith::DivUIOp::create(b, loc, x.value, safe)),
            {}};
  }
  // Dividing by -1 is negation, which wraps as wanted.
  Value byOnes = equals(y.value, ones);
  Value safe =
      choose(arith::OrIOp::create(b, loc, byZero, byOnes), one, y.value);
  Value quotient = arith::DivSIOp::create(b, loc, x.value, safe);
  Value negated = arith::SubIOp::create(b, loc, zero, x.value);
  quotient = choose(byOnes, negated, quotient);
  return {choose(byZero, ones, quotient), {}};
}

Scalar ScalarEmitter::remainder(Scalar x, Scalar y, const ElementForm &form) {
  if (form.isFloat)
    return {arith::RemFOp::create(b, loc, x.value, y.value), {}};
  Type type = form.compute;
  Value zero = integer(type, 0), one = integer(type, 1);
  auto equals = [&](Value v, Value to) -> Value {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::eq, v, to);
  };
  Value byZero = equals(y.value, zero);
  if (form.isUnsigned || form.isBool) {
    Value safe = choose(byZero, one, y.value);
    return {
        choose(byZero, x.value, arith::RemUIOp::create(b, loc, x.value, safe)),
        {}};
  }
  Value byOnes = equals(y.value, integer(type, -1));
  Value safe =
      choose(arith::OrIOp::create(b, loc, byZero, byOnes), one, y.value);
  return {
      choose(byZero, x.value, arith::RemSIOp::create(b, loc, x.value, safe)),
      {}};
}

Scalar ScalarEmitter::maximum(Scalar x, Scalar y, const ElementForm &form) {
  auto nsz = LLVM::FastmathFlags::nsz;
  if (form.isFloat)
    return {LLVM::MaximumOp::create(b, loc, x.value.getType(), x.value, y.value,
                                    nsz),
            {}};
  if (form.isUnsigned || form.isBool)
    return {arith::MaxUIOp::create(b, loc, x.value, y.value), {}};
  return {arith::MaxSIOp::create(b, loc, x.value, y.value), {}};
}

Scalar ScalarEmitter::minimum(Scalar x, Scalar y, const ElementForm &form) {
  auto nsz = LLVM::FastmathFlags::nsz;
  if (form.isFloat)
    return {LLVM::MinimumOp::create(b, loc, x.value.getType(), x.value, y.value,
                                    nsz),
            {}};
  if (form.isUnsigned || form.isBool)
    return {arith::MinUIOp::create(b, loc, x.value, y.value), {}};
  return {arith::MinSIOp::create(b, loc, x.value, y.value), {}};
}

/// Amounts outside [0, width) shift everything out.
Value ScalarEmitter::shift(Operation *op, Value x, Value amount) {
  Type type = x.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value inside = arith::CmpIOp::create(b, loc, CmpIPredicate::ult, amount,
                                       integer(type, width));
  Value safe = choose(inside, amount, integer(type, 0));
  Value out = integer(type, 0), shifted;
  if (isa<ShiftLeftOp>(op))
    shifted = arith::ShLIOp::create(b, loc, x, safe);
  else if (isa<ShiftRightLogicalOp>(op))
    shifted = arith::ShRUIOp::create(b, loc, x, safe);
  else {
    shifted = arith::ShRSIOp::create(b, loc, x, safe);
    out = arith::ShRSIOp::create(b, loc, x, integer(type, width - 1));
  }
  return choose(inside, shifted, out);
}

Value ScalarEmitter::integerPower(Value base, Value exponent,
                                  const ElementForm &form) {
  // Square and multiply, over the bits of the exponent.
  Type type = form.compute;
  Value one = integer(type, 1), zero = integer(type, 0);
  auto bound = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto loop = scf::ForOp::create(
      b, loc, bound(0), bound(type.getIntOrFloatBitWidth()), bound(1),
      ValueRange{one, base, exponent},
      [&](OpBuilder &inner, Location, Value, ValueRange state) {
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
    return arith::CmpIOp::create(b, loc, CmpIPredicate::eq, v, to);
  };
  Value isUnit = arith::OrIOp::create(b, loc, equals(base, one),
                                      equals(base, integer(type, -1)));
  Value other = choose(equals(base, zero), integer(type, -1), zero);
  Value negative =
      arith::CmpIOp::create(b, loc, CmpIPredicate::slt, exponent, zero);
  return choose(negative, choose(isUnit, power, other), power);
}

Value ScalarEmitter::floatPower(Operation *op, Value base, Value exponent) {
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
      return fmul(base, base);
    if (value == 3.0)
      return fmul(fmul(base, base), base);
    if (value == 4.0) {
      Value square = fmul(base, base);
      return fmul(square, square);
    }
    if (value == -1.0)
      return fdiv(number(type, 1.0), base);
    // pow differs from sqrt at -inf and -0 only.
    if (value == 0.5 || value == -0.5) {
      Value absolute =
          choose(arith::CmpFOp::create(b, loc, CmpFPredicate::OEQ, base,
                                       number(type, -INFINITY)),
                 number(type, INFINITY), fadd(base, number(type, 0.0)));
      Value root = math::SqrtOp::create(b, loc, absolute);
      return value == 0.5 ? root : fdiv(number(type, 1.0), root);
    }
  }
  return math::PowFOp::create(b, loc, base, exponent);
}

Value ScalarEmitter::reducePrecision(Value x, int exponent, int mantissa) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  if (exponent == 8 && mantissa == 7 && element.isF32())
    return convert({x, {}}, element, b.getBF16Type()).value;
  unsigned width = element.getIntOrFloatBitWidth();
  auto &semantics = cast<FloatType>(element).getFloatSemantics();
  int fraction = APFloat::semanticsPrecision(semantics) - 1;
  int exponentBits = width - 1 - fraction;
  Type bitsType = shaped(b.getIntegerType(width));
  Value bits = arith::BitcastOp::create(b, loc, bitsType, x);
  auto number = [&](uint64_t value) { return integer(bitsType, value); };
  if (mantissa < fraction) {
    // To nearest even at the last kept place.
    int dropped = fraction - mantissa;
    Value last = arith::AndIOp::create(
        b, loc, arith::ShRUIOp::create(b, loc, bits, number(dropped)),
        number(1));
    Value bias = arith::AddIOp::create(
        b, loc, last, number((uint64_t(1) << (dropped - 1)) - 1));
    bits =
        arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, bias),
                              number(~((uint64_t(1) << dropped) - 1)));
  }
  if (exponent < exponentBits) {
    // Exponents above the narrow range become infinite, those below zero.
    uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
    uint64_t narrow = (uint64_t(1) << (exponent - 1)) - 1;
    Value sign =
        arith::AndIOp::create(b, loc, bits, number(uint64_t(1) << (width - 1)));
    Value field = arith::AndIOp::create(
        b, loc, bits, number(((uint64_t(1) << exponentBits) - 1) << fraction));
    Value infinite = number(((uint64_t(1) << exponentBits) - 1) << fraction);
    Value over = arith::CmpIOp::create(b, loc, CmpIPredicate::ugt, field,
                                       number((bias + narrow) << fraction));
    Value under = arith::CmpIOp::create(b, loc, CmpIPredicate::ule, field,
                                        number((bias - narrow) << fraction));
    bits = choose(over, arith::OrIOp::create(b, loc, sign, infinite), bits);
    bits = choose(under, sign, bits);
  }
  Value result = arith::BitcastOp::create(b, loc, type, bits);
  Value isNaN = arith::CmpFOp::create(b, loc, CmpFPredicate::UNO, x, x);
  return choose(isNaN, x, result);
}

} // namespace mlir::sp
