//===- EmptyRows.cpp - Rows that see no key -------------------------------===//

#include "Rewrite/EmptyRows.h"
#include "Rewrite/RowTerms.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

static Value reshape(OpBuilder &builder, Location location, Value value,
                     ArrayRef<int64_t> shape) {
  return stablehlo::ReshapeOp::create(builder, location,
                                      typeOf(value).clone(shape), value);
}

static Value broadcast(OpBuilder &builder, Location location, Value value,
                       ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return stablehlo::BroadcastInDimOp::create(
      builder, location, typeOf(value).clone(shape), value, dims);
}

static Value divideBy(OpBuilder &builder, Location location, Value value,
                      double by) {
  return stablehlo::DivOp::create(builder, location, value,
                                  splat(builder, location, typeOf(value), by));
}

static Value multiplyBy(OpBuilder &builder, Location location, Value value,
                        double factor) {
  return stablehlo::MulOp::create(
      builder, location, value,
      splat(builder, location, typeOf(value), factor));
}

/// Means over keys of values [batch, keys, kvHeads, dv]: [batch, kvHeads, dv].
/// Their sum could overflow.
static Value means(OpBuilder &builder, Location location, Value values) {
  Value shares =
      divideBy(builder, location, values, double(typeOf(values).getDimSize(1)));
  return sumOver(builder, location, shares, 1);
}

Value mlir::sp::meanOfValues(OpBuilder &builder, Location location,
                             Value values, int64_t heads, Type element) {
  ArrayRef<int64_t> shape = typeOf(values).getShape();
  Value mean =
      means(builder, location, convertTo(builder, location, values, element));
  mean = broadcast(builder, location, mean,
                   {shape[0], shape[2], heads / shape[2], shape[3]}, {0, 1, 3});
  return reshape(builder, location, mean, {shape[0], 1, heads, shape[3]});
}

EmptyRowGradients::EmptyRowGradients(OpBuilder &builder, Location location,
                                     AttentionOp attention, Value cotangent,
                                     ArrayRef<sprt::algebra::Interval> unseen)
    : builder(builder), location(location),
      isMean(attention.getEmpty() == Empty::Mean),
      query(grouped(attention.getQuery(), attention)),
      key(inSums(attention.getKey(), attention)),
      value(inSums(attention.getValue(), attention)) {
  Value all = grouped(cotangent, attention);
  RankedTensorType rows = typeOf(all);
  ArrayRef<int64_t> shape = rows.getShape();
  isEmpty = attention.getScore()
                ? reshape(builder, location, withoutSums(attention),
                          shape.drop_back())
                : inside(unseen, shape.drop_back());
  Value own = broadcast(builder, location, isEmpty, shape, {0, 1, 2, 3});
  this->cotangent = stablehlo::SelectOp::create(
      builder, location, rows, own, all, splat(builder, location, rows, 0));
}

/// Where the sum of powers is 0, [batch, queries, heads].
Value EmptyRowGradients::withoutSums(AttentionOp attention) {
  Value sum = numberOfSums(builder, location, attention.getLse(), 1);
  Value none = splat(builder, location, typeOf(sum), 0);
  return stablehlo::CompareOp::create(builder, location, sum, none,
                                      stablehlo::ComparisonDirection::EQ);
}

/// Where the position in dimension 1 lies in one of the intervals.
Value EmptyRowGradients::inside(ArrayRef<sprt::algebra::Interval> rows,
                                ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  Value position = stablehlo::IotaOp::create(builder, location, type, 1);
  auto compare = [&](int64_t bound, stablehlo::ComparisonDirection direction) {
    Value limit = splat(builder, location, type, bound);
    return stablehlo::CompareOp::create(builder, location, position, limit,
                                        direction);
  };
  Value any;
  for (sprt::algebra::Interval interval : rows) {
    Value in = stablehlo::AndOp::create(
        builder, location,
        compare(interval.begin, stablehlo::ComparisonDirection::GE),
        compare(interval.end, stablehlo::ComparisonDirection::LT));
    any = any ? stablehlo::OrOp::create(builder, location, any, in) : in;
  }
  return any;
}

