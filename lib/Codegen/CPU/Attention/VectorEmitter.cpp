#include "CPU/Attention/VectorEmitter.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

VectorEmitter::VectorEmitter(Location loc, Type storedType,
                             const Registers &registers)
    : ImplicitLocOpBuilder(loc, loc.getContext()), registers(registers),
      storedType(storedType) {
  bool isDouble = storedType.isF64();
  scalarType = isDouble ? FloatType(getF64Type()) : FloatType(getF32Type());
  laneType = isDouble ? getI64Type() : getI32Type();
  vectorType = VectorType::get(registers.lanes, scalarType);
  pointerType = LLVM::LLVMPointerType::get(getContext());
}

//===----------------------------------------------------------------------===//
// 64-bit integers and memory
//===----------------------------------------------------------------------===//

Value VectorEmitter::integer(int64_t value) {
  return arith::ConstantIntOp::create(*this, value, 64);
}

Value VectorEmitter::add(Value a, Value b) {
  return arith::AddIOp::create(*this, a, b);
}

Value VectorEmitter::sub(Value a, Value b) {
  return arith::SubIOp::create(*this, a, b);
}

Value VectorEmitter::mul(Value a, Value b) {
  return arith::MulIOp::create(*this, a, b);
}

Value VectorEmitter::least(Value a, Value b) {
  return arith::MinSIOp::create(*this, a, b);
}

Value VectorEmitter::greatest(Value a, Value b) {
  return arith::MaxSIOp::create(*this, a, b);
}

Value VectorEmitter::alignDown(Value a, int64_t powerOfTwo) {
  return arith::AndIOp::create(*this, a, integer(-powerOfTwo));
}

Value VectorEmitter::alignUp(Value a, int64_t powerOfTwo) {
  return alignDown(add(a, integer(powerOfTwo - 1)), powerOfTwo);
}

Value VectorEmitter::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, predicate, a, b);
}

Value VectorEmitter::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

Value VectorEmitter::at(Value base, Value index, Type type) {
  return LLVM::GEPOp::create(*this, pointerType, type, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value VectorEmitter::at(Value base, int64_t index, Type type) {
  return LLVM::GEPOp::create(
      *this, pointerType, type, base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

unsigned attention::elementAlignment(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 8;
}

Value VectorEmitter::load(Type type, Value address) {
  return LLVM::LoadOp::create(*this, type, address, elementAlignment(type));
}

void VectorEmitter::store(Value value, Value address) {
  LLVM::StoreOp::create(*this, value, address,
                        elementAlignment(value.getType()));
}

void VectorEmitter::prefetch(Value address, int32_t level) {
  LLVM::Prefetch::create(*this, address, /*rw=*/0, /*hint=*/4 - level,
                         /*cache=*/1);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value VectorEmitter::splat(Value scalar, int64_t count) {
  auto type =
      VectorType::get(count ? count : registers.lanes, scalar.getType());
  return vector::BroadcastOp::create(*this, type, scalar);
}

Value VectorEmitter::constant(double value) {
  return arith::ConstantOp::create(
      *this, SplatElementsAttr::get(
                 vectorType, Attribute(getFloatAttr(scalarType, value))));
}

Value VectorEmitter::integers(int64_t value) {
  auto type = VectorType::get(registers.lanes, laneType);
  return arith::ConstantOp::create(
      *this,
      SplatElementsAttr::get(type, Attribute(getIntegerAttr(laneType, value))));
}

Value VectorEmitter::addf(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}

Value VectorEmitter::subf(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}

Value VectorEmitter::mulf(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}

Value VectorEmitter::fma(Value a, Value b, Value c) {
  return vector::FMAOp::create(*this, a, b, c);
}

Value VectorEmitter::equal(Value a, Value b) {
  return arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a, b);
}

Value VectorEmitter::larger(Value a, Value b) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return select(greater, a, b);
}
