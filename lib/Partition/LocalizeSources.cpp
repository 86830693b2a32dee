//===- LocalizeSources.cpp - Constants, positions, reshapes, updates ------===//
//
//   before   %i = iota dim = 0 : 4096
//   after    %i = sp.positions <zigzag 4096 on "sp" of 4> : 1024
//
//   before   %c = dynamic_update_slice %cache, %row, %at : 4096x64, 1x64
//   after    rows whose position lies in [%at, %at + 1) take the update's
//
//===----------------------------------------------------------------------===//

#include "LocalizeRows.h"
#include "Localizer.h"

#include "sp/IR/Attributes.h"
#include "sp/StableHLO/Loops.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

Value Localizer::emitConstant(Operation *op, ArrayRef<DimAttr> dims) {
  auto constant = op->getAttrOfType<ElementsAttr>("value");
  RankedTensorType type = localType(constant.getElementType(), dims);
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (dense && dense.isSplat())
    return stablehlo::ConstantOp::create(builder, op->getLoc(),
                                         dense.resizeSplat(type));
  Value value = stablehlo::ConstantOp::create(builder, op->getLoc(), constant);
  return reshard(value, wholeDims(op->getResult(0)), dims, op);
}

Value Localizer::emitIota(stablehlo::IotaOp op, ArrayRef<DimAttr> dims) {
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(op.getType());
  int64_t dim = op.getIotaDimension();
  RankedTensorType type = localType(element, dims);
  if (!isDealt(dims[dim]))
    return stablehlo::IotaOp::create(builder, loc, type, dim);
  Value line = positionsOf(builder, loc, dims[dim]);
  auto lineType = cast<RankedTensorType>(line.getType());
  if (element != lineType.getElementType())
    line = stablehlo::ConvertOp::create(builder, loc, lineType.clone(element),
                                        line);
  return stablehlo::BroadcastInDimOp::create(builder, loc, type, line,
                                             ArrayRef<int64_t>{dim});
}

Value Localizer::emitReshape(stablehlo::ReshapeOp op, ArrayRef<DimAttr> dims) {
  Value operand = op.getOperand();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(operand.getType()).getShape();
  FailureOr<SmallVector<DimAttr>> operandDims = reshapeDims(dims, shape);
  bool isLocal = succeeded(operandDims);
  SmallVector<DimAttr> made(dims);
  if (!isLocal) {
    operandDims = wholeDims(operand);
    made = wholeDims(op);
  }
  Value input = require(operand, *operandDims, op);
  auto value = stablehlo::ReshapeOp::create(
      builder, op.getLoc(), localType(getElementTypeOrSelf(op.getType()), made),
      input);
  placeOneRows(value, made, *operandDims,
               op->getAttrOfType<DictionaryAttr>(kOneRow));
  return isLocal ? value : reshard(value, made, dims, op);
}

namespace {

/// An update of rows that ranks hold, as choices by position.
class UpdateSliceEmitter {
public:
  UpdateSliceEmitter(OpBuilder &builder, Location loc, Value operand,
                     Value update, SmallVector<Value> starts)
      : builder(builder), loc(loc), operand(operand), update(update),
        starts(std::move(starts)) {}

  /// Spreads `size` rows of the update over the local rows of dealt dimension
  /// `dim`, of `length` positions. `take` has those of its rows that the local
  /// ones are nearest to.
  void spread(unsigned dim, DimAttr dealt, int64_t length, int64_t size,
              llvm::function_ref<Value(Value, Value)> take) {
    Value positions = positionsOf(builder, loc, dealt);
    auto lineType = cast<RankedTensorType>(positions.getType());
    auto number = [&](int64_t value) {
      return splat(builder, loc, lineType, builder.getI32IntegerAttr(value));
    };
    // A start is clamped so that the update lies inside.
    Value start = stablehlo::ConvertOp::create(
        builder, loc, RankedTensorType::get({}, builder.getI32Type()),
        starts[dim]);
    start = stablehlo::BroadcastInDimOp::create(builder, loc, lineType, start,
                                                ArrayRef<int64_t>());
    start = stablehlo::ClampOp::create(builder, loc, lineType, number(0), start,
                                       number(length - size));
    Value row =
        stablehlo::SubtractOp::create(builder, loc, lineType, positions, start);
    Value nearest = stablehlo::ClampOp::create(
        builder, loc, lineType, number(0), row, number(size - 1));
    addMask(stablehlo::CompareOp::create(builder, loc, row, nearest,
                                         stablehlo::ComparisonDirection::EQ),
            dim);
    update = take(update, nearest);
    Value zero = starts[dim];
    starts[dim] =
        splat(builder, loc, cast<RankedTensorType>(zero.getType()),
              builder.getIntegerAttr(getElementTypeOrSelf(zero.getType()), 0));
  }

