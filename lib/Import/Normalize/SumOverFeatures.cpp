//===- SumOverFeatures.cpp - Gradients of factors of softmaxes ------------===//
//
//   sum(-dot(%do, %v) * softmax(%s1))
//
// becomes sum(-%do * dot(softmax(%s1), %v)), which is the forward's product and
// needs no pairs.
//
//===----------------------------------------------------------------------===//

#include "Normalize/SplitSums.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// The gradient of a factor: sum(weights * cotangent * numbers).
class FactorGradient {
public:
  FactorGradient(stablehlo::ReduceOp sum, SplitProducts &split)
      : sum(sum), split(split), b(sum.getLoc(), sum) {}
  void run();

private:
  bool collect(Value value, bool divides);
  bool returnsToPairs();
  Value product(const PairProduct &cotangent, int64_t keys);

  stablehlo::ReduceOp sum;
  SplitProducts &split;
  ImplicitLocOpBuilder b;
  Value weights;
  SmallVector<ScaledWeights::Number> numbers;
  bool isNegative = false;
};

} // namespace

static Value withoutConversions(Value value) {
  auto isReal = [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value));
  };
  for (auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
       convert && isReal(value) && isReal(convert.getOperand());
       convert = value.getDefiningOp<stablehlo::ConvertOp>())
    value = convert.getOperand();
  return value;
}

bool FactorGradient::collect(Value value, bool divides) {
  static constexpr size_t maxNumbers = 64;
  if (numbers.size() > maxNumbers)
    return false;
  Operation *op = value.getDefiningOp();
  ArrayRef<Operation *> sources = split.softmaxes.of(value);
  bool isProduct = isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op);
  if (isa_and_nonnull<stablehlo::NegOp>(op)) {
    isNegative = !isNegative;
    return collect(op->getOperand(0), divides);
  }
  if (!sources.empty() && !divides && split.softmaxes.keys(value) &&
      (!isProduct || !split.softmaxes.isGradient(value))) {
    bool isFirst = !weights;
    weights = value;
    return isFirst && sources.size() == 1 &&
           split.exponentials.contains(sources[0]);
  }
  if (isProduct)
    return collect(op->getOperand(0), divides) &&
           collect(op->getOperand(1), divides ^ isa<stablehlo::DivOp>(op));
  numbers.push_back({value, divides});
  return sources.empty();
}

/// Sums over keys that gradients of scores need keep their form.
bool FactorGradient::returnsToPairs() {
  llvm::SetVector<Operation *> open;
  open.insert(sum);
  for (size_t i = 0; i < open.size(); ++i)
    for (Operation *user : open[i]->getUsers()) {
      if (user->getNumResults() == 1 &&
          split.softmaxes.keys(user->getResult(0)))
        return true;
      if (!contracts(user))
        open.insert(user);
    }
  return false;
}

