//===- RowTerms.cpp - Values of rows, and what sinks give them ------------===//

#include "RowTerms.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value number(OpBuilder &builder, Location location, Type element,
                    double value) {
  auto scalar = RankedTensorType::get({}, element);
  Attribute attribute =
      element.isInteger()
          ? Attribute(builder.getIntegerAttr(element, int64_t(value)))
          : builder.getFloatAttr(element, value);
  return stablehlo::ConstantOp::create(
      builder, location, DenseElementsAttr::get(scalar, attribute));
}

Value mlir::sp::splat(OpBuilder &builder, Location location,
                      RankedTensorType type, double value) {
  return stablehlo::BroadcastInDimOp::create(
      builder, location, type,
      number(builder, location, type.getElementType(), value),
      ArrayRef<int64_t>{});
}

Value mlir::sp::convertTo(OpBuilder &builder, Location location, Value value,
                          Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return stablehlo::ConvertOp::create(builder, location, type.clone(element),
                                      value);
}

Value mlir::sp::sumOver(OpBuilder &builder, Location location, Value value,
                        ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  for (int64_t dim : llvm::reverse(dims))
    shape.erase(shape.begin() + dim);
  Type element = typeOf(value).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  auto reduce = stablehlo::ReduceOp::create(
      builder, location, RankedTensorType::get(shape, element), value,
      number(builder, location, element, 0),
      builder.getDenseI64ArrayAttr(dims));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar},
                                    {location, location});
  Value sum = stablehlo::AddOp::create(builder, location, body->getArgument(0),
                                       body->getArgument(1));
  stablehlo::ReturnOp::create(builder, location, sum);
  return reduce.getResult(0);
}

Value mlir::sp::numberOfSums(OpBuilder &builder, Location location, Value lse,
                             int64_t which) {
  SmallVector<int64_t> start(4, 0), limit(typeOf(lse).getShape()), stride(4, 1);
  start[3] = which;
  limit[3] = which + 1;
  ArrayRef<int64_t> rows = typeOf(lse).getShape().drop_back();
  SmallVector<int64_t> shape(rows);
  shape.push_back(1);
  Value number = stablehlo::SliceOp::create(
      builder, location, typeOf(lse).clone(shape), lse, start, limit, stride);
  return stablehlo::ReshapeOp::create(builder, location,
                                      typeOf(lse).clone(rows), number);
}

Value mlir::sp::gradientOfSinks(OpBuilder &builder, Location location,
                                AttentionOp attention, Value cotangent) {
  Value lse = attention.getLse();
  Type element = typeOf(lse).getElementType();
  bool isPair = typeOf(lse).getRank() == 4;
  Value shift = isPair ? numberOfSums(builder, location, lse, 0) : lse;
  RankedTensorType rows = typeOf(shift);
  Value power = stablehlo::BroadcastInDimOp::create(
      builder, location, rows,
      convertTo(builder, location, attention.getSink(), element),
      ArrayRef<int64_t>{2});
  power = stablehlo::SubtractOp::create(builder, location, rows, power, shift);
  power = stablehlo::ExpOp::create(builder, location, rows, power);
  if (isPair)
    power = stablehlo::DivOp::create(builder, location, rows, power,
                                     numberOfSums(builder, location, lse, 1));
  Value products = stablehlo::MulOp::create(
      builder, location,
      convertTo(builder, location, attention.getResult(), element),
      convertTo(builder, location, cotangent, element));
  Value sums = sumOver(builder, location, products, 3);
  Value gradient = stablehlo::MulOp::create(builder, location, power, sums);
  return stablehlo::NegOp::create(builder, location, gradient);
}
