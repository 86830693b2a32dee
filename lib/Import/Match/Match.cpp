//===- Match.cpp - From a component to an attention -----------------------===//

#include "Match/Match.h"

#include "Scores/WeightStructure.h"

#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

/// Every axis is sampled at two positions or three, and all together.
static constexpr size_t maxAxes = 12;

AttentionMatcher::AttentionMatcher(Operation *scores, Operation *product,
                                   unsigned valueOperand, Inputs inputs)
    : scores(scores), product(product), inputs(inputs) {
  match.product = product;
  match.valueOperand = valueOperand;
  match.component =
      std::make_unique<Component>(scores, product, valueOperand, inputs);
}

LogicalResult AttentionMatcher::refuse(const Twine &reason, Location location) {
  if (!refusal)
    refusal = {reason.str(), location};
  return failure();
}

/// A reduction over something that never meets the scores (whether a row of a
/// mask shows any key) is supposed to run over keys, or over queries where keys
/// are present; the comparison with the reference decides.
static void supposeReductions(const AttentionMatch &match) {
  AxisLabels &labels = match.component->labels;
  Axes anchored =
      labels.resolve(flatten(match.component->scoresNode()->labels));
  Axes keys = labels.resolve(match.component->anchor(match.product)->bound);
  for (const std::unique_ptr<Node> &node : match.component->nodes.all()) {
    if (node->scored || !isa_and_nonnull<stablehlo::ReduceOp>(node->op))
      continue;
    Axes present = labels.resolve(flatten(node->labels));
    for (AxisId axis : labels.resolve(node->bound)) {
      if (llvm::is_contained(anchored, axis))
        continue;
      for (AxisId candidate : llvm::concat<AxisId>(keys, anchored))
        if (labels.size(candidate) == labels.size(axis) &&
            !llvm::is_contained(present, candidate) &&
            succeeded(labels.unify({candidate}, {axis})))
          break;
    }
  }
}

Node *mlir::sp::requestForm(const AttentionMatch &match, Value value) {
  Component &component = *match.component;
  // What a score function is, the weights say, of which gradients may be no
  // more made.
  auto request = [&]() -> Node * {
    component.nodes.clear();
    Node *node = component.request(value);
    bool needsWeights = node && match.score && !component.productNode();
    if (needsWeights && !component.request(match.product->getResult(0)))
      return nullptr;
    return node;
  };
  if (!request() || !component.scoresNode())
    return nullptr;
  supposeReductions(match);
  return request();
}

Node *AttentionMatcher::requestBoth(Value value) {
  Node *node = requestForm(match, value);
  return match.component->productNode() ? node : nullptr;
}

bool mlir::sp::isWhole(const AttentionMatch &match) {
  auto whole = [&](AxisId axis) {
    return match.component->labels.resolve({axis}) == Axes{axis};
  };
  return whole(match.axes.key) &&
         (!match.axes.query || whole(*match.axes.query));
}

