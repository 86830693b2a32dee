//===- LocalizePicks.cpp - Rows that indices pick -------------------------===//
//
//   before   %y = gather %table[%i]         table: [V by "tp", D]
//   after    %j = %i - first of the rank's
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
  return layout && layout.getKind() == LayoutKind::Contiguous &&
         layout.getSplit() == 1 && layout.getBlocks() == 1 &&
         layout.getTurns() == 1 && layout.getWithin() == 0;
}

namespace {

/// The components of one index, and in which dimension they are.
struct IndexForm {
  ArrayRef<int64_t> dims;
  int64_t vectorDim;
  bool clamps;
};

IndexForm formOf(Operation *op) {
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op)) {
    auto dims = gather.getDimensionNumbers();
    return {dims.getStartIndexMap(), dims.getIndexVectorDim(), true};
  }
  auto dims = cast<stablehlo::ScatterOp>(op).getScatterDimensionNumbers();
  return {dims.getScatterDimsToOperandDims(), dims.getIndexVectorDim(), false};
}

/// Signed numbers that hold any index.
Value asSigned(OpBuilder &builder, Location loc, Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  auto element = cast<IntegerType>(type.getElementType());
  bool isWide = element.getWidth() > 32 ||
                (element.getWidth() == 32 && element.isUnsigned());
  Type wanted = isWide ? builder.getI64Type() : builder.getI32Type();
  return convertType(builder, loc, indices, type.clone(wanted));
}

} // namespace

Value mlir::sp::pickOwn(OpBuilder &builder, Operation *op, Value indices,
                        unsigned dim, LayoutAttr layout, Value *isOwn) {
  Location loc = op->getLoc();
  IndexForm form = formOf(op);
  int64_t component = llvm::find(form.dims, dim) - form.dims.begin();
  indices = asSigned(builder, loc, indices);
  auto type = cast<RankedTensorType>(indices.getType());
  bool isOne = form.vectorDim == type.getRank();
  auto numbers = [&](int64_t number) {
    return splat(builder, loc, type,
                 builder.getIntegerAttr(type.getElementType(), number));
  };
  auto spread = [&](Value scalar) -> Value {
    scalar = convertType(builder, loc, scalar,
                         RankedTensorType::get({}, type.getElementType()));
    return stablehlo::BroadcastInDimOp::create(builder, loc, type, scalar,
                                               ArrayRef<int64_t>());
  };
  Value whole = indices;
  if (form.clamps)
    whole = stablehlo::ClampOp::create(builder, loc, type, numbers(0), whole,
                                       numbers(layout.getLength() - 1));
  Value first =
      reshapeTo(builder, loc,
                sliceDim(builder, loc,
                         positionsOf(builder, loc, dealtDim(layout)), 0, 0, 1),
                ArrayRef<int64_t>());
  Value count = RowCountOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI32Type()), layout);
  Value own = stablehlo::SubtractOp::create(builder, loc, whole, spread(first));
  if (!isOne && form.dims.size() > 1) {
    Value numbersOf =
        stablehlo::IotaOp::create(builder, loc, type, uint64_t(form.vectorDim));
    Value isIt = stablehlo::CompareOp::create(
        builder, loc, numbersOf, numbers(component),
        stablehlo::ComparisonDirection::EQ);
    own = stablehlo::SelectOp::create(builder, loc, isIt, own, indices);
  }
  if (!isOwn)
    return own;
  Value there = stablehlo::AndOp::create(
      builder, loc,
      stablehlo::CompareOp::create(builder, loc, own, numbers(0),
                                   stablehlo::ComparisonDirection::GE),
      stablehlo::CompareOp::create(builder, loc, own, spread(count),
                                   stablehlo::ComparisonDirection::LT));
  if (!isOne) {
    there = sliceDim(builder, loc, there, form.vectorDim, component, 1);
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + form.vectorDim);
    there = reshapeTo(builder, loc, there, shape);
  }
  *isOwn = *isOwn ? Value(stablehlo::AndOp::create(builder, loc, *isOwn, there))
                  : there;
  return own;
}

Value mlir::sp::maskForeign(OpBuilder &builder, stablehlo::GatherOp op,
                            Value isOwn) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(op.getDimensionNumbers().getOffsetDims(), dim))
      batch.push_back(dim);
  Value mask = stablehlo::BroadcastInDimOp::create(
      builder, op.getLoc(),
      RankedTensorType::get(type.getShape(), builder.getI1Type()), isOwn,
      batch);
  return stablehlo::SelectOp::create(
      builder, op.getLoc(), mask, op.getResult(),
      neutralSplat(builder, op.getLoc(), type, Reduction::Sum));
}
