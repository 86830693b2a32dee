//===- TurnRows.cpp - Parts of values by turn -----------------------------===//
//
//   [b, 4096] of 4 turns     reshape [b / 4, 4, 4096], then row `turn` of
//                            dimension 1
//
// Rows of a turn are apart by the number of turns, so that what a rank has of
// the batch has rows of every turn.
//
//===----------------------------------------------------------------------===//

#include "Turns/TurnRows.h"

#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

std::optional<TurnRows> TurnRows::find(ArrayRef<DimAttr> dims) {
  for (auto [index, dim] : llvm::enumerate(dims)) {
    TurnRows rows;
    rows.dim = index;
    for (AtomAttr atom : dim.getAtoms()) {
      if (atom.getLayout())
        rows.layout = atom.getLayout();
      else
        (rows.layout ? rows.inner : rows.outer) *= atom.getSize();
    }
    if (rows.layout)
      return rows;
  }
  return std::nullopt;
}

/// The shape with dimension `dim` replaced by several.
static SmallVector<int64_t> splitDim(ArrayRef<int64_t> shape, unsigned dim,
                                     ArrayRef<int64_t> parts) {
  SmallVector<int64_t> split(shape.take_front(dim));
  // Dimensions of 1 say nothing.
  for (int64_t part : parts)
    if (part != 1 || parts.size() == 1)
      split.push_back(part);
  llvm::append_range(split, shape.drop_front(dim + 1));
  return split;
}

static Value zeroIndex(OpBuilder &builder, Location loc) {
  return splat(builder, loc, RankedTensorType::get({}, builder.getI32Type()),
               builder.getI32IntegerAttr(0));
}

static SmallVector<Value> startsAt(OpBuilder &builder, Location loc,
                                   int64_t rank, unsigned dim, Value turn) {
  SmallVector<Value> starts(rank, zeroIndex(builder, loc));
  starts[dim] = turn;
  return starts;
}

Value mlir::sp::takeTurn(OpBuilder &builder, Location loc, Value whole,
                         const TurnRows &rows, Value turn) {
  SmallVector<int64_t> shape(typeOf(whole).getShape());
  int64_t turns = rows.layout.getRanks(), count = rows.layout.getMaxCount(),
          length = rows.layout.getLength();
  unsigned at = rows.dim + (rows.outer != 1);
  Value value = whole;
  if (int64_t more = count * turns - length) {
    value =
        reshapeTo(builder, loc, value,
                  splitDim(shape, rows.dim, {rows.outer, length, rows.inner}));
    RankedTensorType type = typeOf(value);
    SmallVector<int64_t> zeros(type.getRank(), 0), high(zeros),
        padded(type.getShape());
    high[at] = more;
    padded[at] += more;
    Value zero = neutralSplat(builder, loc, type.clone(ArrayRef<int64_t>()),
                              Reduction::Sum);
    value = stablehlo::PadOp::create(builder, loc, type.clone(padded), value,
                                     zero, zeros, high, zeros);
  }
  SmallVector<int64_t> split(ArrayRef(shape).take_front(rows.dim));
  if (rows.outer != 1)
    split.push_back(rows.outer);
  split.push_back(count);
  unsigned of = split.size();
  split.push_back(turns);
  if (rows.inner != 1)
    split.push_back(rows.inner);
  llvm::append_range(split, ArrayRef(shape).drop_front(rows.dim + 1));
  value = reshapeTo(builder, loc, value, split);
  split[of] = 1;
  value = stablehlo::DynamicSliceOp::create(
      builder, loc, typeOf(value).clone(split), value,
      startsAt(builder, loc, split.size(), of, turn), split);
  shape[rows.dim] = rows.outer * count * rows.inner;
  return reshapeTo(builder, loc, value, shape);
}