LogicalResult AttentionMatcher::readAxes() {
  AxisLabels &labels = match.component->labels;
  AttentionAxes &axes = match.axes;
  Location location = product->getLoc();
  Axes contracted = labels.resolve(match.component->productNode()->bound);
  auto axesOf = [&](Role role) {
    return labels.resolve(flatten(match.component->leaf(role)->labels));
  };
  Axes left = axesOf(Role::Left), right = axesOf(Role::Right);
  Axes values = axesOf(Role::Value);
  if (contracted.size() != 1)
    return refuse("it does not sum over exactly one axis of keys", location);
  axes.key = contracted[0];
  bool inLeft = llvm::is_contained(left, axes.key);
  bool inRight = llvm::is_contained(right, axes.key);
  axes.feature = labels.resolve(match.component->scoresNode()->bound);
  if (inLeft == inRight || llvm::is_contained(axes.feature, axes.key) ||
      !llvm::is_contained(values, axes.key))
    return refuse("the axis it sums over is not one of keys", location);
  axes.queryRole = inLeft ? Role::Right : Role::Left;
  axes.keyRole = inLeft ? Role::Left : Role::Right;
  const Axes &ofQueries = inLeft ? right : left,
             &ofKeys = inLeft ? left : right;

  Axes result = labels.resolve(flatten(match.component->productNode()->labels));
  llvm::SmallDenseSet<AxisId> unique;
  for (AxisId axis : llvm::concat<AxisId>(result, axes.feature, contracted))
    if (!unique.insert(axis).second)
      return refuse("two of its axes are the same", location);
  if (unique.size() > maxAxes)
    return refuse("it has " + Twine(unique.size()) + " axes, more than " +
                      Twine(maxAxes),
                  location);
  for (AxisId axis : axes.feature)
    if (!llvm::is_contained(left, axis) || !llvm::is_contained(right, axis))
      return refuse("queries and keys do not share their features", location);
  for (AxisId axis : llvm::concat<AxisId>(left, right, values))
    if (!unique.contains(axis))
      return refuse("it sums over an axis that is neither keys nor features",
                    location);

  Axes leftOnly, shared;
  for (AxisId axis : result) {
    bool inQueries = llvm::is_contained(ofQueries, axis);
    bool inKeys = llvm::is_contained(ofKeys, axis);
    bool inValues = llvm::is_contained(values, axis);
    if (inKeys && inValues)
      shared.push_back(axis);
    else if (inQueries && !inKeys && !inValues)
      leftOnly.push_back(axis);
    else if (!inQueries && !inKeys && inValues)
      axes.value.push_back(axis);
    else if (inQueries && inValues)
      return refuse("its values carry an axis of the queries", location);
    else
      return refuse("its keys and values do not run over the same axes",
                    location);
  }
  PositionReader positions(labels, inputs);
  if (failed(positions.read(match.component->weights()))) {
    refusal = positions.refusal;
    return failure();
  }
  comparisons = positions.comparisons;
  for (const Comparison &comparison : comparisons)
    match.comparisons.insert(keyOf(labels, comparison.node));
  if (failed(chooseQuery(leftOnly, comparisons)))
    return failure();
  orderHeads(shared);
  return applyPolicy();
}

LogicalResult AttentionMatcher::chooseQuery(ArrayRef<AxisId> leftOnly,
                                            ArrayRef<Comparison> comparisons) {
  const AxisLabels &labels = match.component->labels;
  AttentionAxes &axes = match.axes;
  Axes compared;
  for (const Comparison &comparison : comparisons) {
    // A score function may compare heads too, or look them up in a table.
    if (inputs == Inputs::Any && !llvm::is_contained(comparison.over, axes.key))
      continue;
    for (AxisId axis : comparison.over) {
      if (axis == axes.key || !llvm::is_contained(leftOnly, axis) ||
          llvm::is_contained(compared, axis))
        continue;
      if (!compared.empty() && inputs == Inputs::Operands)
        return refuse("its mask compares positions of more than one axis of "
                      "queries",
                      comparison.node->value.getLoc());
      compared.push_back(axis);
    }
  }
  Axes candidates(compared.empty() ? leftOnly : ArrayRef<AxisId>(compared));
  // A sink is one of heads, unless nothing else can be queries.
  Axes others = candidates;
  for (const Sink &sink : findSinks(*match.component, axes.key))
    for (AxisId axis : labels.resolve(flatten(sink.node->labels)))
      llvm::erase(others, axis);
  if (!others.empty())
    candidates = others;
  // As many queries as keys, or where keys have theirs, or the longest, or the
  // first.
  const Labels &own = match.component->leaf(axes.queryRole)->labels,
               &ofKeys = match.component->leaf(axes.keyRole)->labels;
  Axes order = labels.resolve(flatten(own));
  auto dimOf = [&](const Labels &dims, AxisId axis) {
    return llvm::find_if(dims,
                         [&](const Axes &dim) {
                           return llvm::is_contained(labels.resolve(dim), axis);
                         }) -
           dims.begin();
  };
  auto preference = [&](AxisId axis) {
    int64_t size = labels.size(axis);
    bool isAlike = own.size() == ofKeys.size() &&
                   dimOf(own, axis) == dimOf(ofKeys, axes.key);
    return std::make_tuple(size == labels.size(axes.key), isAlike, size);
  };
  for (AxisId axis : order)
    if (llvm::is_contained(candidates, axis) &&
        (!axes.query || preference(axis) > preference(*axes.query)))
      axes.query = axis;
  for (AxisId axis : order)
    if (llvm::is_contained(leftOnly, axis) && axis != axes.query)
      axes.groups.push_back(axis);
  return success();
}

