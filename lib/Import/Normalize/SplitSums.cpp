//===- SplitSums.cpp - Products with sums of softmaxes --------------------===//
//
//   dot(softmax(%s0) - %lambda * softmax(%s1), %v)
//
// becomes dot(softmax(%s0), %v) - %lambda * dot(softmax(%s1), %v): attentions
// of their own. Weights that are parts of one softmax stay in one product, of
// the whole with the other factor repeated. Gradients of values are products of
// the sum too; JoinCotangents and SumOverFeatures have
// the others.
//
//===----------------------------------------------------------------------===//

#include "Normalize/SplitSums.h"

#include "sp/Import/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A term of a product: the weights, and what the other factor then is.
struct Term {
  Value weights, other;
  /// What the result is multiplied or divided by, over `dims` of it.
  struct Scale {
    Value value;
    SmallVector<int64_t> dims;
    bool divides;
  };
  SmallVector<Scale> scales;
  bool isNegative = false;
};

/// One product of a sum that is split.
class Splitter {
public:
  Splitter(stablehlo::DotGeneralOp dot, bool isRight,
           const PairProduct &product, SplitProducts &split)
      : split(split), b(dot.getLoc(), dot), dot(dot), isRight(isRight),
        weights(isRight ? product.right : product.left),
        other(isRight ? product.left : product.right) {}

  void run();

private:
  Term place(const ScaledWeights &factors, bool isGradient);
  bool place(Term &term, ScaledWeights::Number number);
  Value multiply(Value left, Value right);
  Value sumRepeated(MutableArrayRef<Value> values);
  SmallVector<Value> multiplyParts(ArrayRef<Term> terms);

  SplitProducts &split;
  ImplicitLocOpBuilder b;
  stablehlo::DotGeneralOp dot;
  bool isRight;
  ProductSide weights, other;
};

} // namespace

/// Takes a factor of weights out of them, if it need not be known for each
/// pair. ScaledWeights of weights go to the result, and to the cotangent in
/// gradients of values, so that each attention has a cotangent of its own.
bool Splitter::place(Term &term, ScaledWeights::Number number) {
  llvm::SmallBitVector varying = varyingDims(number.value);
  SmallVector<int64_t> ofResult, ofOther, dims;
  bool inResult = true, inOther = true;
  for (int64_t dim : varying.set_bits()) {
    dims.push_back(dim);
    if (dim == weights.contracted) {
      inResult = false;
      ofOther.push_back(other.contracted);
      continue;
    }
    int64_t result = llvm::find(weights.dims, dim) - weights.dims.begin();
    ofResult.push_back(result);
    inOther &= other.has(result);
    ofOther.push_back(other.dims[result]);
  }
  bool sumsKeys = split.softmaxes.keys(term.weights) == weights.contracted;
  if (inOther && (!sumsKeys || !inResult)) {
    term.other = scale(b, term.other, narrowTo(b, number.value, dims), ofOther,
                       number.divides);
    return true;
  }
  if (inResult)
    term.scales.push_back(
        {narrowTo(b, number.value, dims), ofResult, number.divides});
  return inResult;
}

Term Splitter::place(const ScaledWeights &factors, bool isGradient) {
  Term term{factors.rest, other.value, {}, factors.isNegative};
  // A cotangent is scaled by the last factor first, as on its way back.
  for (const ScaledWeights::Number &number : llvm::reverse(factors.numbers)) {
    if (!isGradient && place(term, number))
      continue;
    SmallVector<int64_t> all =
        llvm::to_vector(llvm::seq<int64_t>(0, typeOf(term.weights).getRank()));
    term.weights = scale(b, term.weights, number.value, all, number.divides);
  }
  bool sumsKeys = split.softmaxes.keys(term.weights) == weights.contracted;
  if (term.isNegative && !sumsKeys && !isGradient) {
    term.other = stablehlo::NegOp::create(b, term.other);
    term.isNegative = false;
  }
  return term;
}

Value Splitter::multiply(Value left, Value right) {
  Operation *clone = b.clone(*dot);
  clone->setOperand(isRight, left);
  clone->setOperand(!isRight, right);
  return clone->getResult(0);
}

/// Terms that are parts of one whole, in any order, as one product.
SmallVector<Value> Splitter::multiplyParts(ArrayRef<Term> terms) {
  SmallVector<std::pair<WeightsPart, unsigned>> order;
  for (auto [number, term] : llvm::enumerate(terms)) {
    std::optional<WeightsPart> part = partOf(term.weights);
    if (!part)
      return {};
    order.push_back({*part, number});
  }
  llvm::sort(order, [](const auto &a, const auto &b) {
    return a.first.start < b.first.start;
  });
  SmallVector<WeightsPart> parts;
  SmallVector<Value> others;
  for (const auto &[part, number] : order) {
    parts.push_back(part);
    others.push_back(terms[number].other);
  }
  PairProduct product{dot, isRight ? other : weights,
                      isRight ? weights : other};
  SmallVector<Value> inOrder =
      sp::multiplyParts(b, parts, others, product, isRight, dot.getType());
  SmallVector<Value> products(inOrder.size());
  for (auto [value, at] : llvm::zip(inOrder, order))
    products[at.second] = value;
  return products;
}