Value mlir::sp::joinTurns(OpBuilder &builder, Location loc, Value stack,
                          const TurnRows &rows, RankedTensorType type) {
  // [turns, ..., outer, count, inner, ...]
  int64_t turns = rows.layout.getRanks(), count = rows.layout.getMaxCount(),
          length = rows.layout.getLength();
  SmallVector<int64_t> split{turns};
  llvm::append_range(split, type.getShape().take_front(rows.dim));
  split.append({rows.outer, count, rows.inner});
  llvm::append_range(split, type.getShape().drop_front(rows.dim + 1));
  Value value = reshapeTo(builder, loc, stack, split);
  // Turns count fastest.
  int64_t at = rows.dim + 2;
  SmallVector<int64_t> order, shape;
  for (int64_t dim = 1; dim < static_cast<int64_t>(split.size()); ++dim) {
    order.push_back(dim);
    if (dim == at)
      order.push_back(0);
  }
  for (int64_t dim : order)
    shape.push_back(split[dim]);
  value = stablehlo::TransposeOp::create(
      builder, loc, typeOf(value).clone(shape), value, order);
  shape = llvm::to_vector(type.getShape().take_front(rows.dim));
  shape.append({rows.outer, count * turns, rows.inner});
  llvm::append_range(shape, type.getShape().drop_front(rows.dim + 1));
  value = reshapeTo(builder, loc, value, shape);
  if (count * turns != length) {
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape),
        strides(shape.size(), 1);
    limits[rows.dim + 1] = length;
    value =
        stablehlo::SliceOp::create(builder, loc, typeOf(value).clone(limits),
                                   value, starts, limits, strides);
  }
  return reshapeTo(builder, loc, value, type.getShape());
}

Value mlir::sp::takeRow(OpBuilder &builder, Location loc, Value stack,
                        Value turn) {
  RankedTensorType type = typeOf(stack);
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = 1;
  Value row = stablehlo::DynamicSliceOp::create(
      builder, loc, type.clone(sizes), stack,
      startsAt(builder, loc, type.getRank(), 0, turn), sizes);
  return reshapeTo(builder, loc, row, type.getShape().drop_front());
}

Value mlir::sp::putRow(OpBuilder &builder, Location loc, Value stack, Value row,
                       Value turn) {
  RankedTensorType type = typeOf(stack);
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = 1;
  return stablehlo::DynamicUpdateSliceOp::create(
      builder, loc, type, stack, reshapeTo(builder, loc, row, sizes),
      startsAt(builder, loc, type.getRank(), 0, turn));
}

Value mlir::sp::positionsOfTurn(OpBuilder &builder, PositionsOp op,
                                Value turn) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getResult());
  Type element = type.getElementType();
  auto number = [&](int64_t value) {
    return splat(builder, loc, type, builder.getIntegerAttr(element, value));
  };
  Value first =
      convertType(builder, loc, turn, RankedTensorType::get({}, element));
  first = stablehlo::BroadcastInDimOp::create(builder, loc, type, first,
                                              ArrayRef<int64_t>());
  Value row = stablehlo::IotaOp::create(builder, loc, type, 0);
  Value position = stablehlo::AddOp::create(
      builder, loc,
      stablehlo::MulOp::create(builder, loc, row,
                               number(op.getLayout().getRanks())),
      first);
  // Padding repeats position 0.
  Value isRow = stablehlo::CompareOp::create(
      builder, loc, position, number(op.getLayout().getLength()),
      stablehlo::ComparisonDirection::LT);
  return stablehlo::SelectOp::create(builder, loc, type, isRow, position,
                                     number(0));
}

Value mlir::sp::rowCountOfTurn(OpBuilder &builder, RowCountOp op, Value turn) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getResult());
  int64_t turns = op.getLayout().getRanks(),
          last = op.getLayout().getLength() + turns - 1;
  auto number = [&](int64_t value) {
    return splat(builder, loc, type, builder.getI32IntegerAttr(value));
  };
  Value left = stablehlo::SubtractOp::create(builder, loc, number(last), turn);
  return stablehlo::DivOp::create(builder, loc, left, number(turns));
}