/// [sequence, batch, heads and features], as a projection leaves it.
bool AttentionMatcher::isTimeMajor(ArrayRef<Axes> dims, ArrayRef<AxisId> shared,
                                   std::optional<AxisId> sequence) {
  auto resolved = [&](size_t dim) {
    return match.component->labels.resolve(dims[dim]);
  };
  auto isShared = [&](AxisId axis) { return llvm::is_contained(shared, axis); };
  return sequence && dims.size() == 3 && resolved(0) == Axes{*sequence} &&
         !resolved(1).empty() && llvm::all_of(resolved(1), isShared) &&
         llvm::any_of(resolved(2), isShared) &&
         !llvm::all_of(resolved(2), isShared);
}

/// Shared axes are batch where a root has them first and before its sequence,
/// but for what a slice takes one of, or alone behind its sequence, with others
/// beside features; and heads otherwise.
void AttentionMatcher::orderHeads(ArrayRef<AxisId> shared) {
  const AxisLabels &labels = match.component->labels;
  AttentionAxes &axes = match.axes;
  llvm::SmallDenseSet<AxisId> heads;
  Axes order;
  auto look = [&](Role role, std::optional<AxisId> sequence) {
    Node *leaf = match.component->leaf(role);
    auto slice = leaf->value.getDefiningOp<stablehlo::SliceOp>();
    ArrayRef<int64_t> shape = shapeOf(slice ? slice.getOperand() : leaf->value);
    bool behind = false, first = true;
    bool timeMajor = isTimeMajor(leaf->labels, shared, sequence);
    for (auto [dim, names] : llvm::enumerate(leaf->labels)) {
      for (AxisId axis : labels.resolve(names)) {
        behind |= axis == sequence;
        if (!llvm::is_contained(shared, axis))
          continue;
        if (!llvm::is_contained(order, axis))
          order.push_back(axis);
        bool isBatch = timeMajor ? dim == 1 : first && !behind;
        if (!isBatch)
          heads.insert(axis);
        first = false;
      }
      first &= shape[dim] != 1;
    }
  };
  look(axes.queryRole, axes.query);
  look(axes.keyRole, axes.key);
  look(Role::Value, axes.key);
  for (AxisId axis : order)
    (heads.contains(axis) ? axes.sharedHeads : axes.batch).push_back(axis);
}

