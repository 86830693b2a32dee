//===- AttentionBackwardOps.cpp - Gradients, whole and by blocks ----------===//
//
// The equations stand at the head of SPBackwardOps.td.
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"
#include "ScoredPairs.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::interpreter;
using sp::typeOf;

namespace {
/// What the gradients of queries and keys are made of, and their sums.
struct Gradients {
  Tensor query, key, value, dOutput, lse;
  /// Of each query and head: D, less the cotangent of lse.
  Tensor delta;
  Tensor dQuery, dKey, dValue;
  SmallVector<Tensor> dTerms;
  /// Of each of these: whether it has the rank's rows and heads instead of a
  /// sum over queries, and whether it has keys.
  SmallVector<bool> haveRows, haveKeys;

  void add(const ScoredPairs &pairs, int64_t batch, int64_t head,
           const Pair &pair);
  Tensors take() &&;
};
} // namespace

void Gradients::add(const ScoredPairs &pairs, int64_t batch, int64_t head,
                    const Pair &pair) {
  Place ofQuery{batch, pair.query, head},
      ofKey{batch, pair.key, pairs.kvHead(head)};
  int64_t ofLse = offsetAt(lse, ofQuery);
  double greatest = lse.at<double>(ofLse);
  // A query that saw no key adds nothing.
  if (greatest == -std::numeric_limits<double>::infinity())
    return;
  double sum = pairs.isScored() ? lse.at<double>(ofLse + 1) : 1;
  double power = std::exp(pair.exponent - greatest) / sum;
  int64_t out = offsetAt(dOutput, ofQuery), v = offsetAt(value, ofKey);
  double product = 0;
  for (int64_t i = 0; i < value.getShape()[3]; ++i) {
    product += dOutput.at<double>(out + i) * value.at<double>(v + i);
    dValue.mutableElements<double>()[offsetAt(dValue, ofKey) + i] +=
        power * pair.weight * dOutput.at<double>(out + i);
  }
  double dExponent = power * (pair.weight * product -
                              delta.at<double>(offsetAt(delta, ofQuery)));
  // A selection passes on 0, whatever it is multiplied by.
  double dScore =
      pair.slope == 0 ? 0 : dExponent * pair.slope * pairs.getScale();
  int64_t q = offsetAt(query, ofQuery), k = offsetAt(key, ofKey);
  for (int64_t i = 0; i < query.getShape()[3]; ++i) {
    dQuery.mutableElements<double>()[offsetAt(dQuery, ofQuery) + i] +=
        dScore * key.at<double>(k + i);
    dKey.mutableElements<double>()[offsetAt(dKey, ofKey) + i] +=
        dScore * query.at<double>(q + i);
  }
  for (auto [t, dTerm] : llvm::enumerate(dTerms)) {
    Place place{batch, haveRows[t] ? pair.query : 0,
                haveRows[t] ? head : pairs.headNumber(head),
                haveKeys[t] ? pairs.keyPosition(pair.key) : 0};
    if (pair.derivatives[t] != 0)
      dTerm.mutableElements<double>()[offsetAt(dTerm, place)] +=
          dExponent * pair.derivatives[t];
  }
}

Tensors Gradients::take() && {
  Tensors results{std::move(dQuery), std::move(dKey), std::move(dValue)};
  llvm::append_range(results, dTerms);
  return results;
}

/// Adds what every pair gives.
static FailureOr<Tensors> addAll(Gradients gradients, const ScoredPairs &pairs,
                                 Evaluator &evaluator) {
  for (int64_t b = 0; b < gradients.query.getShape()[0]; ++b)
    for (int64_t h = 0; h < pairs.headCount(); ++h) {
      FailureOr<std::vector<Pair>> scored = pairs.scoresOf(b, h, evaluator);
      if (failed(scored))
        return failure();
      for (const Pair &pair : *scored)
        gradients.add(pairs, b, h, pair);
    }
  Tensors results = std::move(gradients).take();
  for (Tensor &result : results)
    evaluator.rounderFor(result.getElementType()).apply(result);
  return results;
}

