//===- LocalizeRows.cpp - Slices, pads and joins of dealt rows ------------===//
//
//   before   %y = slice %x [1:4096] : 4096 -> 4095
//   after    %y = sp.redeal %x dim 0 from <zigzag 4096 on "sp" of 4>
//                 to <zigzag 4095 within 4096 on "sp" of 4> by 1 : 1024 -> 1024
//
//   before   %y = pad %x, %zero, low = [0], high = [1] : 4095 -> 4096
//   after    rows whose position is below 4095 stay, the others are %zero
//
//===----------------------------------------------------------------------===//

#include "LocalizeRows.h"

#include "mlir/IR/Remarks.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// Selects rows by their positions.
class RowSelector {
public:
  RowSelector(OpBuilder &builder, Location loc, unsigned dim, DimAttr dealt,
              RankedTensorType type)
      : builder(builder), loc(loc), dim(dim), dealt(dealt), type(type) {}

  /// `inside` where a position is below `end`, else `outside`.
  Value below(int64_t end, Value inside, Value outside) {
    if (!positions)
      positions = positionsOf(builder, loc, dealt);
    auto lineType = cast<RankedTensorType>(positions.getType());
    Value limit = splat(builder, loc, lineType, builder.getI32IntegerAttr(end));
    Value isBelow = stablehlo::CompareOp::create(
        builder, loc, positions, limit, stablehlo::ComparisonDirection::LT);
    Value mask = stablehlo::BroadcastInDimOp::create(
        builder, loc, type.clone(builder.getI1Type()), isBelow,
        ArrayRef<int64_t>{dim});
    return stablehlo::SelectOp::create(builder, loc, type, mask, inside,
                                       outside);
  }

private:
  OpBuilder &builder;
  Location loc;
  unsigned dim;
  DimAttr dealt;
  RankedTensorType type;
  Value positions;
};

/// Emits operations that move rows.
class MovedRows {
public:
  MovedRows(Localizer &localizer, OpBuilder &builder)
      : localizer(localizer), builder(builder) {}

  Value emit(Operation *op, ArrayRef<DimAttr> dims);

private:
  Value emitSlice(stablehlo::SliceOp op, ArrayRef<DimAttr> dims);
  Value emitPad(stablehlo::PadOp op, ArrayRef<DimAttr> dims);
  Value emitConcatenate(stablehlo::ConcatenateOp op, ArrayRef<DimAttr> dims);
  /// One row, at a position that is computed: the sum over ranks of what each
  /// has of it.
  Value emitOneRow(stablehlo::DynamicSliceOp op, ArrayRef<DimAttr> dims);
  /// Along dimension `dim` the row of position p is that of p + by in
  /// `operand`; the result is dealt as `dims`, which other dimensions of the
  /// operand are as well.
  Value bringRows(Value operand, unsigned dim, int64_t by,
                  ArrayRef<DimAttr> dims, Operation *user);

  Localizer &localizer;
  OpBuilder &builder;
};

} // namespace

#define DEBUG_TYPE "sp-localize"

void mlir::sp::remarkMoved(Operation *user, int64_t bytes, unsigned dim) {
  if (bytes == 0)
    return;
  remark::analysis(user->getLoc(),
                   remark::RemarkOpts::name("Moved").category(DEBUG_TYPE))
      << user->getName().getStringRef() << " moves rows of dimension "
      << remark::metric("dimension", dim) << ", a rank sends "
      << remark::metric("bytes", bytes) << " bytes";
}

#undef DEBUG_TYPE

Value MovedRows::bringRows(Value operand, unsigned dim, int64_t by,
                           ArrayRef<DimAttr> dims, Operation *user) {
  SmallVector<DimAttr> from(dims);
  DimAttr own = localizer.lookup(operand).dims[dim];
  from[dim] = wholeDim(own);
  bool isMadeWhole = !isDealt(dims[dim]) && isRecomputable(operand);
  if (!sharesAxis(own, from) && !isMadeWhole)
    from[dim] = own;
  Value value = localizer.require(operand, from, user);
  remarkMoved(user, movedBytes(value, dim, from[dim], dims[dim], by), dim);
  return moveRows(builder, user->getLoc(), value, dim, from[dim], dims[dim],
                  by);
}

