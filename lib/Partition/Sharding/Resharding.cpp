//===- Resharding.cpp - Whole to dealt and back --------------------------===//

#include "Sharding/Resharding.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/TensorTypes.h"
#include "sprt/algebra/Redeal.h"

using namespace mlir;
using namespace mlir::sp;

static int64_t localSize(AtomAttr atom) {
  return atom.getLayout() ? atom.getLayout().getMaxCount() : atom.getSize();
}

RankedTensorType mlir::sp::localType(Type elementType, ArrayRef<DimAttr> dims) {
  if (dims.empty())
    return RankedTensorType::get({}, elementType);
  return RankedTensorType::get(
      ShardingAttr::get(dims[0].getContext(), dims).getLocalShape(),
      elementType);
}

/// What deals rows to several ranks, with its dimension.
static SmallVector<std::pair<LayoutAttr, int64_t>>
layoutsOf(ArrayRef<DimAttr> dims) {
  SmallVector<std::pair<LayoutAttr, int64_t>> layouts;
  for (auto [number, dim] : llvm::enumerate(dims))
    for (AtomAttr atom : dim.getAtoms())
      if (LayoutAttr layout = atom.getLayout(); layout && layout.getRanks() > 1)
        layouts.push_back({layout, number});
  return layouts;
}

void mlir::sp::placeOneRows(stablehlo::ReshapeOp op, ArrayRef<DimAttr> dims,
                            ArrayRef<DimAttr> others, DictionaryAttr known) {
  Builder builder(op.getContext());
  SmallVector<std::pair<LayoutAttr, int64_t>> layouts = layoutsOf(dims),
                                              before = layoutsOf(others);
  bool hasOneRow =
      known ||
      llvm::any_of(
          llvm::concat<std::pair<LayoutAttr, int64_t>>(layouts, before),
          [](const auto &dealt) { return dealt.first.getMaxCount() == 1; });
  if (!hasOneRow)
    return;
  NamedAttrList places(known);
  for (auto [layout, dim] : layouts)
    places.set(layout.getAxis().getText(), builder.getI64IntegerAttr(dim));
  if (!places.empty())
    op->setAttr(kOneRow, places.getDictionary(op.getContext()));
}

/// `dims` with the atoms of dimension `index` as dimensions.
static SmallVector<DimAttr> splitAtoms(ArrayRef<DimAttr> dims, unsigned index) {
  SmallVector<DimAttr> split(dims.take_front(index));
  for (AtomAttr atom : dims[index].getAtoms())
    split.push_back(DimAttr::get(atom.getContext(), {atom}));
  llvm::append_range(split, dims.drop_front(index + 1));
  return split;
}

/// Calls `change` on `value` with dimension `index` split into its atoms, for
/// every atom that is dealt, and joins the atoms again. `change` gets the
/// number of the atom's dimension and its layout. `from` and `to` say how all
/// dimensions are dealt before and then.
template <typename ChangeT>
static Value changeAtoms(OpBuilder &builder, Location loc, Value value,
                         unsigned index, ArrayRef<DimAttr> from,
                         ArrayRef<DimAttr> to, ChangeT change) {
  auto reshaped = [&](ArrayRef<DimAttr> before,
                      ArrayRef<DimAttr> after) -> Value {
    Type type = localType(getElementTypeOrSelf(value.getType()), after);
    if (type == value.getType())
      return value;
    auto op = stablehlo::ReshapeOp::create(builder, loc, type, value);
    placeOneRows(op, after, before);
    return op.getResult();
  };
  SmallVector<DimAttr> apart = splitAtoms(from, index),
                       changed = splitAtoms(to, index);
  value = reshaped(from, apart);
  for (unsigned dim = index; dim < index + from[index].getAtoms().size(); ++dim)
    for (DimAttr atom : {apart[dim], changed[dim]})
      if (LayoutAttr layout = onlyLayout(atom))
        value = change(value, dim, layout);
  return reshaped(changed, to);
}

/// A dimension of the same atoms, none of which is dealt.
static DimAttr withoutLayouts(DimAttr dim) {
  SmallVector<AtomAttr> atoms;
  for (AtomAttr atom : dim.getAtoms())
    atoms.push_back(
        AtomAttr::get(atom.getContext(), atom.getSize(), LayoutAttr()));
  return DimAttr::get(dim.getContext(), atoms);
}

Value mlir::sp::gatherDim(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<DimAttr> dims, unsigned index) {
  SmallVector<DimAttr> whole(dims);
  whole[index] = withoutLayouts(dims[index]);
  return changeAtoms(
      builder, loc, value, index, dims, whole,
      [&](Value input, unsigned dim, LayoutAttr layout) -> Value {
        return AllGatherOp::create(builder, loc, input, dim, layout)
            .getResult(0);
      });
}

Value mlir::sp::sliceDim(OpBuilder &builder, Location loc, Value value,
                         unsigned index, int64_t first, int64_t count) {
  auto type = cast<RankedTensorType>(value.getType());
  if (count == type.getDimSize(index))
    return value;
  SmallVector<int64_t> start(type.getRank(), 0), limit(type.getShape()),
      stride(type.getRank(), 1);
  start[index] = first;
  limit[index] = first + count;
  SmallVector<int64_t> shape(type.getShape());
  shape[index] = count;
  return stablehlo::SliceOp::create(builder, loc, type.clone(shape), value,
                                    start, limit, stride);
}

