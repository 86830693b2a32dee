//===- RowTerms.cpp - What rows give beside the pairs they see ------------===//

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
  return stablehlo::ConstantOp::create(
      builder, location,
      DenseElementsAttr::get(scalar,
                             Attribute(builder.getFloatAttr(element, value))));
}

static Value splat(OpBuilder &builder, Location location, RankedTensorType type,
                   double value) {
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

/// One of the numbers of lse [batch, queries, heads, 2].
static Value numberOfSums(OpBuilder &builder, Location location, Value lse,
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

/// [batch, kvHeads, dv] sums over keys made means.
static Value divideByKeys(OpBuilder &builder, Location location, Value sums,
                          int64_t keys) {
  return stablehlo::DivOp::create(
      builder, location, sums,
      splat(builder, location, typeOf(sums), double(keys)));
}

Value mlir::sp::meanOfValues(OpBuilder &builder, Location location,
                             Value values, int64_t heads, Type element) {
  ArrayRef<int64_t> shape = typeOf(values).getShape();
  int64_t kvHeads = shape[2];
  Value mean = sumOver(builder, location,
                       convertTo(builder, location, values, element), 1);
  mean = divideByKeys(builder, location, mean, shape[1]);
  mean = stablehlo::BroadcastInDimOp::create(
      builder, location,
      RankedTensorType::get({shape[0], kvHeads, heads / kvHeads, shape[3]},
                            element),
      mean, ArrayRef<int64_t>{0, 1, 3});
  return stablehlo::ReshapeOp::create(
      builder, location,
      RankedTensorType::get({shape[0], 1, heads, shape[3]}, element), mean);
}

Value mlir::sp::gradientOfMeans(OpBuilder &builder, Location location,
                                Value lse, Value cotangent,
                                ArrayRef<int64_t> shape) {
  Type element = typeOf(lse).getElementType();
  cotangent = convertTo(builder, location, cotangent, element);
  RankedTensorType rows = typeOf(cotangent);
  ArrayRef<int64_t> sizes = rows.getShape();
  auto flat = RankedTensorType::get(sizes.drop_back(), element);
  Value greatest = numberOfSums(builder, location, lse, 0);
  Value isEmpty = stablehlo::CompareOp::create(
      builder, location, greatest,
      splat(builder, location, flat, -std::numeric_limits<double>::infinity()),
      stablehlo::ComparisonDirection::EQ);
  isEmpty = stablehlo::BroadcastInDimOp::create(
      builder, location, rows.clone(builder.getI1Type()), isEmpty,
      ArrayRef<int64_t>{0, 1, 2});
  Value own =
      stablehlo::SelectOp::create(builder, location, rows, isEmpty, cotangent,
                                  splat(builder, location, rows, 0));
  Value sums = sumOver(builder, location, own, 1);
  sums = stablehlo::ReshapeOp::create(
      builder, location,
      RankedTensorType::get({shape[0], shape[2], sizes[2] / shape[2], shape[3]},
                            element),
      sums);
  sums = divideByKeys(builder, location, sumOver(builder, location, sums, 2),
                      shape[1]);
  return stablehlo::BroadcastInDimOp::create(
      builder, location, RankedTensorType::get(shape, element), sums,
      ArrayRef<int64_t>{0, 2, 3});
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
