//===- AttentionState.cpp - What a softmax state starts and ends with -----===//

#include "Attention/AttentionState.h"

#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

/// Gradients of scores are weights times what their products with values get,
/// less delta: where lse has a cotangent, more by that. The model sums p * dp
/// over keys: where do is infinite that is NaN, or it is infinite as all dp,
/// and dp - delta is NaN.
Value mlir::sp::deltaOf(OpBuilder &builder, Location loc, Value output,
                        Value cotangent, Value ofLse, Type element) {
  RankedTensorType type = typeOf(cotangent).clone(element);
  Value left = convertType(builder, loc, cotangent, type),
        right = convertType(builder, loc, output, type);
  Value product = stablehlo::MulOp::create(builder, loc, left, right);
  Value zero = splat(builder, loc, type, builder.getZeroAttr(element));
  product = stablehlo::AddOp::create(
      builder, loc, product,
      stablehlo::MulOp::create(builder, loc, left, zero));
  Value delta = sumDim(builder, loc, product, 3);
  if (!ofLse)
    return delta;
  return stablehlo::SubtractOp::create(builder, loc, delta, ofLse);
}

std::pair<RankedTensorType, RankedTensorType>
AttentionState::types(Value query) {
  auto type = cast<RankedTensorType>(query.getType());
  Type element = type.getElementType().isF64() ? builder.getF64Type()
                                               : Type(builder.getF32Type());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  SmallVector<int64_t> lseShape(shape);
  if (keepsSums)
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
  if (!keepsSums)
    return {output, broadcast(lseType)};
  if (!op.getScore())
    own = stablehlo::MulOp::create(
        builder, loc, own,
        splat(builder, loc, cast<RankedTensorType>(own.getType()),
              builder.getFloatAttr(element, llvm::numbers::log2e)));
  SmallVector<int64_t> shape(lseType.getShape());
  shape.back() = 1;
  auto half = RankedTensorType::get(shape, element);
  return {output, stablehlo::ConcatenateOp::create(
                      builder, loc, lseType,
                      ValueRange{broadcast(half), sinkCount(half)}, 3)};
}

Value AttentionState::sinkCount(RankedTensorType type) {
  Value one =
      splat(builder, loc, type, builder.getFloatAttr(type.getElementType(), 1));
  if (!isMerged())
    return one;
  auto ranks =
      LayoutAttr::get(builder.getContext(), LayoutKind::Contiguous,
                      plan.getRanks(), plan.getAxis(), plan.getRanks());
  Value rank = positionsOf(builder, loc, dealtDim(ranks));
  auto rankType = cast<RankedTensorType>(rank.getType());
  Value isFirst = stablehlo::CompareOp::create(
      builder, loc, rank,
      splat(builder, loc, rankType, builder.getI32IntegerAttr(0)),
      stablehlo::ComparisonDirection::EQ);
  isFirst = stablehlo::BroadcastInDimOp::create(
      builder, loc, RankedTensorType::get(type.getShape(), builder.getI1Type()),
      isFirst, ArrayRef<int64_t>{3});
  Value none =
      splat(builder, loc, type, builder.getZeroAttr(type.getElementType()));
  return stablehlo::SelectOp::create(builder, loc, isFirst, one, none);
}

/// Whether `bands` leave rows without a key.
static bool bandsHideRows(AttentionOp op) {
  int64_t queries = op.getQuery().getType().getDimSize(1),
          keys = op.getKey().getType().getDimSize(1);
  return !toAlgebra(op.getBands()).emptyRows(queries, keys).empty();
}

bool AttentionState::readsSums() {
  return op.getLse() || op.getEmpty() != Empty::Nan || bandsHideRows(op);
}

/// Whether a row's sum of powers may be 0 where the result does not know.
bool AttentionState::hasEmptyRows() {
  if (op.getScore() && !keepsSums)
    return false;
  return !sink && (op.getScore() || bandsHideRows(op));
}

/// What a row gives that saw no key, as a value of the state's type; null
/// where every row sees one, or gives 0.
Value AttentionState::emptyRow(RankedTensorType type, const HeadRange &heads) {
  if (!hasEmptyRows() || op.getEmpty() == Empty::Zero)
    return Value();
  if (op.getEmpty() == Empty::Nan)
    return nan(type);
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

Value AttentionState::numberOf(Value sums, int64_t index) {
  auto type = cast<RankedTensorType>(sums.getType());
  SmallVector<int64_t> start(4, 0), limit(type.getShape()), stride(4, 1);
  start.back() = index;
  limit.back() = index + 1;
  SmallVector<int64_t> shape(limit);
  shape.back() = 1;
  Value part = stablehlo::SliceOp::create(builder, loc, type.clone(shape), sums,
                                          start, limit, stride);
  shape.pop_back();
  return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), part);
}