/// The dimension along which rows move, by number: of those that are `changed`
/// the first that ranks share. The others are whole.
static std::optional<unsigned> findMoved(ArrayRef<bool> changed,
                                         ArrayRef<DimAttr> operand,
                                         SmallVectorImpl<DimAttr> &result) {
  std::optional<unsigned> moved;
  for (unsigned dim = 0; dim < changed.size(); ++dim) {
    if (!changed[dim])
      continue;
    if (!moved && (isDealt(operand[dim]) || isDealt(result[dim])))
      moved = dim;
    else
      result[dim] = wholeDim(result[dim]);
  }
  return moved;
}

Value MovedRows::emitSlice(stablehlo::SliceOp op, ArrayRef<DimAttr> dims) {
  Value operand = op.getOperand();
  SmallVector<int64_t> starts(op.getStartIndices()),
      limits(op.getLimitIndices());
  SmallVector<bool> cut;
  for (auto [before, after] : llvm::zip_equal(shapeOf(operand), shapeOf(op)))
    cut.push_back(before != after);
  SmallVector<DimAttr> made(dims);
  std::optional<unsigned> moved =
      findMoved(cut, localizer.lookup(operand).dims, made);
  if (!moved || op.getStrides()[*moved] != 1)
    return Value();
  SmallVector<DimAttr> brought(made);
  cut[*moved] = false;
  for (auto [dim, isCut] : llvm::enumerate(cut))
    if (isCut)
      brought[dim] = wholeDim(localizer.lookup(operand).dims[dim]);
  Value value = bringRows(operand, *moved, starts[*moved], brought, op);
  for (auto [dim, isCut] : llvm::enumerate(cut))
    if (!isCut) {
      starts[dim] = 0;
      limits[dim] = shapeOf(value)[dim];
    }
  if (llvm::is_contained(cut, true))
    value = stablehlo::SliceOp::create(builder, op.getLoc(),
                                       localType(elementOf(op), made), value,
                                       starts, limits, op.getStrides());
  return localizer.reshard(value, made, dims, op);
}

Value MovedRows::emitPad(stablehlo::PadOp op, ArrayRef<DimAttr> dims) {
  Value operand = op.getOperand();
  SmallVector<int64_t> low(op.getEdgePaddingLow()),
      high(op.getEdgePaddingHigh()), interior(op.getInteriorPadding());
  SmallVector<bool> padded;
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    padded.push_back(low[dim] != 0 || high[dim] != 0 || interior[dim] != 0);
  SmallVector<DimAttr> made(dims);
  std::optional<unsigned> moved =
      findMoved(padded, localizer.lookup(operand).dims, made);
  if (!moved || !isDealt(made[*moved]) || interior[*moved] != 0 ||
      countOf(shapeOf(operand)) == 0)
    return Value();
  int64_t begin = low[*moved], end = begin + shapeOf(operand)[*moved];
  SmallVector<DimAttr> brought(made);
  padded[*moved] = false;
  for (auto [dim, isPadded] : llvm::enumerate(padded))
    if (isPadded)
      brought[dim] = wholeDim(localizer.lookup(operand).dims[dim]);
  Value value = bringRows(operand, *moved, -begin, brought, op);
  Value padding = localizer.require(op.getPaddingValue(), {}, op);
  RankedTensorType type = localType(elementOf(op), made);
  low[*moved] = high[*moved] = 0;
  if (llvm::is_contained(padded, true))
    value = stablehlo::PadOp::create(builder, op.getLoc(), type, value, padding,
                                     low, high, interior);
  padding = stablehlo::BroadcastInDimOp::create(builder, op.getLoc(), type,
                                                padding, ArrayRef<int64_t>());
  RowSelector rows(builder, op.getLoc(), *moved, made[*moved], type);
  if (end < shapeOf(op)[*moved])
    value = rows.below(end, value, padding);
  if (begin > 0)
    value = rows.below(begin, padding, value);
  return localizer.reshard(value, made, dims, op);
}

