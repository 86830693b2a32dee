//===- LocalizePicks.cpp - Rows that indices pick -------------------------===//
//
//   before   %y = gather %table[%i]         table: [V by "tp", D]
//   after    %j = %i - first of the rank's, or where else its rows have it
//            %y = sum over ranks of (is %j one of its rows? table[%j] : 0)
//
//===----------------------------------------------------------------------===//

#include "LocalizePicks.h"
#include "Sharding/Resharding.h"

#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

bool mlir::sp::hasPicks(LayoutAttr layout) {
  return layout && !layout.isOfBatch() && layout.getBlocks() == 1 &&
         layout.getTurns() == 1;
}

namespace {

/// How the indices of a gather or a scatter pick windows of its first operand.
struct Picks {
  /// Of the operand, for each component of an index.
  SmallVector<int64_t> dims;
  /// Of the operand, of which a window has one position.
  SmallVector<int64_t> single;
  /// Of the operand, and of the indices.
  SmallVector<int64_t> batching, batchingIndices;
  /// Of the result of a gather, or the updates of a scatter.
  SmallVector<int64_t> windowDims;
  int64_t vectorDim;

  static Picks of(Operation *op);
  void setIn(Operation *op) const;
  /// Which of the window dimensions is that of the operand's `dim`.
  unsigned windowOf(int64_t dim) const {
    auto isBefore = [dim](int64_t other) { return other < dim; };
    return dim - llvm::count_if(single, isBefore) -
           llvm::count_if(batching, isBefore);
  }
};

} // namespace

Picks Picks::of(Operation *op) {
  auto made = [](auto... lists) {
    return Picks{SmallVector<int64_t>(lists)..., 0};
  };
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    auto dims = gather.getDimensionNumbers();
    Picks picks =
        made(dims.getStartIndexMap(), dims.getCollapsedSliceDims(),
             dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims(),
             dims.getOffsetDims());
    picks.vectorDim = dims.getIndexVectorDim();
    return picks;
  }
  auto dims = cast<stablehlo::ScatterOp>(op).getScatterDimensionNumbers();
  Picks picks =
      made(dims.getScatterDimsToOperandDims(), dims.getInsertedWindowDims(),
           dims.getInputBatchingDims(), dims.getScatterIndicesBatchingDims(),
           dims.getUpdateWindowDims());
  picks.vectorDim = dims.getIndexVectorDim();
  return picks;
}

void Picks::setIn(Operation *op) const {
  MLIRContext *context = op->getContext();
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    gather.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
        context, windowDims, single, batching, batchingIndices, dims,
        vectorDim));
    SmallVector<int64_t> sizes(gather.getSliceSizes());
    for (int64_t dim : single)
      sizes[dim] = 1;
    gather.setSliceSizes(sizes);
    gather.setIndicesAreSorted(false);
    return;
  }
  auto scatter = cast<stablehlo::ScatterOp>(op);
  scatter.setScatterDimensionNumbersAttr(
      stablehlo::ScatterDimensionNumbersAttr::get(context, windowDims, single,
                                                  batching, batchingIndices,
                                                  dims, vectorDim));
  scatter.setIndicesAreSorted(false);
}

namespace {

/// Signed numbers that hold any index.
Value asSigned(OpBuilder &builder, Location loc, Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  auto element = cast<IntegerType>(type.getElementType());
  bool isWide = element.getWidth() > 32 ||
                (element.getWidth() == 32 && element.isUnsigned());
  Type wanted = isWide ? builder.getI64Type() : builder.getI32Type();
  return convertType(builder, loc, indices, type.clone(wanted));
}

/// In which of a rank's rows positions are.
class OwnRows {
public:
  /// Positions of any shape, signed numbers from 0 to what `layout` deals.
  OwnRows(OpBuilder &builder, Location loc, Value positions, LayoutAttr layout);

  /// Those of other ranks are in none.
  Value rows() const { return found; }
  Value areOwn();

private:
  Value number(int64_t value) {
    return splat(builder, loc, type,
                 builder.getIntegerAttr(type.getElementType(), value));
  }
  Value spread(Value scalar) {
    scalar = convertType(builder, loc, scalar,
                         RankedTensorType::get({}, type.getElementType()));
    return stablehlo::BroadcastInDimOp::create(builder, loc, type, scalar,
                                               ArrayRef<int64_t>());
  }
  template <typename OpT> Value make(Value lhs, Value rhs) {
    return OpT::create(builder, loc, lhs, rhs);
  }
  Value compare(Value lhs, stablehlo::ComparisonDirection how, Value rhs) {
    return stablehlo::CompareOp::create(builder, loc, lhs, rhs, how);
  }
  Value choose(Value condition, Value yes, Value no) {
    return stablehlo::SelectOp::create(builder, loc, condition, yes, no);
  }
  /// Whether there is such a row.
  Value areRows(Value rows) {
    return make<stablehlo::AndOp>(
        compare(rows, stablehlo::ComparisonDirection::GE, number(0)),
        compare(rows, stablehlo::ComparisonDirection::LT, spread(count)));
  }
  /// The rank's positions in some of its rows.
  Value positionsIn(Value rows);

  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
  Value line, count, found, own;
};

} // namespace