/// What has the form of an attention but no sequence of keys: a softmax over a
/// vocabulary or over experts whose "keys" are weights.
LogicalResult AttentionMatcher::applyPolicy() {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  if (!axes.batch.empty() || !axes.sharedHeads.empty())
    return success();
  // A batch or head of one has a dimension, which weights lack.
  auto hasUnit = [&](Role role) {
    return llvm::any_of(
        match.component->chain(role).links, [](const SourceChain::Link &link) {
          auto type = cast<RankedTensorType>(link.value.getType());
          return type.getRank() > 2 && llvm::is_contained(type.getShape(), 1);
        });
  };
  if (hasUnit(axes.keyRole) && hasUnit(Role::Value))
    return success();
  StringRef reason = "its keys are weights, not a sequence: they have neither "
                     "batch nor heads";
  Node *query = match.component->leaf(axes.queryRole);
  Node *key = match.component->leaf(axes.keyRole);
  Axes order = labels.resolve(flatten(query->labels));
  for (AxisId axis : axes.groups)
    if (llvm::find(order, axis) < llvm::find(order, *axes.query))
      return refuse(reason, scores->getLoc());
  auto isInput = [&](Node *leaf) {
    return isa<BlockArgument>(lookThroughLoops(leaf->value));
  };
  Axes keyOrder = labels.resolve(flatten(key->labels));
  bool likeWeights = isInput(key) && keyOrder.back() == axes.key;
  if (isInput(key) && isInput(match.component->leaf(Role::Value)) &&
      !isInput(query))
    return refuse(reason, scores->getLoc());
  return likeWeights ? refuse(reason, scores->getLoc()) : success();
}

bool mlir::sp::hasKnownPositions(const AttentionMatch &match, const Node *node,
                                 Inputs inputs) {
  const AxisLabels &labels = match.component->labels;
  PositionReader reader(labels, Inputs::Operands);
  llvm::SetVector<const Node *> inWeights;
  if (inputs == Inputs::Any)
    inWeights = below(match.component->weights());
  for (const Node *known : inWeights)
    reader.skip(known);
  if (failed(reader.read(node)))
    return false;
  bool readsMore = llvm::any_of(below(node), [&](const Node *read) {
    return read->role == Role::Data && !inWeights.contains(read);
  });
  return !readsMore &&
         llvm::all_of(reader.comparisons, [&](const Comparison &comparison) {
           return comparison.over.empty() ||
                  match.comparisons.count(keyOf(labels, comparison.node));
         });
}

LogicalResult AttentionMatcher::checkTypes() {
  for (Role role : {Role::Left, Role::Right, Role::Value}) {
    Value root = match.component->chain(role).links.back().value;
    Type type = getElementTypeOrSelf(root.getType());
    if (!type.isF64() && !type.isF32() && !type.isBF16() && !type.isF16()) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return refuse("its queries, keys or values are numbers of " + text +
                        ", not of f64, f32, bf16 or f16",
                    root.getLoc());
    }
  }
  return success();
}

std::optional<AttentionMatch> AttentionMatcher::run() {
  if (!requestBoth(product->getResult(0))) {
    refusal = match.component->nodes.refusal();
    return std::nullopt;
  }
  if (failed(readAxes()) || failed(checkTypes()))
    return std::nullopt;
  if (failed(inputs == Inputs::Any ? matchScore() : matchProduct()) ||
      failed(checkShifts()))
    return std::nullopt;
  return std::move(match);
}

LogicalResult AttentionMatcher::checkShifts() {
  const Component &component = *match.component;
  std::optional<Exponential> power = findExponential(component, match.axes.key);
  const Node *odd =
      findUnbalanced(component, match.axes.key, component.weights(),
                     power ? power->node : nullptr);
  if (!odd || !odd->op)
    return success();
  return refuse("'" + odd->op->getName().getStringRef() +
                    "' makes more of values of rows than shifts",
                odd->value.getLoc());
}

LogicalResult AttentionMatcher::matchProduct() {
  if (findNonlinear(*match.component, match.axes.key, /*asFunction=*/false))
    return refuse("its scores are more than scaled and masked",
                  product->getLoc());
  MaskAnalysis mask(*match.component, match.axes, comparisons);
  if (failed(mask.run())) {
    refusal = mask.refusal;
    return failure();
  }
  match.bands = mask.bands;
  match.scale = mask.scale;
  match.settled = match.comparisons;
  if (!match.rowsWithoutKeys().empty() &&
      mask.fills.contains(int(Fill::Additive)))
    return refuse("its finite additive mask leaves rows without a visible key",
                  product->getLoc());
  return verifyResults(mask);
}
