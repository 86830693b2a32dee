//===- Rewrite.cpp - sp.attention in place of a match ---------------------===//

#include "Match.h"

#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A tensor with one dimension an axis (in the order of `axes`), or any
/// grouping of them: what reshapes and transposes lead from and to.
class Rearranger {
public:
  Rearranger(OpBuilder &builder, Location location, const AxisLabels &labels)
      : builder(builder), location(location), labels(labels) {}

  /// Reshapes, transposes, repeats over axes that `from` lacks, and reshapes.
  Value rearrange(Value value, ArrayRef<Axes> from, ArrayRef<Axes> to) {
    Axes have = labels.resolve(flatten(from)),
         want = labels.resolve(flatten(to));
    Axes order;
    for (AxisId axis : want)
      if (llvm::is_contained(have, axis))
        order.push_back(axis);
    if (order != have) {
      value = reshape(value, sizes(have));
      SmallVector<int64_t> permutation;
      for (AxisId axis : order)
        permutation.push_back(llvm::find(have, axis) - have.begin());
      value = stablehlo::TransposeOp::create(
          builder, location, typeOf(value, sizes(order)), value, permutation);
    }
    if (order.size() != want.size()) {
      value = reshape(value, sizes(order));
      SmallVector<int64_t> dims;
      for (AxisId axis : order)
        dims.push_back(llvm::find(want, axis) - want.begin());
      value = stablehlo::BroadcastInDimOp::create(
          builder, location, typeOf(value, sizes(want)), value, dims);
    }
    return reshape(value, shapeOf(to));
  }

  SmallVector<int64_t> shapeOf(ArrayRef<Axes> dims) const {
    SmallVector<int64_t> shape;
    for (const Axes &dim : dims)
      shape.push_back(product(dim));
    return shape;
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    if (cast<RankedTensorType>(value.getType()).getShape() == shape)
      return value;
    return stablehlo::ReshapeOp::create(builder, location, typeOf(value, shape),
                                        value);
  }

  Value convert(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return stablehlo::ConvertOp::create(builder, location, type.clone(element),
                                        value);
  }

  int64_t product(ArrayRef<AxisId> dim) const {
    int64_t size = 1;
    for (AxisId axis : labels.resolve(dim))
      size *= labels.size(axis);
    return size;
  }

private:
  SmallVector<int64_t> sizes(ArrayRef<AxisId> axes) const {
    SmallVector<int64_t> shape;
    for (AxisId axis : axes)
      shape.push_back(labels.size(axis));
    return shape;
  }
  static RankedTensorType typeOf(Value value, ArrayRef<int64_t> shape) {
    return cast<RankedTensorType>(value.getType()).clone(shape);
  }

