// Constants, loads, stores, conversions and comparisons.

#include "Scalar/ScalarEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>

namespace mlir::sp {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

Scalar ScalarEmitter::constant(ElementsAttr value, uint64_t position,
                               Type element) {
  ElementForm form(element);
  auto part = [&](const APFloat &number) -> Value {
    APFloat copy = number;
    bool lost;
    copy.convert(cast<FloatType>(form.compute).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &lost);
    return fill(FloatAttr::get(form.compute, copy));
  };
  if (form.isComplex) {
    auto pair = value.getValues<std::complex<APFloat>>()[position];
    return {part(pair.real()), part(pair.imag())};
  }
  if (form.isFloat)
    return {part(value.getValues<APFloat>()[position]), {}};
  APInt bits = value.getValues<APInt>()[position];
  return {fill(IntegerAttr::get(form.compute, bits)), {}};
}

Scalar ScalarEmitter::extreme(Type element, bool greatest) {
  ElementForm form(element);
  if (form.isFloat)
    return {number(form.compute, greatest ? INFINITY : -INFINITY), {}};
  unsigned width = form.compute.getIntOrFloatBitWidth();
  bool isUnsigned = form.isUnsigned || form.isBool;
  APInt bits = isUnsigned
                   ? (greatest ? APInt::getMaxValue(width) : APInt(width, 0))
                   : (greatest ? APInt::getSignedMaxValue(width)
                               : APInt::getSignedMinValue(width));
  return {fill(IntegerAttr::get(form.compute, bits)), {}};
}

Value ScalarEmitter::address(Value base, Value index, Type storage) {
  return LLVM::GEPOp::create(b, loc, base.getType(), storage, base,
                             ArrayRef<LLVM::GEPArg>{index},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Scalar ScalarEmitter::load(Value base, Value index, const ElementForm &form) {
  if (form.isComplex)
    index = arith::MulIOp::create(b, loc, index, i64(2));
  auto part = [&](Value at) -> Value {
    Value raw =
        LLVM::LoadOp::create(b, loc, form.storage,
                             address(base, at, form.storage), form.partBytes());
    if (form.isBool)
      return arith::CmpIOp::create(b, loc, CmpIPredicate::ne, raw,
                                   integer(form.storage, 0));
    if (form.storage == form.compute)
      return raw;
    if (form.storage.isF16())
      return arith::ExtFOp::create(b, loc, form.compute, raw);
    Value bits = arith::ExtUIOp::create(b, loc, b.getI32Type(), raw);
    bits = arith::ShLIOp::create(b, loc, bits, integer(b.getI32Type(), 16));
    return arith::BitcastOp::create(b, loc, form.compute, bits);
  };
  Scalar scalar{part(index), {}};
  if (form.isComplex)
    scalar.imag = part(arith::AddIOp::create(b, loc, index, i64(1)));
  return scalar;
}

Value ScalarEmitter::roundToBF16Bits(Value x) {
  // To nearest even: add half of the last kept place, minus one if it is even.
  Type i32 = shaped(b.getI32Type());
  Value bits = arith::BitcastOp::create(b, loc, i32, x);
  Value last = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, bits, integer(i32, 16)),
      integer(i32, 1));
  Value rounded = arith::AddIOp::create(
      b, loc, bits, arith::AddIOp::create(b, loc, last, integer(i32, 0x7fff)));
  Value isNaN = arith::CmpFOp::create(b, loc, CmpFPredicate::UNO, x, x);
  Value quiet = arith::OrIOp::create(b, loc, bits, integer(i32, 0x400000));
  return arith::ShRUIOp::create(b, loc, choose(isNaN, quiet, rounded),
                                integer(i32, 16));
}

Value ScalarEmitter::bitsOf(Value x, const ElementForm &form) {
  if (!form.isFloat)
    return x;
  Type bits = shaped(b.getIntegerType(form.partBytes() * 8));
  if (form.element.isBF16())
    return arith::TruncIOp::create(b, loc, bits, roundToBF16Bits(x));
  if (form.element != form.compute)
    x = arith::TruncFOp::create(b, loc, shaped(form.element), x);
  return arith::BitcastOp::create(b, loc, bits, x);
}

Value ScalarEmitter::fromBits(Value bits, const ElementForm &form) {
  if (!form.isFloat)
    return bits;
  Value value = arith::BitcastOp::create(b, loc, shaped(form.element), bits);
  if (form.element == form.compute)
    return value;
  return arith::ExtFOp::create(b, loc, shaped(form.compute), value);
}

void ScalarEmitter::store(Value base, Value index, Scalar scalar,
                          const ElementForm &form) {
  if (form.isComplex)
    index = arith::MulIOp::create(b, loc, index, i64(2));
  auto part = [&](Value at, Value value) {
    if (form.isBool)
      value = arith::ExtUIOp::create(b, loc, form.storage, value);
    else if (form.storage.isF16() && form.compute != form.storage)
      value = arith::TruncFOp::create(b, loc, form.storage, value);
    else if (form.storage != form.compute)
      value =
          arith::TruncIOp::create(b, loc, form.storage, roundToBF16Bits(value));
    LLVM::StoreOp::create(b, loc, value, address(base, at, form.storage),
                          form.partBytes());
  };
  part(index, scalar.value);
  if (form.isComplex)
    part(arith::AddIOp::create(b, loc, index, i64(1)), scalar.imag);
}

Scalar ScalarEmitter::select(Value condition, Scalar x, Scalar y) {
  Scalar result{choose(condition, x.value, y.value), {}};
  if (x.imag)
    result.imag = choose(condition, x.imag, y.imag);
  return result;
}

Scalar ScalarEmitter::fromIndex(Value index, Type to) {
  return convert({index, {}}, b.getI64Type(), to);
}

/// Out of range the nearest number of the type, of NaN 0.
static Value toSaturatedInt(NumberEmitter &n, Value x, Type to,
                            bool isUnsigned) {
  auto letter = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    return (n.lanes ? "v" + std::to_string(n.lanes) : "") +
           (isa<FloatType>(element) ? "f" : "i") +
           std::to_string(element.getIntOrFloatBitWidth());
  };
  to = n.shaped(to);
  std::string name =
      std::string(isUnsigned ? "llvm.fptoui.sat." : "llvm.fptosi.sat.") +
      letter(to) + "." + letter(x.getType());
  return LLVM::CallIntrinsicOp::create(n.b, n.loc, to, n.b.getStringAttr(name),
                                       ValueRange{x})
      .getResult(0);
}

