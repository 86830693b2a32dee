// Operations whose elements come from computed or conditional places.

#include "Fusion/ElementSource.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

namespace mlir::sp {

using namespace stablehlo;
using arith::CmpIPredicate;

Value ElementSource::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

/// Position `index` of an axis that holds `size` elements, `step` apart.
/// Outside, or between them, the index is that of some element and `inside` is
/// false.
ElementSource::Guarded ElementSource::guard(const Index &index, int64_t size,
                                            int64_t step) {
  int64_t limit = size == 0 ? 0 : (size - 1) * step + 1;
  IndexRange range = space.range(index);
  if (range.high < 0 || range.low >= limit)
    return {s.integer(b.getI1Type(), 0), true, Index(0)};
  if (range.low >= 0 && range.high < limit && step == 1)
    return {{}, false, index};
  if (step == 1) {
    space.requestCut(index, 0);
    space.requestCut(index, limit);
  }
  auto [coarse, fine] = space.coarse(index, limit);
  Value position = space.materialise(b, loc, coarse);
  Value inside =
      arith::CmpIOp::create(b, loc, CmpIPredicate::ult, position, s.i64(limit));
  Value safe = arith::SelectOp::create(b, loc, inside, position, s.i64(0));
  Index kept = space.add(
      space.addValue(safe, {0, limit - 1 - space.range(fine).high}), fine);
  if (step == 1)
    return {inside, false, kept};
  auto [element, between] = space.divMod(kept, step);
  Value exact = arith::CmpIOp::create(
      b, loc, CmpIPredicate::eq, space.materialise(b, loc, between), s.i64(0));
  return {both(inside, exact), false, element};
}

Value ElementSource::rawIndex(Value tensor, ArrayRef<Index> indices) {
  Scalar scalar = elementAt(tensor, indices);
  if (outcome != Outcome::Done)
    return s.i64(0);
  // Unsigned 64-bit values past 2^63 are beyond every bound either way.
  return s.convert(scalar, elementOf(tensor), b.getI64Type()).value;
}

Index ElementSource::dynamicIndex(Value tensor, ArrayRef<Index> indices,
                                  int64_t low, int64_t high) {
  Value value = rawIndex(tensor, indices);
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return Index(std::clamp(known.getSExtValue(), low, high));
  if (low == high)
    return Index(low);
  value = arith::MaxSIOp::create(b, loc, value, s.i64(low));
  value = arith::MinSIOp::create(b, loc, value, s.i64(high));
  return space.addValue(value, {low, high});
}

Scalar ElementSource::concatenateAt(ConcatenateOp op, ArrayRef<Index> indices) {
  int64_t dim = op.getDimension(), offset = 0;
  Scalar result;
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[dim];
    Indices inner(indices);
    Guarded place = guard(space.add(indices[dim], Index(-offset)), size);
    offset += size;
    if (place.never || size == 0)
      continue;
    inner[dim] = place.index;
    Scalar element = elementAt(input, inner);
    result = result.value && place.inside
                 ? s.select(place.inside, element, result)
                 : element;
    if (!place.inside)
      return element;
  }
  return result;
}

Scalar ElementSource::padAt(PadOp op, ArrayRef<Index> indices) {
  Value inside;
  bool never = false;
  Indices inner;
  for (auto [index, size, low, interior] :
       llvm::zip_equal(indices, shapeOf(op.getOperand()),
                       op.getEdgePaddingLow(), op.getInteriorPadding())) {
    Guarded place = guard(space.add(index, Index(-low)), size, interior + 1);
    never |= place.never;
    inside = both(inside, place.inside);
    inner.push_back(place.index);
  }
  Scalar padding;
  if (inside)
    padding = elementAt(op.getPaddingValue(), {});
  if (never)
    return padding;
  Scalar element = elementAt(op.getOperand(), inner);
  return inside ? s.select(inside, element, padding) : element;
}

Scalar ElementSource::gatherAt(GatherOp op, ArrayRef<Index> indices) {
  GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  Indices batch;
  for (auto [dim, index] : llvm::enumerate(indices))
    if (!llvm::is_contained(numbers.getOffsetDims(), int64_t(dim)))
      batch.push_back(index);

  Indices inner(shape.size(), Index(0));
  int64_t vectorDim = numbers.getIndexVectorDim();
  bool hasVector = vectorDim < int64_t(shapeOf(op.getStartIndices()).size());
  for (auto [component, dim] : llvm::enumerate(numbers.getStartIndexMap())) {
    Indices at(batch);
    if (hasVector)
      at.insert(at.begin() + vectorDim, Index(component));
    inner[dim] =
        dynamicIndex(op.getStartIndices(), at, 0, shape[dim] - sizes[dim]);
  }
  // Batch dimensions of the indices, without their vector dimension, count
  // through `batch`.
  for (auto [dim, indexDim] :
       llvm::zip_equal(numbers.getOperandBatchingDims(),
                       numbers.getStartIndicesBatchingDims()))
    inner[dim] = batch[indexDim - (indexDim > vectorDim)];
  unsigned next = 0;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), dim) ||
        llvm::is_contained(numbers.getOperandBatchingDims(), dim))
      continue;
    inner[dim] =
        space.add(inner[dim], indices[numbers.getOffsetDims()[next++]]);
  }
  return elementAt(op.getOperand(), inner);
}