Value OwnRows::positionsIn(Value rows) {
  Value flat = reshapeTo(builder, loc, rows, {countOf(shapeOf(rows))});
  Value taken = takeIndices(builder, loc, line, 0, flat);
  return convertType(builder, loc,
                     reshapeTo(builder, loc, taken, shapeOf(rows)),
                     cast<RankedTensorType>(rows.getType()));
}

/// A rank's positions are one run, equally far from each other, or those of a
/// zigzag two: one that begins with its first position, and one that ends with
/// its last.
OwnRows::OwnRows(OpBuilder &builder, Location loc, Value positions,
                 LayoutAttr layout)
    : builder(builder), loc(loc), type(typeOf(positions)),
      line(positionsOf(builder, loc, dealtDim(layout))),
      count(RowCountOp::create(builder, loc,
                               RankedTensorType::get({}, builder.getI32Type()),
                               layout)) {
  using Direction = stablehlo::ComparisonDirection;
  Value first =
      spread(reshapeTo(builder, loc, sliceDim(builder, loc, line, 0, 0, 1),
                       ArrayRef<int64_t>()));
  found = make<stablehlo::SubtractOp>(positions, first);
  if (layout.getKind() == LayoutKind::Striped) {
    Value step = number(layout.getRanks() / layout.getSplit());
    Value isBetween =
        compare(make<stablehlo::RemOp>(found, step), Direction::NE, number(0));
    found = choose(isBetween, number(-1), make<stablehlo::DivOp>(found, step));
  }
  if (layout.getKind() != LayoutKind::Zigzag)
    return;
  Value isInFirst = make<stablehlo::AndOp>(
      areRows(found), compare(positionsIn(found), Direction::EQ, positions));
  Value end = make<stablehlo::SubtractOp>(
      count, splat(builder, loc, typeOf(count), builder.getI32IntegerAttr(1)));
  Value last =
      reshapeTo(builder, loc,
                takeIndices(builder, loc, line, 0,
                            reshapeTo(builder, loc, end, ArrayRef<int64_t>{1})),
                ArrayRef<int64_t>());
  Value fromEnd = make<stablehlo::AddOp>(
      spread(end), make<stablehlo::SubtractOp>(positions, spread(last)));
  own = make<stablehlo::OrOp>(
      isInFirst, make<stablehlo::AndOp>(
                     areRows(fromEnd),
                     compare(positionsIn(fromEnd), Direction::EQ, positions)));
  found = choose(own, choose(isInFirst, found, fromEnd), number(-1));
}

Value OwnRows::areOwn() { return own ? own : areRows(found); }

namespace {

/// Has an operation, of which operands are a rank's own, pick along a dimension
/// of its first operand.
class OwnPicks {
public:
  OwnPicks(OpBuilder &builder, Operation *op, unsigned number, unsigned dim,
           LayoutAttr layout)
      : builder(builder), loc(op->getLoc()), op(op), dim(dim), layout(layout),
        picks(Picks::of(op)), indices(op->getOpOperand(number)) {}

  /// Which elements of a gather's result are the rank's.
  Value emit();

private:
  bool isVector() const {
    return picks.vectorDim <
           cast<RankedTensorType>(indices.get().getType()).getRank();
  }
  Value numberLike(Value like, int64_t value) {
    RankedTensorType type = typeOf(like);
    return splat(builder, loc, type,
                 builder.getIntegerAttr(type.getElementType(), value));
  }
  Value compare(Value lhs, stablehlo::ComparisonDirection how, int64_t rhs) {
    return stablehlo::CompareOp::create(builder, loc, lhs, numberLike(lhs, rhs),
                                        how);
  }
  int64_t windowSize();
  /// Picks positions one by one instead of `size` after each other.
  Value spread(Value first, int64_t size);

  OpBuilder &builder;
  Location loc;
  Operation *op;
  unsigned dim;
  LayoutAttr layout;
  Picks picks;
  OpOperand &indices;
};

} // namespace