Scalar ScalarEmitter::convert(Scalar scalar, Type fromType, Type toType) {
  if (fromType == toType)
    return scalar;
  ElementForm from(fromType), to(toType);
  if (to.isComplex) {
    Type part = cast<ComplexType>(toType).getElementType();
    Type source = from.isComplex ? cast<ComplexType>(fromType).getElementType()
                                 : fromType;
    Scalar imag{from.isComplex ? scalar.imag : number(to.compute, 0.0), {}};
    return {convert({scalar.value, {}}, source, part).value,
            from.isComplex ? convert(imag, source, part).value : imag.value};
  }
  if (from.isComplex)
    return convert({scalar.value, {}},
                   cast<ComplexType>(fromType).getElementType(), toType);

  Value x = scalar.value;
  unsigned fromWidth = from.compute.getIntOrFloatBitWidth();
  unsigned toWidth = to.compute.getIntOrFloatBitWidth();
  if (to.isBool)
    return {from.isFloat ? arith::CmpFOp::create(b, loc, CmpFPredicate::UNE, x,
                                                 number(from.compute, 0.0))
                               .getResult()
                         : arith::CmpIOp::create(b, loc, CmpIPredicate::ne, x,
                                                 integer(from.compute, 0))
                               .getResult(),
            {}};
  if (!from.isFloat && !to.isFloat) {
    if (fromWidth == toWidth)
      return {x, {}};
    if (toWidth < fromWidth)
      return {arith::TruncIOp::create(b, loc, shaped(to.compute), x), {}};
    if (from.isUnsigned || from.isBool)
      return {arith::ExtUIOp::create(b, loc, shaped(to.compute), x), {}};
    return {arith::ExtSIOp::create(b, loc, shaped(to.compute), x), {}};
  }
  if (from.isFloat && !to.isFloat)
    return {toSaturatedInt(*this, x, to.compute, to.isUnsigned), {}};
  if (!from.isFloat) {
    x = from.isUnsigned || from.isBool
            ? arith::UIToFPOp::create(b, loc, shaped(to.compute), x).getResult()
            : arith::SIToFPOp::create(b, loc, shaped(to.compute), x)
                  .getResult();
  } else if (fromWidth < toWidth) {
    x = arith::ExtFOp::create(b, loc, shaped(to.compute), x);
  } else if (fromWidth > toWidth) {
    x = arith::TruncFOp::create(b, loc, shaped(to.compute), x);
  }
  // An explicit conversion to a narrow type rounds, even if it stays in f32;
  // between narrow types likewise.
  if (toType.isBF16()) {
    Value bits = arith::ShLIOp::create(b, loc, roundToBF16Bits(x),
                                       integer(b.getI32Type(), 16));
    x = arith::BitcastOp::create(b, loc, shaped(to.compute), bits);
  }
  if (toType.isF16()) {
    Value half = arith::TruncFOp::create(b, loc, shaped(toType), x);
    x = arith::ExtFOp::create(b, loc, shaped(to.compute), half);
  }
  return {x, {}};
}

