// Arithmetic by element kind.

#include "Scalar/ScalarEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::sp {

using arith::CmpIPredicate;

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

} // namespace mlir::sp
