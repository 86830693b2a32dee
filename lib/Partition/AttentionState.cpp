//===- AttentionState.cpp - What a softmax state starts and ends with -----===//

#include "AttentionState.h"

using namespace mlir;
using namespace mlir::sp;

std::pair<RankedTensorType, RankedTensorType>
AttentionState::types(Value query) {
  auto type = cast<RankedTensorType>(query.getType());
  Type element = type.getElementType().isF64() ? builder.getF64Type()
                                               : Type(builder.getF32Type());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  SmallVector<int64_t> lseShape(shape);
  if (op.getScore())
    lseShape.push_back(2);
  shape.push_back(op.getValue().getType().getDimSize(3));
  return {RankedTensorType::get(shape, element),
          RankedTensorType::get(lseShape, element)};
}

Value AttentionState::takeHeads(Value whole, unsigned index,
                                const HeadRange &heads) {
  Value group = sliceDim(builder, loc, whole, index, heads.first, heads.count);
  return heads.dealt
             ? takeDim(builder, loc, group, index, dealtDim(heads.dealt))
             : group;
}

SoftmaxState AttentionState::begin(Value query, const HeadRange &heads) {
  if (!sink)
    return {};
  auto [outputType, lseType] = types(query);
  Value own = takeHeads(sink, 0, heads);
  auto type = cast<RankedTensorType>(own.getType());
  if (type.getElementType() != lseType.getElementType())
    own = stablehlo::ConvertOp::create(
        builder, loc, type.clone(lseType.getElementType()), own);
  Type element = lseType.getElementType();
  Value output = splat(builder, loc, outputType, builder.getZeroAttr(element));
  auto broadcast = [&](RankedTensorType to) -> Value {
    return stablehlo::BroadcastInDimOp::create(builder, loc, to, own,
                                               ArrayRef<int64_t>{2});
  };
  if (!op.getScore())
    return {output, broadcast(lseType)};
  SmallVector<int64_t> shape(lseType.getShape());
  shape.back() = 1;
  auto half = RankedTensorType::get(shape, element);
  Value one = splat(builder, loc, half, builder.getFloatAttr(element, 1));
  return {output,
          stablehlo::ConcatenateOp::create(
              builder, loc, lseType, ValueRange{broadcast(half), one}, 3)};
}

/// What a row gives that saw no key, as a value of the state's type; null
/// where every row sees one, or gives 0.
Value AttentionState::emptyRow(RankedTensorType type, const HeadRange &heads) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape();
  int64_t keys = op.getKey().getType().getDimSize(1);
  bool mayBeEmpty =
      !sink && (op.getScore() ||
                !toAlgebra(op.getBands()).emptyRows(q[1], keys).empty());
  if (!mayBeEmpty || op.getEmpty() == Empty::Zero)
    return Value();
  if (op.getEmpty() == Empty::Nan) {
    auto element = cast<FloatType>(type.getElementType());
    return splat(
        builder, loc, type,
        FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics())));
  }
  if (!mean)
    return Value();
  Value own = takeHeads(mean, 2, heads);
  auto from = cast<RankedTensorType>(own.getType());
  if (from.getElementType() != type.getElementType())
    own = stablehlo::ConvertOp::create(builder, loc,
                                       from.clone(type.getElementType()), own);
  return stablehlo::BroadcastInDimOp::create(builder, loc, type, own,
                                             ArrayRef<int64_t>{0, 1, 2, 3});
}

Value AttentionState::finalize(SoftmaxState state, const HeadRange &heads) {
  Value output = state.output;
  auto type = cast<RankedTensorType>(output.getType());
  if (Value instead = emptyRow(type, heads)) {
    // A row that saw no key has lse = -inf, which only then equals the fill.
    Value lse = state.lse;
    auto lseType = cast<RankedTensorType>(lse.getType());
    if (op.getScore()) {
      SmallVector<int64_t> start(4, 0), limit(lseType.getShape()), stride(4, 1);
      limit.back() = 1;
      lse = stablehlo::SliceOp::create(builder, loc, lseType.clone(limit), lse,
                                       start, limit, stride);
      limit.pop_back();
      lseType = lseType.clone(limit);
      lse = stablehlo::ReshapeOp::create(builder, loc, lseType, lse);
    }
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type.getElementType()).getFloatSemantics();
    Value infinity = splat(builder, loc, lseType,
                           FloatAttr::get(type.getElementType(),
                                          APFloat::getInf(semantics, true)));
    Value empty = stablehlo::CompareOp::create(
        builder, loc, lse, infinity, stablehlo::ComparisonDirection::EQ);
    Value mask = stablehlo::BroadcastInDimOp::create(
        builder, loc,
        RankedTensorType::get(type.getShape(), builder.getI1Type()), empty,
        ArrayRef<int64_t>{0, 1, 2});
    output = stablehlo::SelectOp::create(builder, loc, mask, instead, output);
  }
  Type element = op.getResult().getType().getElementType();
  if (element != type.getElementType())
    output =
        stablehlo::ConvertOp::create(builder, loc, type.clone(element), output);
  return output;
}
