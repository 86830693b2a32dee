//===- SpellOutProduct.cpp - A result that only gradients remember --------===//
//
// A program of gradients alone has weights P = softmax(S), dV = Pᵀ dO and
// dP = dO Vᵀ, but no product O = P V. It is written down, so that the forward
// is found as any other:
//
//   %dv = dot_general %p, %do            %o = dot_general %p, %v
//   %dp = dot_general %do, %v      ->    %dv = ..., %dp = ...
//
//===----------------------------------------------------------------------===//

#include "Gradient.h"
#include "Rearranger.h"

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

static Operation *multiply(const AxisLabels &labels, Value weights,
                           const Labels &ofWeights, Value values,
                           const Labels &ofValues,
                           ArrayRef<AxisId> ofCotangent) {
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
  Labels result = spread({batch, rows, columns});
  return stablehlo::DotGeneralOp::create(
      builder, location,
      RankedTensorType::get(rearranger.shapeOf(result), element), lhs, rhs,
      dims, /*precision_config=*/ArrayAttr(), stablehlo::DotAlgorithmAttr());
}

Operation *mlir::sp::spellOutProduct(Operation *scores,
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
                    labels.resolveDims(both->labels[values]), ofCotangent);
  }
  return nullptr;
}