  Value finish() {
    auto type = cast<RankedTensorType>(update.getType());
    bool isWhole = type == operand.getType();
    Value old = operand;
    if (!isWhole)
      old = stablehlo::DynamicSliceOp::create(builder, loc, type, operand,
                                              starts, type.getShape());
    Value mask;
    for (auto [inside, dim] : masks) {
      Value wide = stablehlo::BroadcastInDimOp::create(
          builder, loc, type.clone(builder.getI1Type()), inside,
          ArrayRef<int64_t>{static_cast<int64_t>(dim)});
      mask = mask ? stablehlo::AndOp::create(builder, loc, wide.getType(), mask,
                                             wide)
                        .getResult()
                  : wide;
    }
    Value chosen =
        stablehlo::SelectOp::create(builder, loc, type, mask, update, old);
    if (isWhole)
      return chosen;
    return stablehlo::DynamicUpdateSliceOp::create(
        builder, loc, operand.getType(), operand, chosen, starts);
  }

private:
  void addMask(Value inside, unsigned dim) { masks.push_back({inside, dim}); }

  OpBuilder &builder;
  Location loc;
  Value operand, update;
  SmallVector<Value> starts;
  SmallVector<std::pair<Value, unsigned>> masks;
};

} // namespace

/// Null where no dealt dimension is updated in part.
Value Localizer::emitUpdateSlice(stablehlo::DynamicUpdateSliceOp op,
                                 ArrayRef<DimAttr> dims) {
  SmallVector<DimAttr> updateDims = wholeDims(op.getUpdate());
  SmallVector<unsigned> partial;
  DenseMap<unsigned, int64_t> constants;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    bool isWhole = typeOf(op.getUpdate()).getDimSize(index) ==
                   typeOf(op.getOperand()).getDimSize(index);
    if (isWhole)
      updateDims[index] = dim;
    if (isWhole || !isDealt(dim))
      continue;
    partial.push_back(index);
    // Rows that ranks share go to where they are known to be written.
    DimAttr own = lookup(op.getUpdate()).dims[index];
    std::optional<int64_t> start = evaluateScalar(op.getStartIndices()[index]);
    if (start && isDealt(own) && canRedeal(own, dim)) {
      updateDims[index] = own;
      constants[index] =
          std::clamp<int64_t>(*start, 0, lengthOf(dim) - lengthOf(own));
    }
  }
  if (partial.empty() ||
      cast<RankedTensorType>(op.getUpdate().getType()).getNumElements() == 0)
    return Value();
  SmallVector<Value> starts;
  for (Value start : op.getStartIndices())
    starts.push_back(require(start, {}, op));
  UpdateSliceEmitter emitter(builder, op.getLoc(),
                             require(op.getOperand(), dims, op),
                             require(op.getUpdate(), updateDims, op), starts);
  for (unsigned index : partial)
    emitter.spread(
        index, dims[index], typeOf(op.getOperand()).getDimSize(index),
        typeOf(op.getUpdate()).getDimSize(index),
        [&](Value update, Value nearest) {
          auto start = constants.find(index);
          if (start == constants.end())
            return takeIndices(builder, op.getLoc(), update, index, nearest);
          remarkMoved(op,
                      movedBytes(update, index, updateDims[index], dims[index],
                                 -start->second),
                      index);
          return moveRows(builder, op.getLoc(), update, index,
                          updateDims[index], dims[index], -start->second);
        });
  return emitter.finish();
}
