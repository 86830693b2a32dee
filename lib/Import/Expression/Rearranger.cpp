//===- Rearranger.cpp - From one order of axes to another -----------------===//

#include "Expression/Rearranger.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static RankedTensorType reshapedType(Value value, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(value.getType()).clone(shape);
}

Value Rearranger::rearrange(Value value, ArrayRef<Axes> from,
                            ArrayRef<Axes> to) {
  Axes have = labels.resolve(flatten(from)), want = labels.resolve(flatten(to));
  Axes order;
  for (AxisId axis : want)
    if (llvm::is_contained(have, axis))
      order.push_back(axis);
  // Units that nobody wants go with the reshape.
  llvm::erase_if(have, [&](AxisId axis) {
    return labels.size(axis) == 1 && !llvm::is_contained(want, axis);
  });
  if (order != have) {
    value = reshape(value, sizes(have));
    SmallVector<int64_t> permutation;
    for (AxisId axis : order)
      permutation.push_back(llvm::find(have, axis) - have.begin());
    value = stablehlo::TransposeOp::create(builder, location,
                                           reshapedType(value, sizes(order)),
                                           value, permutation);
  }
  if (order.size() != want.size()) {
    value = reshape(value, sizes(order));
    SmallVector<int64_t> dims;
    for (AxisId axis : order)
      dims.push_back(llvm::find(want, axis) - want.begin());
    value = stablehlo::BroadcastInDimOp::create(
        builder, location, reshapedType(value, sizes(want)), value, dims);
  }
  return reshape(value, shapeOf(to));
}

SmallVector<int64_t> Rearranger::shapeOf(ArrayRef<Axes> dims) const {
  SmallVector<int64_t> shape;
  for (const Axes &dim : dims)
    shape.push_back(product(dim));
  return shape;
}

Value Rearranger::reshape(Value value, ArrayRef<int64_t> shape) {
  if (cast<RankedTensorType>(value.getType()).getShape() == shape)
    return value;
  return stablehlo::ReshapeOp::create(builder, location,
                                      reshapedType(value, shape), value);
}

Value Rearranger::convert(Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return stablehlo::ConvertOp::create(builder, location, type.clone(element),
                                      value);
}

int64_t Rearranger::product(ArrayRef<AxisId> dim) const {
  int64_t size = 1;
  for (AxisId axis : labels.resolve(dim))
    size *= labels.size(axis);
  return size;
}

SmallVector<int64_t> Rearranger::sizes(ArrayRef<AxisId> axes) const {
  SmallVector<int64_t> shape;
  for (AxisId axis : axes)
    shape.push_back(labels.size(axis));
  return shape;
}

bool mlir::sp::isPermuted(const AxisLabels &labels, ArrayRef<Axes> from,
                          ArrayRef<Axes> to) {
  Axes have = labels.resolve(flatten(from)), order;
  for (AxisId axis : labels.resolve(flatten(to)))
    if (llvm::is_contained(have, axis))
      order.push_back(axis);
  Axes kept;
  for (AxisId axis : have)
    if (llvm::is_contained(order, axis))
      kept.push_back(axis);
  return kept != order;
}

const SourceChain::Link *mlir::sp::chooseSource(const AxisLabels &labels,
                                                const SourceChain &chain,
                                                ArrayRef<Axes> canonical,
                                                ArrayRef<int64_t> shape,
                                                Type element) {
  const SourceChain::Link *best = nullptr;
  unsigned bestCost = 0, below = 0;
  for (const SourceChain::Link &link : llvm::reverse(chain.links)) {
    if (isa_and_nonnull<stablehlo::TransposeOp>(link.value.getDefiningOp()) &&
        &link != &chain.links.back())
      ++below;
    if (elementOf(link.value) != element)
      continue;
    // Repeats over heads are what the operation does by itself.
    Axes axes = labels.resolve(flatten(link.labels));
    Axes root = labels.resolve(flatten(chain.links.back().labels));
    if (axes.size() != root.size())
      continue;
    bool reshaped =
        cast<RankedTensorType>(link.value.getType()).getShape() != shape;
    unsigned cost =
        2 * (below + isPermuted(labels, link.labels, canonical)) + reshaped;
    if (!best || cost <= bestCost) {
      best = &link;
      bestCost = cost;
    }
  }
  return best;
}

Value mlir::sp::takeSource(Rearranger &rearranger, const AxisLabels &labels,
                           const SourceChain &chain, ArrayRef<Axes> canonical,
                           Type element) {
  SmallVector<int64_t> shape = rearranger.shapeOf(canonical);
  const SourceChain::Link *link =
      chooseSource(labels, chain, canonical, shape, element);
  if (!link)
    link = chooseSource(labels, chain, canonical, shape,
                        elementOf(chain.links.back().value));
  Value value = rearranger.convert(link->value, element);
  return rearranger.rearrange(value, link->labels, canonical);
}
