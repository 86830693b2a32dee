#include "Scalar/NumberEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::sp {

Type NumberEmitter::shaped(Type type) const {
  return lanes ? VectorType::get(lanes, getElementTypeOrSelf(type)) : type;
}

Value NumberEmitter::fill(TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(shaped(value.getType())))
    value = SplatElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, loc, value);
}

Value NumberEmitter::number(Type type, double value) {
  return fill(FloatAttr::get(getElementTypeOrSelf(type), value));
}

Value NumberEmitter::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.getIntOrFloatBitWidth();
  return fill(IntegerAttr::get(element, APInt(width, value, true, true)));
}

arith::FastMathFlags NumberEmitter::flags() const {
  auto contract = arith::FastMathFlags::contract;
  return reassociate ? contract | arith::FastMathFlags::reassoc : contract;
}

Value NumberEmitter::fadd(Value x, Value y) {
  return arith::AddFOp::create(b, loc, x, y, flags());
}

Value NumberEmitter::fsub(Value x, Value y) {
  return arith::SubFOp::create(b, loc, x, y);
}

Value NumberEmitter::fmul(Value x, Value y) {
  return arith::MulFOp::create(b, loc, x, y, flags());
}

Value NumberEmitter::fdiv(Value x, Value y) {
  return arith::DivFOp::create(b, loc, x, y);
}

Value NumberEmitter::fma(Value x, Value y, Value z) {
  return math::FmaOp::create(b, loc, x, y, z);
}

Value NumberEmitter::bitNot(Value value) {
  return arith::XOrIOp::create(b, loc, value, integer(value.getType(), -1));
}

Value NumberEmitter::lessThan(Value x, double bound) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x,
                               number(x.getType(), bound));
}

Value NumberEmitter::choose(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

} // namespace mlir::sp
