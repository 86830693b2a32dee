#include "CPU/Attention/VectorBits.h"
#include "llvm/ADT/bit.h"
#include <limits>

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

int64_t attention::bitsOf(const VectorEmitter &e, double number) {
  if (e.scalarType.isF64())
    return llvm::bit_cast<int64_t>(number);
  return llvm::bit_cast<int32_t>(static_cast<float>(number));
}

Value attention::mark(VectorEmitter &e) {
  return arith::BitcastOp::create(
      e, e.vectorType,
      e.integers(bitsOf(e, std::numeric_limits<double>::infinity()) + 1));
}

Value attention::isMark(VectorEmitter &e, Value x) {
  Value bits = arith::BitcastOp::create(
      e, VectorType::get(e.registers.lanes, e.laneType), x);
  return e.compare(
      arith::CmpIPredicate::eq, bits,
      e.integers(bitsOf(e, std::numeric_limits<double>::infinity()) + 1));
}

Value attention::magnitudes(VectorEmitter &e, Value x) {
  auto type = cast<VectorType>(x.getType());
  auto words = VectorType::get(type.getShape(), e.laneType);
  Value all = arith::ConstantOp::create(
      e, SplatElementsAttr::get(
             words, APInt::getSignedMaxValue(e.laneType.getWidth())));
  return arith::AndIOp::create(e, arith::BitcastOp::create(e, words, x), all);
}
