#include "CPU/Attention/VectorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sp;
using namespace mlir::sp::attention;

Value attention::tailMask(VectorEmitter &e, Value count, int64_t size,
                          int64_t lanes) {
  if (size % lanes == 0)
    return nullptr;
  auto type = VectorType::get(lanes, e.getI64Type());
  SmallVector<int64_t> ids = llvm::to_vector(llvm::seq<int64_t>(lanes));
  Value lane =
      arith::ConstantOp::create(e, DenseElementsAttr::get(type, ArrayRef(ids)));
  return e.compare(arith::CmpIPredicate::slt, lane, e.splat(count, lanes));
}

Value attention::loadStored(VectorEmitter &e, Value address, Type type,
                            int64_t count, Value mask) {
  // Masked loads of 16-bit integers are native, of floats they are not.
  bool isHalf = type.getIntOrFloatBitWidth() == 16;
  auto loaded = VectorType::get(count, isHalf ? Type(e.getI16Type()) : type);
  if (!mask)
    return e.load(loaded, address);
  Value zeros = arith::ConstantOp::create(e, e.getZeroAttr(loaded));
  return LLVM::MaskedLoadOp::create(
      e, loaded, address, mask, zeros,
      e.getI32IntegerAttr(elementAlignment(loaded)));
}

Value attention::loadConverted(VectorEmitter &e, Value address, Type type,
                               int64_t count, Value mask) {
  Value value = loadStored(e, address, type, count, mask);
  auto computed = VectorType::get(count, e.scalarType);
  if (type.isBF16()) {
    // A bfloat16 is the upper half of a float.
    auto words = VectorType::get(count, e.getI32Type());
    Value wide = arith::ExtUIOp::create(e, words, value);
    Value shift = arith::ConstantOp::create(
        e, SplatElementsAttr::get(words, Attribute(e.getI32IntegerAttr(16))));
    return arith::BitcastOp::create(e, computed,
                                    arith::ShLIOp::create(e, wide, shift));
  }
  if (type.isF16())
    return arith::ExtFOp::create(
        e, computed,
        arith::BitcastOp::create(e, VectorType::get(count, type), value)
            .getResult());
  return value;
}

void attention::storeMasked(VectorEmitter &e, Value value, Value address,
                            Value mask) {
  LLVM::MaskedStoreOp::create(
      e, value, address, mask,
      e.getI32IntegerAttr(elementAlignment(value.getType())));
}

// A perfect shuffle of all rows read as one sequence rotates the bits of an
// element's position by one; log2(lanes) of them exchange row and lane.
void attention::transpose(VectorEmitter &e, SmallVectorImpl<Value> &rows) {
  int64_t count = rows.size(), half = count / 2;
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < half; ++i) {
    low.append({i, count + i});
    high.append({half + i, count + half + i});
  }
  for (int64_t round = 0; round < llvm::Log2_64(count); ++round) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < half; ++i) {
      next.push_back(
          vector::ShuffleOp::create(e, rows[i], rows[i + half], low));
      next.push_back(
          vector::ShuffleOp::create(e, rows[i], rows[i + half], high));
    }
    rows.assign(next.begin(), next.end());
  }
}