Value MovedRows::emitConcatenate(stablehlo::ConcatenateOp op,
                                 ArrayRef<DimAttr> dims) {
  unsigned dim = op.getDimension();
  bool hasDealt = llvm::any_of(op.getInputs(), [&](Value input) {
    return isDealt(localizer.lookup(input).dims[dim]);
  });
  if (!isDealt(dims[dim]) || !hasDealt)
    return Value();
  RowSelector rows(builder, op.getLoc(), dim, dims[dim],
                   localType(elementOf(op), dims));
  Value joined;
  int64_t begin = 0;
  for (Value input : op.getInputs()) {
    if (countOf(shapeOf(input)) == 0)
      continue;
    Value part = bringRows(input, dim, -begin, dims, op);
    joined = joined ? rows.below(begin, joined, part) : part;
    begin += shapeOf(input)[dim];
  }
  return joined;
}

Value MovedRows::emitOneRow(stablehlo::DynamicSliceOp op,
                            ArrayRef<DimAttr> dims) {
  Location loc = op.getLoc();
  Value operand = op.getOperand();
  std::optional<unsigned> cut;
  for (auto [dim, sizes] :
       llvm::enumerate(llvm::zip_equal(shapeOf(operand), shapeOf(op))))
    if (auto [before, after] = sizes; before != after) {
      if (cut || after != 1)
        return Value();
      cut = dim;
    }
  // What a loop takes, row after row, is gathered once.
  bool isHere = lookThroughLoops(operand).getParentBlock() == op->getBlock();
  if (!cut || !isHere || elementOf(op).isInteger(1) ||
      isa<ComplexType>(elementOf(op)))
    return Value();
  SmallVector<DimAttr> made(localizer.lookup(operand).dims);
  DimAttr dealt = made[*cut];
  LayoutAttr layout = onlyLayout(dealt);
  if (!layout || layout.getKind() == LayoutKind::Batch || layout.getTurns() > 1)
    return Value();
  Value rows = maskPadding(builder, loc, localizer.lookup(operand).value, dealt,
                           *cut, Reduction::Sum);
  auto type = cast<RankedTensorType>(rows.getType());
  Value at = localizer.require(op.getStartIndices()[*cut], {}, op);
  auto number = [&](int64_t value) {
    return splat(
        builder, loc, cast<RankedTensorType>(at.getType()),
        builder.getIntegerAttr(getElementTypeOrSelf(at.getType()), value));
  };
  at = stablehlo::ClampOp::create(builder, loc, at.getType(), number(0), at,
                                  number(shapeOf(operand)[*cut] - 1));
  Value positions = positionsOf(builder, loc, dealt);
  auto lineType = cast<RankedTensorType>(positions.getType());
  at = convertType(builder, loc, at,
                   RankedTensorType::get({}, lineType.getElementType()));
  Value isIt = stablehlo::CompareOp::create(
      builder, loc, positions,
      stablehlo::BroadcastInDimOp::create(builder, loc, lineType, at,
                                          ArrayRef<int64_t>()),
      stablehlo::ComparisonDirection::EQ);
  Value mask = stablehlo::BroadcastInDimOp::create(
      builder, loc, type.clone(builder.getI1Type()), isIt,
      ArrayRef<int64_t>{*cut});
  Value own = stablehlo::SelectOp::create(
      builder, loc, type, mask, rows,
      neutralSplat(builder, loc, type, Reduction::Sum));
  SmallVector<Value> row = {sumDim(builder, loc, own, *cut)};
  localizer.reduce(op, Reduction::Sum, layout, row);
  made[*cut] = wholeDim(localizer.wholeDims(op)[*cut]);
  return localizer.reshard(reshapeTo(builder, loc, row[0],
                                     localType(elementOf(op), made).getShape()),
                           made, dims, op);
}

Value MovedRows::emit(Operation *op, ArrayRef<DimAttr> dims) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::SliceOp op) { return emitSlice(op, dims); })
      .Case([&](stablehlo::PadOp op) { return emitPad(op, dims); })
      .Case([&](stablehlo::ConcatenateOp op) {
        return emitConcatenate(op, dims);
      })
      .Case([&](stablehlo::DynamicSliceOp op) { return emitOneRow(op, dims); })
      .Default([](Operation *) { return Value(); });
}

Value mlir::sp::emitMovedRows(Localizer &localizer, OpBuilder &builder,
                              Operation *op, ArrayRef<DimAttr> dims) {
  return MovedRows(localizer, builder).emit(op, dims);
}
