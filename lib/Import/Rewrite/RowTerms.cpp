//===- RowTerms.cpp - Values of rows, and what sinks give them ------------===//

#include "Rewrite/RowTerms.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

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