/// Gradients of what is repeated for heads are summed over these: each product
/// by itself. Returns what the values now are parts of.
Value Splitter::sumRepeated(MutableArrayRef<Value> values) {
  SmallVector<Operation *> chain;
  size_t length = 0;
  Value last = dot;
  while (last.hasOneUse()) {
    Operation *user = *last.getUsers().begin();
    bool sums = reducesBy<stablehlo::AddOp>(user);
    if (!sums && !isa<stablehlo::TransposeOp, stablehlo::ReshapeOp,
                      stablehlo::ConvertOp>(user))
      break;
    chain.push_back(user);
    last = user->getResult(0);
    if (sums)
      length = chain.size();
  }
  if (length == 0)
    return dot;
  b.setInsertionPoint(chain[length - 1]);
  for (Value &value : values)
    for (Operation *op : ArrayRef(chain).take_front(length)) {
      Operation *clone = b.clone(*op);
      clone->setOperand(0, value);
      value = clone->getResult(0);
    }
  return chain[length - 1]->getResult(0);
}

void Splitter::run() {
  SmallVector<ScaledWeights> weighted =
      termsOf(b, split.softmaxes, weights.value);
  llvm::SmallSetVector<Operation *, 4> sources;
  llvm::SmallSetVector<Value, 4> parts;
  for (const ScaledWeights &factors : weighted) {
    std::optional<int64_t> keys = split.softmaxes.keys(factors.rest);
    if (split.softmaxes.of(factors.rest).size() != 1 || !keys ||
        (*keys != weights.contracted &&
         other.has(llvm::find(weights.dims, *keys) - weights.dims.begin())))
      return;
    sources.insert(split.softmaxes.of(factors.rest)[0]);
    if (partOf(factors.rest))
      parts.insert(factors.rest);
  }
  if (sources.size() < 2 && parts.size() < 2)
    return;
  bool isGradient = llvm::any_of(weighted, [&](const ScaledWeights &factors) {
    return split.softmaxes.isGradient(factors.rest);
  });
  auto terms = llvm::map_to_vector(weighted, [&](const ScaledWeights &factors) {
    return place(factors, isGradient);
  });
  SmallVector<Value> products = multiplyParts(terms);
  if (products.empty())
    for (const Term &term : terms)
      products.push_back(multiply(term.weights, term.other));
  SmallVector<Value> values;
  for (auto [term, product] : llvm::zip_equal(terms, products)) {
    if (!isGradient) {
      ProductSide left = weights, right = other;
      left.value = term.weights;
      right.value = term.other;
      split.products.push_back({left, right, product});
    }
    values.push_back(product);
    for (const Term::Scale &scaled : term.scales)
      values.back() =
          scale(b, values.back(), scaled.value, scaled.dims, scaled.divides);
  }
  Value sum = sumRepeated(values);
  Value total;
  for (auto [term, value] : llvm::zip_equal(terms, values)) {
    if (!total)
      total = term.isNegative ? stablehlo::NegOp::create(b, value).getResult()
                              : value;
    else if (term.isNegative)
      total = stablehlo::SubtractOp::create(b, total, value);
    else
      total = stablehlo::AddOp::create(b, total, value);
  }
  split.exponentials.insert_range(sources);
  sum.replaceAllUsesWith(total);
}

void mlir::sp::splitProduct(stablehlo::DotGeneralOp dot, SplitProducts &split) {
  std::optional<PairProduct> product = readProduct(dot);
  for (bool isRight : {false, true})
    if (product && split.softmaxes.keys(dot->getOperand(isRight)))
      return Splitter(dot, isRight, *product, split).run();
}

namespace {

struct SplitSumsPass : sp::impl::SplitSumsPassBase<SplitSumsPass> {
  void runOnOperation() override {
    SplitProducts split;
    SmallVector<stablehlo::DotGeneralOp> products;
    getOperation().walk(
        [&](stablehlo::DotGeneralOp op) { products.push_back(op); });
    for (stablehlo::DotGeneralOp op : products)
      splitProduct(op, split);
    if (!split.exponentials.empty()) {
      sumOverFeatures(getOperation(), split);
      eraseDead(getOperation());
      split.products.clear();
      split.softmaxes = Softmaxes();
      joinCotangents(getOperation(), split);
    }
    eraseDead(getOperation());
  }
};

} // namespace