  OpBuilder &builder;
  Location location;
  const AxisLabels &labels;
};

} // namespace

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// Whether axes that both have come in another order.
static bool isPermuted(const AxisLabels &labels, ArrayRef<Axes> from,
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

/// The link of a chain to start from, with that element type: as few transposes
/// as possible between the root and the canonical order, then in canonical
/// shape, and then as near to the contraction as possible, so that sharding
/// constraints on the way stay.
static const SourceChain::Link *
chooseSource(const AxisLabels &labels, const SourceChain &chain,
             ArrayRef<Axes> canonical, ArrayRef<int64_t> shape, Type element) {
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

/// The element type attention runs in: the one that queries, keys and values
/// have in common before they are widened, if a form of the result has it too;
/// otherwise the widest of all.
static Type chooseElement(const AttentionMatch &match) {
  Type common;
  bool same = true;
  Type widest;
  auto consider = [&](Type type) {
    if (!widest ||
        type.getIntOrFloatBitWidth() > widest.getIntOrFloatBitWidth())
      widest = type;
  };
  for (Role role : {Role::Left, Role::Right, Role::Value}) {
    const SourceChain &chain = match.component->chain(role);
    Type root = elementOf(chain.links.back().value);
    same &= !common || common == root;
    common = root;
    consider(root);
  }
  for (const SourceChain::Link &result : match.results)
    if (same && elementOf(result.value) == common)
      return common;
  consider(elementOf(match.results.back().value));
  return widest;
}

/// The form of the result to replace: without transposes and conversions if
/// there is one, in canonical shape if there is one, and not past a sharding
/// constraint, which stays.
static const SourceChain::Link *
chooseTarget(const AxisLabels &labels, const AttentionMatch &match,
             ArrayRef<Axes> canonical, ArrayRef<int64_t> shape, Type element) {
  const SourceChain::Link *best = nullptr;
  for (const SourceChain::Link &form : match.results) {
    if (best && isIdentity(form.value.getDefiningOp()))
      break;
    if (isPermuted(labels, canonical, form.labels) ||
        elementOf(form.value) != element)
      continue;
    best = &form;
    if (cast<RankedTensorType>(form.value.getType()).getShape() == shape)
      break;
  }
  return best ? best : &match.results.back();
}

static ArrayAttr bandsAttr(MLIRContext *context, const AttentionMatch &match,
                           int64_t queries, int64_t keys) {
  if (match.empty == EmptyRow::Mean)
    return toAttr(context, match.bands.withUniformRows(queries, keys));
  return toAttr(context, match.bands);
}

Value mlir::sp::replaceAttention(const AttentionMatch &match, StringRef name) {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  OpBuilder builder(match.product);
  Location location = match.product->getLoc();
  Rearranger rearranger(builder, location, labels);

  Axes heads = axes.sharedHeads, query, key = {axes.key};
  llvm::append_range(heads, axes.groups);
  if (axes.query)
    query = {*axes.query};
  Labels forms[3] = {{axes.batch, query, heads, axes.feature},
                     {axes.batch, key, axes.sharedHeads, axes.feature},
                     {axes.batch, key, axes.sharedHeads, axes.value}};
  Role roles[3] = {axes.queryRole, axes.keyRole, Role::Value};
  Type element = chooseElement(match);
  Value operands[3];
  for (unsigned i = 0; i < 3; ++i) {
    const SourceChain &chain = match.component->chain(roles[i]);
    SmallVector<int64_t> shape = rearranger.shapeOf(forms[i]);
    const SourceChain::Link *link =
        chooseSource(labels, chain, forms[i], shape, element);
    if (!link)
      link = chooseSource(labels, chain, forms[i], shape,
                          elementOf(chain.links.back().value));
    Value value = rearranger.convert(link->value, element);
    operands[i] = rearranger.rearrange(value, link->labels, forms[i]);
  }

  Labels result = {axes.batch, query, heads, axes.value};
  SmallVector<int64_t> shape = rearranger.shapeOf(result);
  int64_t queries = shape[1], keys = rearranger.product(key);
  Empty empty = match.empty == EmptyRow::Zero   ? Empty::Zero
                : match.empty == EmptyRow::Mean ? Empty::Mean
                                                : Empty::Nan;
  auto attention = AttentionOp::create(
      builder, location, RankedTensorType::get(shape, element), operands[0],
      operands[1], operands[2],
      bandsAttr(builder.getContext(), match, queries, keys),
      llvm::APFloat(match.scale), empty, name, PlanAttr());

  const SourceChain::Link *target =
      chooseTarget(labels, match, result, shape, element);
  Value value = attention.getResult();
  value = rearranger.rearrange(value, result, target->labels);
  value = rearranger.convert(value, elementOf(target->value));
  Value replaced = target->value;
  replaced.replaceAllUsesWith(value);
  return replaced;
}

llvm::SmallPtrSet<Operation *, 32>
mlir::sp::operationsOf(const AttentionMatch &match) {
  llvm::SmallPtrSet<Operation *, 32> operations;
  for (const std::unique_ptr<Node> &node : match.component->all())
    if (node->scored && node->op)
      operations.insert(node->op);
  return operations;
}