Value ScalarEmitter::compare(Scalar lhs, Scalar rhs, Type element,
                             stablehlo::ComparisonDirection direction,
                             stablehlo::ComparisonType type) {
  using D = stablehlo::ComparisonDirection;
  ElementForm form(element);
  auto pick = [&](auto eq, auto ne, auto ge, auto gt, auto le, auto lt) {
    switch (direction) {
    case D::EQ:
      return eq;
    case D::NE:
      return ne;
    case D::GE:
      return ge;
    case D::GT:
      return gt;
    case D::LE:
      return le;
    case D::LT:
      return lt;
    }
    llvm_unreachable("every direction is listed");
  };
  using F = CmpFPredicate;
  using I = CmpIPredicate;
  if (form.isComplex) {
    bool equal = direction == D::EQ;
    auto part = [&](Value x, Value y) -> Value {
      return arith::CmpFOp::create(b, loc, equal ? F::OEQ : F::UNE, x, y);
    };
    Value real = part(lhs.value, rhs.value), imag = part(lhs.imag, rhs.imag);
    if (equal)
      return arith::AndIOp::create(b, loc, real, imag);
    return arith::OrIOp::create(b, loc, real, imag);
  }
  if (form.isFloat && type != stablehlo::ComparisonType::TOTALORDER)
    return arith::CmpFOp::create(
        b, loc, pick(F::OEQ, F::UNE, F::OGE, F::OGT, F::OLE, F::OLT), lhs.value,
        rhs.value);
  Value x = lhs.value, y = rhs.value;
  if (form.isFloat) {
    // As integers of sign and magnitude: flip the magnitude of negatives.
    unsigned width = form.compute.getIntOrFloatBitWidth();
    Type bitsType = shaped(b.getIntegerType(width));
    auto ordered = [&](Value value) -> Value {
      Value bits = arith::BitcastOp::create(b, loc, bitsType, value);
      Value sign =
          arith::ShRSIOp::create(b, loc, bits, integer(bitsType, width - 1));
      Value flip = arith::ShRUIOp::create(b, loc, sign, integer(bitsType, 1));
      return arith::XOrIOp::create(b, loc, bits, flip);
    };
    x = ordered(x);
    y = ordered(y);
  }
  bool isUnsigned = form.isUnsigned || form.isBool;
  I predicate = isUnsigned ? pick(I::eq, I::ne, I::uge, I::ugt, I::ule, I::ult)
                           : pick(I::eq, I::ne, I::sge, I::sgt, I::sle, I::slt);
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

} // namespace mlir::sp