Scalar ElementSource::sliceAt(DynamicSliceOp op, ArrayRef<Index> indices) {
  Indices inner;
  for (auto [index, start, size, slice] :
       llvm::zip_equal(indices, op.getStartIndices(), shapeOf(op.getOperand()),
                       op.getSliceSizes()))
    inner.push_back(space.add(index, dynamicIndex(start, {}, 0, size - slice)));
  return elementAt(op.getOperand(), inner);
}

std::optional<Value> ElementSource::placeInUpdate(DynamicUpdateSliceOp op,
                                                  ArrayRef<Index> indices,
                                                  Indices &inner) {
  Value inside;
  bool never = false;
  for (auto [index, start, size, update] :
       llvm::zip_equal(indices, op.getStartIndices(), shapeOf(op.getOperand()),
                       shapeOf(op.getUpdate()))) {
    Index offset = dynamicIndex(start, {}, 0, size - update);
    Guarded place = guard(space.add(index, space.scale(offset, -1)), update);
    never |= place.never;
    inside = both(inside, place.inside);
    inner.push_back(place.index);
  }
  return never ? std::optional<Value>() : inside;
}

Scalar ElementSource::updateAt(DynamicUpdateSliceOp op,
                               ArrayRef<Index> indices) {
  Indices inner;
  std::optional<Value> inside = placeInUpdate(op, indices, inner);
  if (!inside)
    return elementAt(op.getOperand(), indices);
  Scalar update = elementAt(op.getUpdate(), inner);
  if (!*inside)
    return update;
  return s.select(*inside, update, elementAt(op.getOperand(), indices));
}

/// A narrower type has the bits of a wider one in an extra last dimension,
/// least significant first.
Scalar ElementSource::bitcastAt(BitcastConvertOp op, ArrayRef<Index> indices) {
  Value operand = op.getOperand();
  ElementForm from(elementOf(operand)), to(elementOf(op.getResult()));
  if (from.isComplex || to.isComplex || from.isBool || to.isBool)
    return {};
  int64_t fromWidth = from.partBytes() * 8, toWidth = to.partBytes() * 8;
  Type narrow = b.getIntegerType(std::min(fromWidth, toWidth));
  Type wide = b.getIntegerType(std::max(fromWidth, toWidth));
  if (fromWidth > toWidth) {
    Scalar element = elementAt(operand, indices.drop_back());
    if (outcome != Outcome::Done)
      return {};
    Value place = s.convert({space.materialise(b, loc, indices.back()), {}},
                            b.getI64Type(), wide)
                      .value;
    Value amount =
        arith::MulIOp::create(b, loc, place, s.integer(wide, toWidth));
    Value shifted =
        arith::ShRUIOp::create(b, loc, s.bitsOf(element.value, from), amount);
    return {s.fromBits(arith::TruncIOp::create(b, loc, narrow, shifted), to),
            {}};
  }
  Value bits;
  for (int64_t place = 0; place < toWidth / fromWidth; ++place) {
    Indices inner(indices);
    inner.push_back(Index(place));
    Scalar element = elementAt(operand, inner);
    if (outcome != Outcome::Done)
      return {};
    Value part =
        arith::ExtUIOp::create(b, loc, wide, s.bitsOf(element.value, from));
    part =
        arith::ShLIOp::create(b, loc, part, s.integer(wide, place * fromWidth));
    bits = bits ? arith::OrIOp::create(b, loc, bits, part).getResult() : part;
  }
  return {s.fromBits(bits, to), {}};
}

/// A table in the object: constants of more than one value.
Scalar ElementSource::constantAt(ConstantOp op, ArrayRef<Index> indices) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return {};
  ElementForm form(elementOf(op.getOutput()));
  if (form.isComplex)
    return {};
  std::string &name = tableOf[op];
  if (name.empty()) {
    // Bits, so that every type has one form.
    SmallVector<APInt> bits;
    if (form.isFloat)
      for (const APFloat &value : dense.getValues<APFloat>())
        bits.push_back(value.bitcastToAPInt());
    if (!form.isFloat)
      for (const APInt &value : dense.getValues<APInt>())
        bits.push_back(form.isBool ? value.zext(8) : value);
    Type storage = b.getIntegerType(form.partBytes() * 8);
    auto table = DenseElementsAttr::get(
        RankedTensorType::get({int64_t(bits.size())}, storage), bits);
    name = (source.getName() + ".table" + Twine(tableOf.size() - 1)).str();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(target.getBody());
    LLVM::GlobalOp::create(
        b, loc, LLVM::LLVMArrayType::get(storage, bits.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name, table, 64);
  }
  Value address = LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), name);
  Index flat = space.linearise(indices, shapeOf(op.getOutput()));
  return s.load(address, space.materialise(b, loc, flat), form);
}

} // namespace mlir::sp
