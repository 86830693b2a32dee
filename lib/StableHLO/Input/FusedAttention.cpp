//===- FusedAttention.cpp - cuDNN's attention in StableHLO ----------------===//
//
//   %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %k, %v) {...}
//
// with q [B,T,N,H], k [B,S,K,H] and v [B,S,K,D] becomes, in f32 and over the
// N/K times repeated heads of k and v,
//
//   s   = scale q k^T + bias, -inf where the mask hides the key     [B,N,T,S]
//   m   = max(lowest f32, max s),  e = exp(s - m),  l = sum e       [B,N,T]
//   o   = convert(e / max(1, l)) v                                  [B,N,T,D]
//   lse = m + log l                                                 [B,N,T]
//
// A row that sees a key has l >= 1, for its largest score adds exp 0; one that
// sees none has e = l = 0, hence o = 0 and lse = -inf, as cuDNN gives.
//
//===----------------------------------------------------------------------===//

#include "Input/FusedAttention.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// Writes the operations of one attention.
class Expansion {
public:
  Expansion(ImplicitLocOpBuilder &b, FusedAttention &attention)
      : b(b), a(attention), scoreShape({a.batch, a.heads, a.queries, a.keys}) {}

  void run();

private:
  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

  Value constant(TypedAttr value) {
    return ConstantOp::create(
        b, DenseElementsAttr::get(tensor({}, value.getType()), value));
  }
  Value broadcast(Value value, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dims) {
    return BroadcastInDimOp::create(b, tensor(shape, elementOf(value)), value,
                                    dims);
  }
  Value splat(TypedAttr value, ArrayRef<int64_t> shape) {
    return broadcast(constant(value), shape, {});
  }
  Value convert(Value value, Type element) {
    if (elementOf(value) == element)
      return value;
    return ConvertOp::create(b, tensor(shapeOf(value), element), value);
  }
  Value iota(ArrayRef<int64_t> shape, int64_t dim) {
    return IotaOp::create(b, tensor(shape, b.getI32Type()), dim);
  }
  Value compare(ComparisonDirection direction, Value lhs, Value rhs) {
    return CompareOp::create(b, lhs, rhs, direction, ComparisonType::SIGNED);
  }
  template <typename OpT> Value binary(Value lhs, Value rhs) {
    return OpT::create(b, lhs.getType(), lhs, rhs);
  }
  template <typename OpT> Value unary(Value operand) {
    return OpT::create(b, operand.getType(), operand);
  }

  Value dot(Value lhs, Value rhs, int64_t lhsHead, int64_t rhsHead,
            int64_t rhsContracting, ArrayRef<int64_t> shape);
  template <typename OpT> Value reduceKeys(Value scores, float init);
  Value repeatHeads(Value value);
  void restrict(Value &visible, Value mask, ArrayRef<int64_t> dims);
  Value makeVisible();
  Value makeScores();

  ImplicitLocOpBuilder &b;
  FusedAttention &a;
  SmallVector<int64_t> scoreShape;
};
} // namespace

/// Contracts dimension 3 of the left operand, head by head, in f32.
Value Expansion::dot(Value lhs, Value rhs, int64_t lhsHead, int64_t rhsHead,
                     int64_t rhsContracting, ArrayRef<int64_t> shape) {
  auto numbers = DotDimensionNumbersAttr::get(
      b.getContext(), {0, lhsHead}, {0, rhsHead}, {3}, {rhsContracting});
  return DotGeneralOp::create(b, tensor(shape, b.getF32Type()), lhs, rhs,
                              numbers, ArrayAttr(), DotAlgorithmAttr());
}

/// [B,N,T,S] to [B,N,T].
template <typename OpT> Value Expansion::reduceKeys(Value scores, float init) {
  Value start = constant(b.getF32FloatAttr(init));
  auto reduce = ReduceOp::create(
      b, tensor(ArrayRef(scoreShape).drop_back(), b.getF32Type()), scores,
      start, b.getDenseI64ArrayAttr(3));
  OpBuilder::InsertionGuard guard(b);
  Type scalar = start.getType();
  Block *body = b.createBlock(&reduce.getBody(), {}, {scalar, scalar},
                              {b.getLoc(), b.getLoc()});
  ReturnOp::create(b, binary<OpT>(body->getArgument(0), body->getArgument(1)));
  return reduce.getResult(0);
}