int64_t OwnPicks::windowSize() {
  if (llvm::is_contained(picks.single, dim))
    return 1;
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
    return gather.getSliceSizes()[dim];
  Value update = cast<stablehlo::ScatterOp>(op).getUpdates()[0];
  return shapeOf(update)[picks.windowDims[picks.windowOf(dim)]];
}

Value OwnPicks::spread(Value first, int64_t size) {
  unsigned window = picks.windowOf(dim);
  int64_t place = picks.windowDims[window];
  // As many dimensions of indices are before it as of what they give.
  for (int64_t other : picks.windowDims)
    place -= other < picks.windowDims[window];
  place += place > picks.vectorDim;
  picks.windowDims.erase(picks.windowDims.begin() + window);
  picks.single.insert(llvm::lower_bound(picks.single, dim), dim);
  picks.vectorDim += place <= picks.vectorDim;
  for (int64_t &other : picks.batchingIndices)
    other += other >= place;
  auto widened = [&](Value value) {
    SmallVector<int64_t> shape(shapeOf(value));
    SmallVector<int64_t> others = llvm::to_vector(
        llvm::seq<int64_t>(0, static_cast<int64_t>(shape.size())));
    for (int64_t &other : others)
      other += other >= place;
    shape.insert(shape.begin() + place, size);
    return stablehlo::BroadcastInDimOp::create(
        builder, loc, typeOf(value).clone(shape), value, others);
  };
  indices.set(widened(indices.get()));
  Value starts = widened(first);
  return stablehlo::AddOp::create(builder, loc, starts,
                                  stablehlo::IotaOp::create(builder, loc,
                                                            starts.getType(),
                                                            uint64_t(place)));
}

Value OwnPicks::emit() {
  int64_t component = llvm::find(picks.dims, dim) - picks.dims.begin(),
          size = windowSize(), last = layout.getLength() - size;
  indices.set(asSigned(builder, loc, indices.get()));
  Value positions = indices.get();
  if (isVector())
    positions =
        sliceDim(builder, loc, positions, picks.vectorDim, component, 1);
  // A gather moves windows to where they fit, a scatter leaves out others.
  if (isa<stablehlo::GatherOp>(op))
    positions = stablehlo::ClampOp::create(builder, loc, positions.getType(),
                                           numberLike(positions, 0), positions,
                                           numberLike(positions, last));
  else if (size > 1)
    positions = stablehlo::SelectOp::create(
        builder, loc,
        stablehlo::AndOp::create(
            builder, loc,
            compare(positions, stablehlo::ComparisonDirection::GE, 0),
            compare(positions, stablehlo::ComparisonDirection::LE, last)),
        positions, numberLike(positions, -size));
  if (size > 1)
    positions = spread(positions, size);
  OwnRows own(builder, loc, positions, layout);
  Value there = own.areOwn(), rows = own.rows();
  if (isVector()) {
    SmallVector<int64_t> shape(shapeOf(there));
    shape.erase(shape.begin() + picks.vectorDim);
    there = reshapeTo(builder, loc, there, shape);
  }
  if (picks.dims.size() > 1) {
    RankedTensorType type = typeOf(indices.get());
    Value numbersOf = stablehlo::IotaOp::create(builder, loc, type,
                                                uint64_t(picks.vectorDim));
    Value spreadRows = stablehlo::BroadcastInDimOp::create(
        builder, loc, type, rows, llvm::to_vector(llvm::seq(type.getRank())));
    rows = stablehlo::SelectOp::create(
        builder, loc,
        compare(numbersOf, stablehlo::ComparisonDirection::EQ, component),
        spreadRows, indices.get());
  }
  indices.set(rows);
  picks.setIn(op);
  if (!isa<stablehlo::GatherOp>(op))
    return Value();
  RankedTensorType type = typeOf(op->getResult(0));
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq(type.getRank()));
  llvm::erase_if(batch, [&](int64_t dim) {
    return llvm::is_contained(picks.windowDims, dim);
  });
  return stablehlo::BroadcastInDimOp::create(
      builder, loc, type.clone(builder.getI1Type()), there, batch);
}

Value mlir::sp::pickOwn(OpBuilder &builder, Operation *op, unsigned indices,
                        unsigned dim, LayoutAttr layout) {
  return OwnPicks(builder, op, indices, dim, layout).emit();
}

Value mlir::sp::maskForeign(OpBuilder &builder, Value picked, Value areOwn) {
  return stablehlo::SelectOp::create(
      builder, picked.getLoc(), areOwn, picked,
      neutralSplat(builder, picked.getLoc(), typeOf(picked), Reduction::Sum));
}
