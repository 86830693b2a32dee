//===- SpellOutProduct.cpp - A result that only gradients remember --------===//
//
// A program of gradients alone has weights P = softmax(S), dV = Pᵀ dO and
// dP = dO Vᵀ, but no product O = P V. It is written down, so that the forward
// is found as any other:
//
//   %dv = dot_general %p, %do            %o = dot_general %p, %v
//   %dp = dot_general %do, %v      ->    %dv = ..., %dp = ...
//
// Without dV there may be no P either, but its powers E = exp(S - max) and
// their sums: then O = E V / sum(E).
//
//===----------------------------------------------------------------------===//

#include "Expression/Rearranger.h"
#include "Gradients/Gradient.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static bool sharesAny(ArrayRef<AxisId> a, ArrayRef<AxisId> b) {
  return llvm::any_of(a, [&](AxisId x) { return llvm::is_contained(b, x); });
}

static Axes common(ArrayRef<AxisId> a, ArrayRef<AxisId> b, bool isIn = true) {
  Axes axes;
  for (AxisId axis : a)
    if (llvm::is_contained(b, axis) == isIn)
      axes.push_back(axis);
  return axes;
}

/// Axis after axis, each a dimension.
static Labels spread(std::initializer_list<Axes> parts) {
  Labels labels;
  for (const Axes &part : parts)
    for (AxisId axis : part)
      labels.push_back({axis});
  return labels;
}

/// The product of weights, which may be powers that are not yet divided by
/// their sums, and values.
static Operation *multiply(const AxisLabels &labels, Value weights,
                           const Labels &ofWeights, Value values,
                           const Labels &ofValues, ArrayRef<AxisId> ofCotangent,
                           bool arePowers) {
  Axes all = labels.resolve(flatten(ofWeights)),
       value = labels.resolve(flatten(ofValues));
  Axes both = common(all, value);
  Axes batch = common(both, ofCotangent),
       keys = common(both, ofCotangent, false);
  Axes rows = common(all, value, false), columns = common(value, all, false);
  Operation *after = weights.getDefiningOp(), *other = values.getDefiningOp();
  if (other && other->getBlock() == after->getBlock() &&
      after->isBeforeInBlock(other))
    after = other;
  OpBuilder builder(after->getContext());
  builder.setInsertionPointAfter(after);
  Location location = after->getLoc();
  Rearranger rearranger(builder, location, labels);
  Labels left = spread({batch, rows, keys}),
         right = spread({batch, keys, columns});
  Type element = elementOf(weights);
  Value lhs = rearranger.rearrange(weights, ofWeights, left);
  Value rhs = rearranger.rearrange(rearranger.convert(values, element),
                                   ofValues, right);
  auto range = [](int64_t from, int64_t count) {
    return llvm::to_vector(llvm::seq<int64_t>(from, from + count));
  };
  int64_t shared = batch.size();
  auto dims = stablehlo::DotDimensionNumbersAttr::get(
      builder.getContext(), range(0, shared), range(0, shared),
      range(shared + rows.size(), keys.size()), range(shared, keys.size()));
  auto type = RankedTensorType::get(
      rearranger.shapeOf(spread({batch, rows, columns})), element);
  auto product = stablehlo::DotGeneralOp::create(
      builder, location, type, lhs, rhs, dims,
      /*precision_config=*/ArrayAttr(), stablehlo::DotAlgorithmAttr());
  if (!arePowers)
    return product;
  Value sums =
      sumOver(builder, location, lhs, range(shared + rows.size(), keys.size()));
  sums = stablehlo::BroadcastInDimOp::create(builder, location, type, sums,
                                             range(0, shared + rows.size()));
  stablehlo::DivOp::create(builder, location, product, sums);
  return product;
}

/// The dimensions over which the program itself sums powers up.
static ArrayRef<int64_t> summedDims(Operation *powers) {
  for (Operation *user : powers->getUsers()) {
    if (reducesBy<stablehlo::AddOp>(user))
      return cast<stablehlo::ReduceOp>(user).getDimensions();
    if (isa<stablehlo::ConvertOp>(user))
      if (ArrayRef<int64_t> dims = summedDims(user); !dims.empty())
        return dims;
  }
  return {};
}

/// Of a gradient without dV, by any contraction that is made of dP.
static Operation *multiplyPowers(Operation *scores, Operation *exponential,
                                 Operation *pairs,
                                 const PairProducts &products) {
  ArrayRef<int64_t> dims = summedDims(exponential);
  if (dims.size() != 1 || products.empty())
    return nullptr;
  auto [product, leaf] = products.front();
  Component component(scores, product, leaf, Inputs::Any);
  component.addPairs(pairs);
  if (!component.request(product->getResult(0)))
    return nullptr;
  const AxisLabels &labels = component.labels;
  auto powers = llvm::find_if(component.nodes.all(), [&](const auto &node) {
    return node->value == exponential->getResult(0);
  });
  if (powers == component.nodes.all().end())
    return nullptr;
  Labels ofPowers = labels.resolveDims((*powers)->labels);
  const Anchor *both = component.anchor(pairs);
  const Axes &keys = ofPowers[dims[0]];
  auto hasKeys = [&](unsigned operand) {
    return sharesAny(labels.resolve(flatten(both->labels[operand])), keys);
  };
  if (hasKeys(0) == hasKeys(1))
    return nullptr;
  unsigned values = hasKeys(0) ? 0 : 1;
  return multiply(labels, exponential->getResult(0), ofPowers,
                  pairs->getOperand(values),
                  labels.resolveDims(both->labels[values]),
                  labels.resolve(flatten(both->labels[1 - values])),
                  /*arePowers=*/true);
}

Operation *mlir::sp::spellOutProduct(Operation *scores, Operation *exponential,
                                     const PairProducts &products) {
  Operation *pairs = findPairs(scores, nullptr, products);
  if (!pairs)
    return nullptr;
  for (auto [product, leaf] : products) {
    if (findPairs(scores, nullptr, {{product, leaf}}))
      continue; // made of dP
    Component component(scores, product, leaf, Inputs::Any);
    component.addPairs(pairs);
    if (!component.request(product->getResult(0)))
      continue;
    // Any product made of dP ties its axes to those of the scores.
    for (auto [other, otherLeaf] : products)
      if (other != product &&
          findPairs(scores, nullptr, {{other, otherLeaf}})) {
        component.addProduct(other, otherLeaf);
        if (!component.request(other->getResult(0)))
          return nullptr;
      }
    const AxisLabels &labels = component.labels;
    const Anchor *weights = component.anchor(product),
                 *both = component.anchor(pairs);
    Axes queries = labels.resolve(weights->bound);
    unsigned values =
        sharesAny(labels.resolve(flatten(both->labels[0])), queries) ? 1 : 0;
    Axes ofCotangent = labels.resolve(flatten(both->labels[1 - values]));
    if (!sharesAny(ofCotangent, queries) ||
        sharesAny(labels.resolve(flatten(both->labels[values])), queries))
      return nullptr;
    return multiply(labels, product->getOperand(1 - leaf),
                    labels.resolveDims(weights->labels[1 - leaf]),
                    pairs->getOperand(values),
                    labels.resolveDims(both->labels[values]), ofCotangent,
                    /*arePowers=*/false);
  }
  return multiplyPowers(scores, exponential, pairs, products);
}