/// Head h of the result is kv head h K / N.
Value Expansion::repeatHeads(Value value) {
  if (a.heads == a.kvHeads)
    return value;
  int64_t headDim = a.headsFirst ? 1 : 2;
  SmallVector<int64_t> shape(shapeOf(value));
  shape.insert(shape.begin() + headDim + 1, a.heads / a.kvHeads);
  SmallVector<int64_t> dims = {0, 1, 2, 3, 4};
  dims.erase(dims.begin() + headDim + 1);
  Value grouped = broadcast(value, shape, dims);
  shape.erase(shape.begin() + headDim);
  shape[headDim] = a.heads;
  return ReshapeOp::create(b, tensor(shape, elementOf(value)), grouped);
}

/// Leaves what the mask shows, whose dimensions are `dims` of the scores.
void Expansion::restrict(Value &visible, Value mask, ArrayRef<int64_t> dims) {
  mask = broadcast(mask, scoreShape, dims);
  visible = visible ? binary<AndOp>(visible, mask) : mask;
}

/// [B,N,T,S], or null if every query sees every key.
Value Expansion::makeVisible() {
  Value visible;
  int64_t pairs[] = {a.queries, a.keys};
  if (a.isCausal)
    restrict(visible,
             compare(ComparisonDirection::GE, iota(pairs, 0), iota(pairs, 1)),
             {2, 3});
  if (a.window > 0 && a.window < a.queries) {
    Value size = splat(b.getI32IntegerAttr(int32_t(a.window)), pairs);
    Value hidden = binary<SubtractOp>(iota(pairs, 0), size);
    restrict(visible, compare(ComparisonDirection::GT, iota(pairs, 1), hidden),
             {2, 3});
  }
  auto restrictTo = [&](Value lengths, int64_t dim) {
    int64_t shape[] = {a.batch, scoreShape[dim]};
    Value inside = compare(ComparisonDirection::LT, iota(shape, 1),
                           broadcast(lengths, shape, {0}));
    restrict(visible, inside, {0, dim});
  };
  if (a.queryLengths) {
    restrictTo(a.queryLengths, 2);
    restrictTo(a.keyLengths, 3);
  }
  return visible;
}

Value Expansion::makeScores() {
  int64_t headDim = a.headsFirst ? 1 : 2;
  Value scores =
      dot(a.query, repeatHeads(a.key), headDim, headDim, 3, scoreShape);
  scores = binary<MulOp>(scores, splat(b.getF32FloatAttr(a.scale), scoreShape));
  if (a.bias) {
    Value bias = convert(a.bias, b.getF32Type());
    scores = binary<AddOp>(scores, broadcast(bias, scoreShape, {0, 1, 2, 3}));
  }
  Value visible = makeVisible();
  if (!visible)
    return scores;
  float infinity = std::numeric_limits<float>::infinity();
  return SelectOp::create(b, scores.getType(), visible, scores,
                          splat(b.getF32FloatAttr(-infinity), scoreShape));
}

void Expansion::run() {
  Value scores = makeScores();
  ArrayRef<int64_t> rows = ArrayRef(scoreShape).drop_back();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  Value largest = reduceKeys<MaxOp>(scores, -kInfinity);
  largest = binary<MaxOp>(largest, splat(b.getF32FloatAttr(kLowest), rows));
  Value exponentials = unary<ExpOp>(
      binary<SubtractOp>(scores, broadcast(largest, scoreShape, {0, 1, 2})));
  Value sum = reduceKeys<AddOp>(exponentials, 0);
  Value divisor = binary<MaxOp>(sum, splat(b.getF32FloatAttr(1), rows));
  Value weights =
      binary<DivOp>(exponentials, broadcast(divisor, scoreShape, {0, 1, 2}));
  Value value = repeatHeads(a.value);
  Type element = elementOf(value);
  Value output = dot(convert(weights, element), value, 1, a.headsFirst ? 1 : 2,
                     a.headsFirst ? 2 : 1, shapeOf(a.output));
  a.output.replaceAllUsesWith(convert(output, element));
  if (a.lse && !a.lse.use_empty())
    a.lse.replaceAllUsesWith(binary<AddOp>(largest, unary<LogOp>(sum)));
  if (!a.workspace.use_empty()) {
    Type byte = elementOf(a.workspace);
    a.workspace.replaceAllUsesWith(
        splat(b.getIntegerAttr(byte, 0), shapeOf(a.workspace)));
  }
}

LogicalResult stablehlo::expandFusedAttention(CustomCallOp call) {
  FailureOr<FusedAttention> attention = readFusedAttention(call);
  if (failed(attention))
    return failure();
  ImplicitLocOpBuilder builder(call.getLoc(), call);
  Expansion(builder, *attention).run();
  return success();
}