template <typename OpT>
static Gradients operandsOf(OpT op, const OperandValues &valueOf) {
  Gradients gradients;
  gradients.query = valueOf(op.getQuery());
  gradients.key = valueOf(op.getKey());
  gradients.value = valueOf(op.getValue());
  gradients.dOutput = valueOf(op.getDOutput());
  gradients.lse = valueOf(op.getLse());
  return gradients;
}

static Tensor zeros(Value value) {
  return Tensor::splat<double>(typeOf(value), 0);
}

static FailureOr<Tensors> attentionBackwardOp(sp::AttentionBackwardOp op,
                                              Tensors &operands,
                                              Evaluator &evaluator) {
  FailureOr<ScoredPairs> pairs = ScoredPairs::of(op, operands);
  if (failed(pairs))
    return failure();
  OperandValues valueOf(op, operands);
  Gradients gradients = operandsOf(op, valueOf);
  Tensor output = valueOf(op.getOutput()), dLse = valueOf(op.getDLse());
  ArrayRef<int64_t> shape = output.getShape();
  gradients.delta = Tensor(RankedTensorType::get(
      shape.drop_back(), Float64Type::get(op.getContext())));
  MutableArrayRef<double> delta = gradients.delta.mutableElements<double>();
  for (auto [row, sum] : llvm::enumerate(delta)) {
    sum = dLse ? -dLse.at<double>(row) : 0;
    for (int64_t i = 0; i < shape.back(); ++i)
      sum += output.at<double>(row * shape.back() + i) *
             gradients.dOutput.at<double>(row * shape.back() + i);
  }
  gradients.dQuery = zeros(op.getDQuery());
  gradients.dKey = zeros(op.getDKey());
  gradients.dValue = zeros(op.getDValue());
  for (Value dTerm : op.getDTerms()) {
    gradients.dTerms.push_back(zeros(dTerm));
    gradients.haveRows.push_back(typeOf(dTerm).getDimSize(1) == shape[1]);
    gradients.haveKeys.push_back(typeOf(dTerm).getDimSize(3) != 1);
  }
  return addAll(std::move(gradients), *pairs, evaluator);
}

/// A gradient to go on with or, where it begins, 0 in `rows` rows of `heads`
/// heads; what lies behind these is padding.
static Tensor begun(Value result, const Tensor &onto, int64_t rows,
                    int64_t heads) {
  if (onto)
    return onto;
  Tensor gradient = unwritten(typeOf(result));
  ArrayRef<int64_t> shape = gradient.getShape();
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t row = 0; row < rows; ++row)
      std::fill_n(gradient.mutableElements<double>().begin() +
                      offsetAt(gradient, {b, row, 0}),
                  heads * shape[3], 0.0);
  return gradient;
}

static FailureOr<Tensors> attendBackwardOp(sp::AttendBackwardOp op,
                                           Tensors &operands,
                                           Evaluator &evaluator) {
  FailureOr<ScoredPairs> pairs =
      ScoredPairs::of(op, operands, evaluator.getDevice());
  if (failed(pairs))
    return failure();
  OperandValues valueOf(op, operands);
  Gradients gradients = operandsOf(op, valueOf);
  gradients.delta = valueOf(op.getDelta());
  gradients.dQuery = begun(op.getDQuery(), valueOf(op.getOntoQuery()),
                           pairs->queryCount(), pairs->headCount());
  gradients.dKey = begun(op.getDKey(), valueOf(op.getOntoKey()),
                         pairs->keyCount(), pairs->kvHeadCount());
  gradients.dValue = begun(op.getDValue(), valueOf(op.getOntoValue()),
                           pairs->keyCount(), pairs->kvHeadCount());
  for (auto [i, dTerm] : llvm::enumerate(op.getDTerms())) {
    bool isContinued = i < op.getOntoTerms().size();
    gradients.dTerms.push_back(isContinued ? valueOf(op.getOntoTerms()[i])
                                           : zeros(dTerm));
    gradients.haveRows.push_back(op.hasRows(dTerm));
    gradients.haveKeys.push_back(typeOf(dTerm).getDimSize(3) != 1);
  }
  return addAll(std::move(gradients), *pairs, evaluator);
}

void interpreter::addAttentionBackwardOps(Handlers &handlers) {
  handlers.add<sp::AttentionBackwardOp>(attentionBackwardOp);
  handlers.add<sp::AttendBackwardOp>(attendBackwardOp);
}