Value mlir::sp::takeIndices(OpBuilder &builder, Location loc, Value input,
                            unsigned dim, Value rows) {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  Value indices = reshapeTo(builder, loc, rows, {count, 1});
  SmallVector<int64_t> offsetDims, sliceSizes(type.getShape()),
      shape(type.getShape());
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != dim)
      offsetDims.push_back(other);
  sliceSizes[dim] = 1;
  shape[dim] = count;
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      builder.getContext(), offsetDims, /*collapsedSliceDims=*/{dim},
      /*operandBatchingDims=*/{},
      /*startIndicesBatchingDims=*/{}, /*startIndexMap=*/{dim},
      /*indexVectorDim=*/1);
  return stablehlo::GatherOp::create(builder, loc, type.clone(shape), input,
                                     indices, numbers, sliceSizes,
                                     /*indices_are_sorted=*/false);
}

/// The positions that a layout gives this rank.
static Value positionsOf(OpBuilder &builder, Location loc, LayoutAttr layout) {
  return PositionsOp::create(
      builder, loc,
      RankedTensorType::get({layout.getMaxCount()}, builder.getI32Type()),
      layout);
}

Value mlir::sp::takeDim(OpBuilder &builder, Location loc, Value value,
                        unsigned index, DimAttr target,
                        ArrayRef<DimAttr> others) {
  SmallVector<DimAttr> from(others);
  if (others.empty())
    for (int64_t size : shapeOf(value))
      from.push_back(DimAttr::get(
          builder.getContext(),
          {AtomAttr::get(builder.getContext(), size, LayoutAttr())}));
  from[index] = withoutLayouts(target);
  SmallVector<DimAttr> to(from);
  to[index] = target;
  return changeAtoms(builder, loc, value, index, from, to,
                     [&](Value input, unsigned dim, LayoutAttr layout) {
                       return takeIndices(builder, loc, input, dim,
                                          ::positionsOf(builder, loc, layout));
                     });
}

Value mlir::sp::positionsOf(OpBuilder &builder, Location loc, DimAttr dim) {
  ArrayRef<AtomAttr> atoms = dim.getAtoms();
  if (atoms.size() == 1)
    return ::positionsOf(builder, loc, atoms[0].getLayout());
  int64_t length = lengthOf(dim);
  Value line = stablehlo::IotaOp::create(
      builder, loc, RankedTensorType::get({length}, builder.getI32Type()), 0);
  return takeDim(builder, loc, line, 0, dim);
}

bool mlir::sp::canRedeal(DimAttr from, DimAttr to) {
  LayoutAttr before = onlyLayout(from), after = onlyLayout(to);
  if (!before || before.isDense())
    return false;
  return after ? after.getAxis() == before.getAxis() &&
                     after.getRanks() == before.getRanks()
               : !isDealt(to);
}

/// Whether the same ranks hold the same positions in the same rows, but for
/// last ones that one of both does not have.
static bool isInPlace(DimAttr from, DimAttr to, int64_t by) {
  LayoutAttr before = onlyLayout(from), after = onlyLayout(to);
  return before && after && by == 0 && before.getWhole() == after.getWhole();
}

/// Of a local value that is whole but for dimension `index`.
static SmallVector<DimAttr> dimsWith(RankedTensorType type, unsigned index,
                                     DimAttr dim) {
  SmallVector<DimAttr> dims = llvm::to_vector(
      ShardingAttr::getReplicated(type.getContext(), type.getShape())
          .getDims());
  dims[index] = dim;
  return dims;
}

Value mlir::sp::resizeRows(OpBuilder &builder, Location loc, Value value,
                           unsigned index, int64_t count) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t more = count - type.getDimSize(index);
  if (more <= 0)
    return sliceDim(builder, loc, value, index, 0, count);
  SmallVector<int64_t> zeros(type.getRank(), 0), high(zeros),
      shape(type.getShape());
  high[index] = more;
  shape[index] = count;
  Value padding = neutralSplat(builder, loc, type.clone(ArrayRef<int64_t>()),
                               Reduction::Sum);
  return stablehlo::PadOp::create(builder, loc, type.clone(shape), value,
                                  padding, zeros, high, zeros);
}