/// The product of weights and the values of their cotangent, over the
/// dimensions of pairs but that of keys, and features: one that is there
/// already, or a new one.
Value FactorGradient::product(const PairProduct &cotangent, int64_t keys) {
  const ProductSide &values = cotangent.right;
  RankedTensorType pairs = typeOf(weights);
  auto isSame = [&](const PartProduct &known) {
    if (withoutConversions(known.weights.value) !=
            withoutConversions(weights) ||
        known.other.value != values.value || known.weights.contracted != keys)
      return false;
    for (auto [of, at] : llvm::zip_equal(known.weights.dims, known.other.dims))
      if (at != (of < 0 ? values.contracted : values.dims[of]))
        return false;
    return true;
  };
  auto found = llvm::find_if(split.products, isSame);
  auto isInside = [&](Value value) {
    return value.getParentBlock() == sum->getBlock();
  };
  if (found != split.products.end() && isInside(found->result)) {
    SmallVector<int64_t> order;
    for (int64_t dim = 0; dim <= pairs.getRank(); ++dim)
      if (dim != keys)
        order.push_back(
            llvm::find(found->weights.dims, dim == pairs.getRank() ? -1 : dim) -
            found->weights.dims.begin());
    return transposed(b, b.getLoc(), found->result, order);
  }
  PairProduct made{cotangent.dot,
                   {weights, {}, keys},
                   {values.value, {}, values.dims[keys]}};
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < pairs.getRank(); ++dim)
    if (dim != keys) {
      made.left.dims.push_back(dim);
      made.right.dims.push_back(values.dims[dim]);
      shape.push_back(pairs.getDimSize(dim));
    }
  made.left.dims.push_back(-1);
  made.right.dims.push_back(values.contracted);
  shape.push_back(values.type().getDimSize(values.contracted));
  Type element = made.dot.getType().getElementType();
  // As early as can be: gradients come after what they are of.
  OpBuilder::InsertionGuard guard(b);
  Operation *last = weights.getDefiningOp(), *of = values.value.getDefiningOp();
  if (of && of->getBlock() == last->getBlock() && last->isBeforeInBlock(of))
    last = of;
  if (last->getBlock() == sum->getBlock())
    b.setInsertionPointAfter(last);
  std::optional<WeightsPart> part = partOf(weights);
  int64_t length = part ? typeOf(part->whole).getDimSize(part->dim) : 0;
  if (!part || length % part->length || part->start % part->length)
    return createProduct(b, made, pairs.clone(shape, element));
  SmallVector<WeightsPart> parts(length / part->length, *part);
  for (auto [number, own] : llvm::enumerate(parts))
    own.start = int64_t(number) * part->length;
  SmallVector<Value> others(parts.size(), values.value);
  RankedTensorType type = pairs.clone(shape, element);
  SmallVector<Value> products =
      multiplyParts(b, parts, others, made, /*isRight=*/false, type);
  return products.empty() ? createProduct(b, made, type)
                          : products[part->start / part->length];
}

void FactorGradient::run() {
  Value whole = sum.getInputs()[0];
  if (!collect(whole, false) || !weights || returnsToPairs())
    return;
  int64_t keys = *split.softmaxes.keys(weights);
  CotangentReader reader(b, split.softmaxes);
  std::optional<Cotangent> cotangent;
  for (auto *number = numbers.begin(); number != numbers.end() && !cotangent;
       ++number)
    if (!number->divides && (cotangent = reader.read(number->value, keys)))
      numbers.erase(number);
  auto varies = [&](const ScaledWeights::Number &number) {
    return varyingDims(number.value)[keys];
  };
  if (!cotangent || llvm::any_of(numbers, varies) ||
      !llvm::is_contained(sum.getDimensions(), keys))
    return;
  cotangent->settle(b);
  Value made = product(*cotangent, keys);
  RankedTensorType pairs = typeOf(weights);
  SmallVector<int64_t> rows;
  for (int64_t dim = 0; dim < pairs.getRank(); ++dim)
    if (dim != keys)
      rows.push_back(dim);
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, pairs.getRank()));
  made = scale(b, made, layOut(b, cotangent->left, rows, pairs.getShape()), all,
               false);
  auto place = [&](int64_t dim) { return dim - (dim > keys); };
  for (const ScaledWeights::Number &number : numbers) {
    auto dims =
        llvm::to_vector_of<int64_t>(varyingDims(number.value).set_bits());
    made = scale(b, made, narrowTo(b, number.value, dims),
                 llvm::map_to_vector(dims, place), number.divides);
  }
  if (isNegative)
    made = stablehlo::NegOp::create(b, made);
  SmallVector<int64_t> summed = {pairs.getRank() - 1};
  for (int64_t dim : sum.getDimensions())
    if (dim != keys)
      summed.push_back(place(dim));
  llvm::sort(summed);
  Type element = getElementTypeOrSelf(sum.getResult(0));
  if (typeOf(made).getElementType() != element)
    made = stablehlo::ConvertOp::create(b, typeOf(made).clone(element), made);
  auto clone = cast<stablehlo::ReduceOp>(b.clone(*sum));
  clone->setOperand(0, made);
  clone.setDimensions(summed);
  sum->getResult(0).replaceAllUsesWith(clone->getResult(0));
}

void mlir::sp::sumOverFeatures(func::FuncOp function, SplitProducts &split) {
  SmallVector<stablehlo::ReduceOp> sums;
  function.walk([&](stablehlo::ReduceOp op) {
    if (reducesBy<stablehlo::AddOp>(op) &&
        isa<FloatType>(getElementTypeOrSelf(op.getResult(0))))
      sums.push_back(op);
  });
  for (stablehlo::ReduceOp op : sums)
    FactorGradient(op, split).run();
}
