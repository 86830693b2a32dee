//===- SoftmaxTerms.cpp - Sums of softmaxes as their terms ----------------===//
//
//   convert(softmax(%s0) - %lambda * softmax(%s1))
//
// has the terms convert(softmax(%s0)) and, negative and with the number
// convert(%lambda), convert(softmax(%s1)).
//
//===----------------------------------------------------------------------===//

#include "Normalize/SplitSums.h"

#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The sum as its terms.
class Terms {
public:
  Terms(ImplicitLocOpBuilder &b, Softmaxes &softmaxes)
      : b(b), softmaxes(softmaxes) {}
  SmallVector<ScaledWeights> of(Value value);

private:
  SmallVector<ScaledWeights> read(Value value);
  SmallVector<ScaledWeights> ofProduct(Operation *op);
  SmallVector<ScaledWeights> ofLayout(Operation *op);

  ImplicitLocOpBuilder &b;
  Softmaxes &softmaxes;
  llvm::DenseMap<Value, SmallVector<ScaledWeights>> known;
};

} // namespace

/// A sum with more is a term by itself: they may double with every step.
static constexpr size_t maxTerms = 64;

SmallVector<ScaledWeights> Terms::of(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  SmallVector<ScaledWeights> terms = read(value);
  if (terms.size() > maxTerms)
    terms = {ScaledWeights{value, {}}};
  return known[value] = terms;
}

SmallVector<ScaledWeights> Terms::read(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa<FloatType>(getElementTypeOrSelf(value)) || !softmaxes.keys(value))
    return {ScaledWeights{value, {}}};
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op) &&
      softmaxes.keys(op->getOperand(0)) && softmaxes.keys(op->getOperand(1))) {
    SmallVector<ScaledWeights> terms = of(op->getOperand(0));
    for (ScaledWeights &term : of(op->getOperand(1))) {
      term.isNegative ^= isa<stablehlo::SubtractOp>(op);
      terms.push_back(std::move(term));
    }
    return terms;
  }
  if (isa<stablehlo::NegOp>(op)) {
    SmallVector<ScaledWeights> terms = of(op->getOperand(0));
    for (ScaledWeights &term : terms)
      term.isNegative = !term.isNegative;
    return terms;
  }
  if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
    return ofProduct(op);
  if (isLayout(op) || isa<stablehlo::ConvertOp>(op))
    return ofLayout(op);
  return {ScaledWeights{value, {}}};
}

SmallVector<ScaledWeights> Terms::ofProduct(Operation *op) {
  bool divides = isa<stablehlo::DivOp>(op);
  unsigned pairs = softmaxes.of(op->getOperand(0)).empty() ? 1 : 0;
  if ((divides && pairs == 1) ||
      !softmaxes.of(op->getOperand(1 - pairs)).empty())
    return {ScaledWeights{op->getResult(0), {}}};
  SmallVector<ScaledWeights> terms = of(op->getOperand(pairs));
  for (ScaledWeights &term : terms)
    term.numbers.push_back({op->getOperand(1 - pairs), divides});
  return terms;
}

SmallVector<ScaledWeights> Terms::ofLayout(Operation *op) {
  Value operand = op->getOperand(0);
  SmallVector<ScaledWeights> terms = of(operand);
  bool isWhole = terms.size() == 1 && terms[0].rest == operand;
  if (isWhole || !isa<FloatType>(getElementTypeOrSelf(operand)))
    return {ScaledWeights{op->getResult(0), {}}};
  auto apply = [&](Value &value) {
    Operation *clone = b.clone(*op);
    clone->setOperand(0, value);
    value = clone->getResult(0);
  };
  for (ScaledWeights &term : terms) {
    apply(term.rest);
    // Numbers are multiplied in the wider type: they keep theirs.
    if (!isa<stablehlo::ConvertOp>(op))
      for (ScaledWeights::Number &number : term.numbers)
        apply(number.value);
  }
  return terms;
}

SmallVector<ScaledWeights>
mlir::sp::termsOf(ImplicitLocOpBuilder &b, Softmaxes &softmaxes, Value value) {
  return Terms(b, softmaxes).of(value);
}