Value mlir::sp::moveRows(OpBuilder &builder, Location loc, Value value,
                         unsigned index, DimAttr from, DimAttr to, int64_t by) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isInPlace(from, to, by))
    return resizeRows(builder, loc, value, index, onlyLayout(to).getMaxCount());
  if (canRedeal(from, to)) {
    LayoutAttr after = onlyLayout(to);
    if (!after)
      after = LayoutAttr::getDense(builder.getContext(), lengthOf(to));
    SmallVector<int64_t> shape(type.getShape());
    shape[index] = after.getMaxCount();
    return RedealOp::create(builder, loc, type.clone(shape), value, index,
                            onlyLayout(from), after, by);
  }
  if (isDealt(from))
    value = gatherDim(builder, loc, value, dimsWith(type, index, from), index);
  int64_t length = lengthOf(from);
  if (!isDealt(to))
    return sliceDim(builder, loc, value, index, by, lengthOf(to));
  Value positions = positionsOf(builder, loc, to);
  auto lineType = cast<RankedTensorType>(positions.getType());
  auto number = [&](int64_t value) {
    return splat(builder, loc, lineType, builder.getI32IntegerAttr(value));
  };
  positions = stablehlo::AddOp::create(builder, loc, positions, number(by));
  positions = stablehlo::ClampOp::create(builder, loc, lineType, number(0),
                                         positions, number(length - 1));
  return takeIndices(builder, loc, value, index, positions);
}

int64_t mlir::sp::movedBytes(Value value, unsigned index, DimAttr from,
                             DimAttr to, int64_t by) {
  if (!isDealt(from) || isInPlace(from, to, by))
    return 0;
  auto type = cast<RankedTensorType>(value.getType());
  if (!canRedeal(from, to))
    return gatherBytes(value, dimsWith(type, index, from), index);
  LayoutAttr onto = onlyLayout(to);
  sprt::algebra::Layout before = toAlgebra(onlyLayout(from));
  sprt::algebra::Redeal redeal(
      before,
      onto ? toAlgebra(onto) : sprt::algebra::Layout::dense(lengthOf(to)), by);
  int64_t most = 0;
  for (int64_t rank = 0; rank < before.ranks(); ++rank)
    most = std::max(most, redeal.rowsToOthers(rank));
  return most *
         (storageBytes(type) / std::max<int64_t>(type.getDimSize(index), 1));
}

Value mlir::sp::sumDim(OpBuilder &builder, Location loc, Value value,
                       unsigned index) {
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + index);
  auto reduce = stablehlo::ReduceOp::create(
      builder, loc, type.clone(shape), value,
      neutralSplat(builder, loc, scalar, Reduction::Sum),
      builder.getDenseI64ArrayAttr(index));
  OpBuilder::InsertionGuard guard(builder);
  Block *body =
      builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value sum = stablehlo::AddOp::create(builder, loc, body->getArgument(0),
                                       body->getArgument(1));
  stablehlo::ReturnOp::create(builder, loc, sum);
  return reduce.getResult(0);
}

Value mlir::sp::maskPadding(OpBuilder &builder, Location loc, Value value,
                            DimAttr dim, unsigned index, Reduction kind) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = type.getDimSize(index), inner = size;
  Type i32 = builder.getI32Type();
  auto rowType = RankedTensorType::get({size}, i32);
  auto broadcast = [&](Value input, RankedTensorType to,
                       ArrayRef<int64_t> dims) -> Value {
    return stablehlo::BroadcastInDimOp::create(builder, loc, to, input, dims);
  };
  for (AtomAttr atom : dim.getAtoms()) {
    int64_t rows = localSize(atom);
    if (rows == 0)
      return value;
    inner /= rows;
    LayoutAttr layout = atom.getLayout();
    if (!layout || layout.getLength() == layout.getRanks() * rows)
      continue;
    // Row of this atom at index i of the dimension: (i / inner) mod rows.
    Value row = stablehlo::IotaOp::create(builder, loc, rowType, 0);
    if (inner > 1)
      row = stablehlo::DivOp::create(
          builder, loc, row,
          splat(builder, loc, rowType, builder.getI32IntegerAttr(inner)));
    if (rows * inner < size)
      row = stablehlo::RemOp::create(
          builder, loc, row,
          splat(builder, loc, rowType, builder.getI32IntegerAttr(rows)));
    Value count = RowCountOp::create(builder, loc,
                                     RankedTensorType::get({}, i32), layout);
    Value valid = stablehlo::CompareOp::create(
        builder, loc, row, broadcast(count, rowType, {}),
        stablehlo::ComparisonDirection::LT);
    auto maskType = RankedTensorType::get(type.getShape(), builder.getI1Type());
    Value mask = broadcast(valid, maskType, {static_cast<int64_t>(index)});
    Value neutral = neutralSplat(builder, loc, type, kind);
    value = stablehlo::SelectOp::create(builder, loc, mask, value, neutral);
  }
  return value;
}

int64_t mlir::sp::gatherBytes(Value value, ArrayRef<DimAttr> dims,
                              unsigned index) {
  int64_t bytes = storageBytes(value.getType()), sent = 0;
  // Each gather makes the value larger for the next.
  for (AtomAttr atom : dims[index].getAtoms()) {
    LayoutAttr layout = atom.getLayout();
    if (!layout || layout.getMaxCount() == 0)
      continue;
    sent += bytes * (layout.getRanks() - 1);
    bytes = bytes / layout.getMaxCount() * layout.getLength();
  }
  return sent;
}

int64_t mlir::sp::reduceBytes(Value value, int64_t ranks) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t count = type.getNumElements(), own = llvm::divideCeil(count, ranks);
  return (count - own + own * (ranks - 1)) *
         elementBytes(type.getElementType());
}