Value EmptyRowGradients::inSums(Value operand, AttentionOp attention) {
  return convertTo(builder, location, operand,
                   typeOf(attention.getLse()).getElementType());
}

/// [batch, queries, heads, d] as [batch, queries, kvHeads, heads of each, d].
Value EmptyRowGradients::grouped(Value ofQueries, AttentionOp attention) {
  SmallVector<int64_t> shape(typeOf(ofQueries).getShape());
  int64_t kvHeads = attention.getKey().getType().getDimSize(2);
  int64_t group = shape[2] / kvHeads;
  shape[2] = kvHeads;
  shape.insert(shape.begin() + 3, group);
  return reshape(builder, location, inSums(ofQueries, attention), shape);
}

Value EmptyRowGradients::notNumbers(ArrayRef<int64_t> shape, bool perQuery) {
  ArrayRef<int64_t> own = typeOf(isEmpty).getShape();
  RankedTensorType rows = typeOf(cotangent).clone(own);
  Value marks =
      stablehlo::SelectOp::create(builder, location, rows, isEmpty,
                                  splat(builder, location, rows, std::nan("")),
                                  splat(builder, location, rows, 0));
  SmallVector<int64_t> sums;
  if (!perQuery)
    sums.push_back(1);
  if (shape[2] == own[2])
    sums.push_back(3);
  if (!sums.empty())
    marks = sumOver(builder, location, marks, sums);
  marks = reshape(builder, location, marks,
                  {shape[0], perQuery ? shape[1] : 1, shape[2]});
  return broadcast(builder, location, marks, shape, {0, 1, 2});
}

Value EmptyRowGradients::ofValues() {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  if (!isMean)
    return notNumbers(shape, /*perQuery=*/false);
  Value sums = sumOver(builder, location, cotangent, {1, 3});
  return broadcast(builder, location,
                   divideBy(builder, location, sums, double(shape[1])), shape,
                   {0, 2, 3});
}

/// Values without their mean.
Value EmptyRowGradients::centred() {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  Value mean = broadcast(builder, location, means(builder, location, value),
                         shape, {0, 2, 3});
  return stablehlo::SubtractOp::create(builder, location, value, mean);
}

Value EmptyRowGradients::ofQueries(double slope) {
  ArrayRef<int64_t> rows = typeOf(query).getShape();
  SmallVector<int64_t> whole = {rows[0], rows[1], rows[2] * rows[3], rows[4]};
  if (!isMean)
    return notNumbers(whole, /*perQuery=*/true);
  Value moment = contract(builder, location, centred(), key,
                          {{0, 2}, {0, 2}, {1}, {1}}, elementOf(centred()));
  moment = multiplyBy(builder, location, moment,
                      slope / double(typeOf(key).getDimSize(1)));
  Value gradient = contract(builder, location, cotangent, moment,
                            {{0, 2}, {0, 1}, {4}, {2}}, elementOf(cotangent));
  gradient = transposed(builder, location, gradient, {0, 2, 1, 3, 4});
  return reshape(builder, location, gradient, whole);
}

Value EmptyRowGradients::ofKeys(double slope) {
  ArrayRef<int64_t> keys = typeOf(key).getShape();
  if (!isMean)
    return notNumbers(keys, /*perQuery=*/false);
  Value moment =
      contract(builder, location, cotangent, query,
               {{0, 2}, {0, 2}, {1, 3}, {1, 3}}, elementOf(cotangent));
  moment = multiplyBy(builder, location, moment, slope / double(keys[1]));
  Value gradient = contract(builder, location, centred(), moment,
                            {{0, 2}, {0, 1}, {3}, {2}}, elementOf(centred()));
  return transposed(builder, location, gradient, {0, 2, 1, 3});
}
