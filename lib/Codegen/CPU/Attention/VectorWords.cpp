#include "CPU/Attention/VectorWords.h"
#include "CPU/Attention/VectorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

Value attention::multiplyAdd(VectorEmitter &e, Value a, Value b, Value c) {
  if (e.registers.pair == 1)
    return e.fma(a, b, c);
  auto pairs = VectorType::get(2 * e.registers.lanes, e.getBF16Type());
  return LLVM::CallIntrinsicOp::create(
             e, e.vectorType,
             e.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
             ValueRange{c, vector::BitCastOp::create(e, pairs, a),
                        vector::BitCastOp::create(e, pairs, b)})
      .getResult(0);
}

Value attention::stepsOf(VectorEmitter &e, Value elements) {
  if (e.registers.pair == 1)
    return elements;
  return arith::ShRUIOp::create(e, elements,
                                e.integer(llvm::Log2_64(e.registers.pair)));
}

Value attention::loadWords(VectorEmitter &e, Value address, Value mask) {
  if (e.registers.pair == 1)
    return loadConverted(e, address, e.storedType, e.registers.lanes, mask);
  Value pairs =
      loadStored(e, address, e.storedType, 2 * e.registers.lanes, mask);
  return vector::BitCastOp::create(e, e.vectorType, pairs);
}

Value attention::joinHalves(VectorEmitter &e, Value even, Value odd) {
  int64_t count = cast<VectorType>(even.getType()).getNumElements();
  auto words = VectorType::get(count, e.laneType);
  Value shift = arith::ConstantOp::create(
      e, SplatElementsAttr::get(words, Attribute(e.getI32IntegerAttr(16))));
  Value upper =
      arith::ShLIOp::create(e, arith::ExtUIOp::create(e, words, odd), shift);
  Value joined =
      arith::OrIOp::create(e, upper, arith::ExtUIOp::create(e, words, even));
  return arith::BitcastOp::create(e, VectorType::get(count, e.scalarType),
                                  joined);
}

Value attention::roundToRow(VectorEmitter &e, Value low, Value high) {
  auto rounded = VectorType::get(2 * e.registers.lanes, e.getBF16Type());
  Value halves =
      LLVM::CallIntrinsicOp::create(
          e, rounded, e.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
          ValueRange{high, low})
          .getResult(0);
  return vector::BitCastOp::create(e, e.vectorType, halves);
}

/// Elements of 16 bits at `order` in two vectors of words.
static Value shuffleHalves(VectorEmitter &e, Value a, Value b,
                           ArrayRef<int64_t> order) {
  auto halves = VectorType::get(2 * e.registers.lanes, e.getI16Type());
  return vector::BitCastOp::create(
      e, e.vectorType,
      vector::ShuffleOp::create(e, vector::BitCastOp::create(e, halves, a),
                                vector::BitCastOp::create(e, halves, b), order)
          .getResult());
}

Value attention::roundToPairs(VectorEmitter &e, Value even, Value odd) {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < e.registers.lanes; ++lane)
    order.append({lane, e.registers.lanes + lane});
  Value row = roundToRow(e, even, odd);
  return shuffleHalves(e, row, row, order);
}

Value attention::pairRows(VectorEmitter &e, Value even, Value odd,
                          int64_t half) {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < e.registers.lanes; ++lane) {
    int64_t column = half * e.registers.lanes + lane;
    order.append({column, 2 * e.registers.lanes + column});
  }
  return shuffleHalves(e, even, odd, order);
}

SmallVector<Value> attention::elementsOf(VectorEmitter &e, Value words) {
  if (e.registers.pair == 1)
    return {words};
  // A bfloat16 is the upper half of a float.
  auto type = VectorType::get(e.registers.lanes, e.laneType);
  Value bits = arith::BitcastOp::create(e, type, words);
  Value first = arith::ShLIOp::create(e, bits, e.integers(16));
  Value second = arith::AndIOp::create(
      e, bits, e.integers(static_cast<int32_t>(0xFFFF0000)));
  return {arith::BitcastOp::create(e, e.vectorType, first),
          arith::BitcastOp::create(e, e.vectorType, second)};
}

Value attention::pairsOfOne(VectorEmitter &e) {
  auto words = VectorType::get(e.registers.lanes, e.getI32Type());
  Value ones = arith::ConstantOp::create(
      e, DenseElementsAttr::get(words, APInt(32, 0x3F803F80)));
  return vector::BitCastOp::create(e, e.vectorType, ones);
}

Value attention::flipSigns(VectorEmitter &e, Value words, Value signs) {
  Value bits = arith::BitcastOp::create(e, signs.getType(), words);
  return arith::BitcastOp::create(e, words.getType(),
                                  arith::XOrIOp::create(e, bits, signs));
}