Value AttentionState::joinSums(Value greatest, Value sum) {
  auto type = cast<RankedTensorType>(sum.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  auto apart = [&](Value value) -> Value {
    return stablehlo::ReshapeOp::create(builder, loc, type.clone(shape), value);
  };
  SmallVector<Value> both = {apart(greatest), apart(sum)};
  shape.back() = 2;
  return stablehlo::ConcatenateOp::create(builder, loc, type.clone(shape), both,
                                          3);
}

Value AttentionState::power(Value exponent) {
  auto type = cast<RankedTensorType>(exponent.getType());
  if (!op.getScore())
    exponent = stablehlo::MulOp::create(
        builder, loc, exponent,
        splat(builder, loc, type,
              builder.getFloatAttr(type.getElementType(), llvm::numbers::ln2)));
  return stablehlo::ExpOp::create(builder, loc, exponent);
}

/// Parts are brought to the greatest exponent of any rank and added up. One
/// that has it counts as it is, so that rows of -inf everywhere stay what they
/// are.
SoftmaxState AttentionState::merge(SoftmaxState state,
                                   const AttentionMoves &moves,
                                   LayoutAttr rows) {
  Value own = greatest(state.lse),
        all = moves.reduce(own, Reduction::Max).front();
  auto type = cast<RankedTensorType>(own.getType());
  Value one =
      splat(builder, loc, type, builder.getOneAttr(type.getElementType()));
  Value below = stablehlo::SubtractOp::create(builder, loc, own, all);
  Value isGreatest = stablehlo::CompareOp::create(
      builder, loc, own, all, stablehlo::ComparisonDirection::EQ);
  Value weight =
      stablehlo::SelectOp::create(builder, loc, isGreatest, one, power(below));
  auto outputType = cast<RankedTensorType>(state.output.getType());
  Value ofOutput = stablehlo::BroadcastInDimOp::create(
      builder, loc, outputType, weight, ArrayRef<int64_t>{0, 1, 2});
  SmallVector<Value> parts = {
      stablehlo::MulOp::create(builder, loc, state.output, ofOutput),
      stablehlo::MulOp::create(builder, loc, sum(state.lse), weight)};
  parts = moves.sumRows(parts, rows);
  if (!rows.isDense())
    all = takeDim(builder, loc, all, 1, dealtDim(rows));
  return {parts[0], joinSums(all, parts[1])};
}

Value AttentionState::nan(RankedTensorType type) {
  return splat(builder, loc, type,
               builder.getFloatAttr(type.getElementType(),
                                    std::numeric_limits<double>::quiet_NaN()));
}

Value AttentionState::isEqual(Value value, double number) {
  auto type = cast<RankedTensorType>(value.getType());
  Value other = splat(builder, loc, type,
                      builder.getFloatAttr(type.getElementType(), number));
  return stablehlo::CompareOp::create(builder, loc, value, other,
                                      stablehlo::ComparisonDirection::EQ);
}

/// Rows of -inf, in `greatest` or in lse. Without a score function those who
/// saw only scores of -inf differ: they have the lowest number and no sum, of
/// which the division makes NaN.
Value AttentionState::sawNothing(Value greatest) {
  return isEqual(greatest, -std::numeric_limits<double>::infinity());
}

/// Rows that saw no key give 0.
Value AttentionState::dividedBySum(SoftmaxState state) {
  auto type = cast<RankedTensorType>(state.output.getType());
  Value divisor = sum(state.lse);
  if (hasEmptyRows()) {
    auto sumType = cast<RankedTensorType>(divisor.getType());
    Value one =
        splat(builder, loc, sumType, builder.getOneAttr(type.getElementType()));
    Value isEmpty =
        op.getScore() ? isEqual(divisor, 0) : sawNothing(greatest(state.lse));
    divisor = stablehlo::SelectOp::create(builder, loc, isEmpty, one, divisor);
  }
  divisor = stablehlo::BroadcastInDimOp::create(builder, loc, type, divisor,
                                                ArrayRef<int64_t>{0, 1, 2});
  return stablehlo::DivOp::create(builder, loc, state.output, divisor);
}

/// NaN for rows whose visible keys a score function hides by -inf: their powers
/// are NaN in the model, and so are gradients where they are not selected away.
Value AttentionState::notEmpty(Value sums) {
  auto type = cast<RankedTensorType>(sums.getType());
  return stablehlo::SelectOp::create(builder, loc, sawNothing(sums), nan(type),
                                     sums);
}

/// Of the sum of exponentials: `sums` without a score function have exponents
/// in base 2. NaN where scores of -inf are all that a row saw.
Value AttentionState::logarithm(Value sums) {
  Value greatest = this->greatest(sums), sum = this->sum(sums);
  auto type = cast<RankedTensorType>(sum.getType());
  Value empty = hasEmptyRows() ? sawNothing(greatest) : Value();
  Value none = greatest;
  sum = stablehlo::SelectOp::create(builder, loc, isEqual(sum, 0), nan(type),
                                    sum);
  Value ln2 =
      splat(builder, loc, type,
            builder.getFloatAttr(type.getElementType(), llvm::numbers::ln2));
  greatest = stablehlo::MulOp::create(builder, loc, greatest, ln2);
  Value log = stablehlo::LogOp::create(builder, loc, sum);
  Value lse = stablehlo::AddOp::create(builder, loc, greatest, log);
  return empty ? stablehlo::SelectOp::create(builder, loc, empty, none, lse)
                     .getResult()
               : lse;
}

SoftmaxState AttentionState::finalize(SoftmaxState state,
                                      const HeadRange &heads) {
  Value output = keepsSums ? dividedBySum(state) : state.output;
  auto type = cast<RankedTensorType>(output.getType());
  if (Value instead = emptyRow(type, heads)) {
    // A row that saw no key has -inf, which only then equals the fill.
    Value lse = keepsSums ? greatest(state.lse) : state.lse;
    Value empty = sawNothing(lse);
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
  if (!op.getLse())
    return {output, state.lse};
  if (op.getScore())
    return {output,
            op.getEmpty() == Empty::Nan ? notEmpty(state.lse) : state.lse};
  return {output, keepsSums ? logarithm(state.lse) : state.lse};
}
