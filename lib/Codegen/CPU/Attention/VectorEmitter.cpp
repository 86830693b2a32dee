#include "CPU/Attention/VectorEmitter.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

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

// Scalars and vectors alike are aligned to their elements only: rows start
// anywhere.
static unsigned elementAlignment(Type type) {
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
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> VectorEmitter::loop(Value from, Value to, int64_t step,
                                       ValueRange initial, CarriedBody body) {
  auto loop = scf::ForOp::create(*this, from, to, integer(step), initial);
  OpBuilder::InsertionGuard guard(*this);
  // Without carried values the builder has already put the yield.
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(*this, next);
  return llvm::to_vector(ValueRange(loop.getResults()));
}

void VectorEmitter::loop(Value from, Value to, int64_t step, Body body) {
  loop(from, to, step, ValueRange(), [&](Value counter, ValueRange) {
    body(counter);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
VectorEmitter::ifElse(Value condition, TypeRange types,
                      function_ref<SmallVector<Value>()> thenBody,
                      function_ref<SmallVector<Value>()> elseBody) {
  auto branch = scf::IfOp::create(*this, types, condition,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(*this, thenBody());
  setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(*this, elseBody());
  return llvm::to_vector(ValueRange(branch.getResults()));
}

void VectorEmitter::ifThen(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(*this, TypeRange(), condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body();
  scf::YieldOp::create(*this);
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

Value VectorEmitter::multiplyAdd(Value a, Value b, Value c) {
  if (registers.pair == 1)
    return fma(a, b, c);
  auto pairs = VectorType::get(2 * registers.lanes, getBF16Type());
  return LLVM::CallIntrinsicOp::create(
             *this, vectorType,
             getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
             ValueRange{c, vector::BitCastOp::create(*this, pairs, a),
                        vector::BitCastOp::create(*this, pairs, b)})
      .getResult(0);
}

Value VectorEmitter::steps(Value elements) {
  if (registers.pair == 1)
    return elements;
  return arith::ShRUIOp::create(*this, elements,
                                integer(llvm::Log2_64(registers.pair)));
}

Value VectorEmitter::equal(Value a, Value b) {
  return arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a, b);
}

Value VectorEmitter::mark() {
  return arith::BitcastOp::create(
      *this, vectorType,
      integers(bitsOf(std::numeric_limits<double>::infinity()) + 1));
}

Value VectorEmitter::isMark(Value x) {
  Value bits = arith::BitcastOp::create(
      *this, VectorType::get(registers.lanes, laneType), x);
  return compare(arith::CmpIPredicate::eq, bits,
                 integers(bitsOf(std::numeric_limits<double>::infinity()) + 1));
}

Value VectorEmitter::magnitudes(Value x) {
  auto type = cast<VectorType>(x.getType());
  auto words = VectorType::get(type.getShape(), laneType);
  Value all = arith::ConstantOp::create(
      *this, SplatElementsAttr::get(
                 words, APInt::getSignedMaxValue(laneType.getWidth())));
  return arith::AndIOp::create(*this, arith::BitcastOp::create(*this, words, x),
                               all);
}

int64_t VectorEmitter::bitsOf(double number) const {
  if (scalarType.isF64())
    return llvm::bit_cast<int64_t>(number);
  return llvm::bit_cast<int32_t>(static_cast<float>(number));
}

Value VectorEmitter::larger(Value a, Value b) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return select(greater, a, b);
}

Value VectorEmitter::tailMask(Value count, int64_t size, int64_t lanes) {
  if (size % lanes == 0)
    return nullptr;
  auto type = VectorType::get(lanes, getI64Type());
  SmallVector<int64_t> ids = llvm::to_vector(llvm::seq<int64_t>(lanes));
  Value lane = arith::ConstantOp::create(
      *this, DenseElementsAttr::get(type, ArrayRef(ids)));
  return compare(arith::CmpIPredicate::slt, lane, splat(count, lanes));
}

Value VectorEmitter::loadStored(Value address, Type type, int64_t count,
                                Value mask) {
  // Masked loads of 16-bit integers are native, of floats they are not.
  bool isHalf = type.getIntOrFloatBitWidth() == 16;
  auto loaded = VectorType::get(count, isHalf ? Type(getI16Type()) : type);
  if (!mask)
    return load(loaded, address);
  Value zeros = arith::ConstantOp::create(*this, getZeroAttr(loaded));
  return LLVM::MaskedLoadOp::create(
      *this, loaded, address, mask, zeros,
      getI32IntegerAttr(elementAlignment(loaded)));
}

Value VectorEmitter::loadWords(Value address, Value mask) {
  if (registers.pair == 1)
    return loadConverted(address, storedType, registers.lanes, mask);
  Value pairs = loadStored(address, storedType, 2 * registers.lanes, mask);
  return vector::BitCastOp::create(*this, vectorType, pairs);
}

Value VectorEmitter::joinHalves(Value even, Value odd) {
  int64_t count = cast<VectorType>(even.getType()).getNumElements();
  auto words = VectorType::get(count, laneType);
  Value shift = arith::ConstantOp::create(
      *this, SplatElementsAttr::get(words, Attribute(getI32IntegerAttr(16))));
  Value upper = arith::ShLIOp::create(
      *this, arith::ExtUIOp::create(*this, words, odd), shift);
  Value joined = arith::OrIOp::create(
      *this, upper, arith::ExtUIOp::create(*this, words, even));
  return arith::BitcastOp::create(*this, VectorType::get(count, scalarType),
                                  joined);
}

Value VectorEmitter::roundToRow(Value low, Value high) {
  auto rounded = VectorType::get(2 * registers.lanes, getBF16Type());
  Value halves = LLVM::CallIntrinsicOp::create(
                     *this, rounded,
                     getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                     ValueRange{high, low})
                     .getResult(0);
  return vector::BitCastOp::create(*this, vectorType, halves);
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

Value VectorEmitter::roundToPairs(Value even, Value odd) {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < registers.lanes; ++lane)
    order.append({lane, registers.lanes + lane});
  Value row = roundToRow(even, odd);
  return shuffleHalves(*this, row, row, order);
}

Value VectorEmitter::pairRows(Value even, Value odd, int64_t half) {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < registers.lanes; ++lane) {
    int64_t column = half * registers.lanes + lane;
    order.append({column, 2 * registers.lanes + column});
  }
  return shuffleHalves(*this, even, odd, order);
}

SmallVector<Value> VectorEmitter::elementsOf(Value words) {
  if (registers.pair == 1)
    return {words};
  // A bfloat16 is the upper half of a float.
  auto type = VectorType::get(registers.lanes, laneType);
  Value bits = arith::BitcastOp::create(*this, type, words);
  Value first = arith::ShLIOp::create(*this, bits, integers(16));
  Value second = arith::AndIOp::create(
      *this, bits, integers(static_cast<int32_t>(0xFFFF0000)));
  return {arith::BitcastOp::create(*this, vectorType, first),
          arith::BitcastOp::create(*this, vectorType, second)};
}

Value VectorEmitter::pairsOfOne() {
  auto words = VectorType::get(registers.lanes, getI32Type());
  Value ones = arith::ConstantOp::create(
      *this, DenseElementsAttr::get(words, APInt(32, 0x3F803F80)));
  return vector::BitCastOp::create(*this, vectorType, ones);
}

Value VectorEmitter::flipSigns(Value words, Value signs) {
  Value bits = arith::BitcastOp::create(*this, signs.getType(), words);
  return arith::BitcastOp::create(*this, words.getType(),
                                  arith::XOrIOp::create(*this, bits, signs));
}

Value VectorEmitter::loadConverted(Value address, Type type, int64_t count,
                                   Value mask) {
  Value value = loadStored(address, type, count, mask);
  auto computed = VectorType::get(count, scalarType);
  if (type.isBF16()) {
    // A bfloat16 is the upper half of a float.
    auto words = VectorType::get(count, getI32Type());
    Value wide = arith::ExtUIOp::create(*this, words, value);
    Value shift = arith::ConstantOp::create(
        *this, SplatElementsAttr::get(words, Attribute(getI32IntegerAttr(16))));
    return arith::BitcastOp::create(*this, computed,
                                    arith::ShLIOp::create(*this, wide, shift));
  }
  if (type.isF16())
    return arith::ExtFOp::create(
        *this, computed,
        arith::BitcastOp::create(*this, VectorType::get(count, type), value)
            .getResult());
  return value;
}

void VectorEmitter::storeMasked(Value value, Value address, Value mask) {
  LLVM::MaskedStoreOp::create(
      *this, value, address, mask,
      getI32IntegerAttr(elementAlignment(value.getType())));
}

// A perfect shuffle of all rows read as one sequence rotates the bits of an
// element's position by one; log2(lanes) of them exchange row and lane.
void VectorEmitter::transpose(SmallVectorImpl<Value> &rows) {
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
          vector::ShuffleOp::create(*this, rows[i], rows[i + half], low));
      next.push_back(
          vector::ShuffleOp::create(*this, rows[i], rows[i + half], high));
    }
    rows.assign(next.begin(), next.end());
  }
}
