//===- GradientMatch.cpp - Which contraction is which gradient ------------===//

#include "Gradients/GradientCheck.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

static int64_t numElements(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
}

static Operation *findPairsOf(Operation *scores, Operation *forward,
                              ArrayRef<Value> values) {
  llvm::SetVector<Operation *> open;
  Operation *found = nullptr;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == scores->getBlock())
      open.insert(op);
  };
  llvm::for_each(values, visit);
  for (size_t i = 0; i < open.size(); ++i) {
    Operation *op = open[i];
    if (!contracts(op)) {
      llvm::for_each(op->getOperands(), visit);
      continue;
    }
    bool isPairs = numElements(op) == numElements(scores);
    if (op == scores || op == forward || op == found || !isPairs)
      continue;
    if (found)
      return nullptr;
    found = op;
  }
  return found;
}

Operation *mlir::sp::findPairs(Operation *scores, Operation *forward,
                               const PairProducts &products) {
  return findPairsOf(
      scores, forward,
      llvm::map_to_vector(products, [](const auto &end) -> Value {
        return end.first->getOperand(1 - end.second);
      }));
}

GradientMatcher::GradientMatcher(const AttentionMatch &match,
                                 PairProducts products,
                                 const ScoreFunction &function)
    : match(match), component(*match.component),
      scores(component.scoresNode()->op), products(std::move(products)),
      forward(operationsOf(match)),
      hasSink(match.score && !findSinks(component, match.axes.key).empty()),
      hasFunction(bool(function.function)), terms(function.terms) {
  Role roles[3] = {match.axes.queryRole, match.axes.keyRole, Role::Value};
  for (unsigned i = 0; i < 3; ++i) {
    roots[i] = component.chain(roles[i]).links.back();
    component.nodes.keepWhole(roots[i].value);
  }
}

LogicalResult GradientMatcher::refuse(const Twine &reason, Location location) {
  if (!refusal)
    refusal = {reason.str(), location};
  return failure();
}

/// Whether a value is a form of the result.
static bool isForm(const AttentionMatch &match, Value value) {
  return llvm::any_of(match.results, [&](const SourceChain::Link &result) {
    return result.value == value;
  });
}

/// A multiple of the result, as of a square loss, is a value of its own.
static void stopAtMultiples(const AttentionMatch &match) {
  for (const SourceChain::Link &result : match.results)
    for (Operation *user : result.value.getUsers())
      if (isa<stablehlo::MulOp, stablehlo::DivOp>(user) &&
          !isForm(match, user->getResult(0)) &&
          llvm::any_of(user->getOperands(), [&](Value factor) {
            return factor.getDefiningOp<stablehlo::BroadcastInDimOp>() &&
                   !isForm(match, factor);
          }))
        match.component->nodes.stopAt(user->getResult(0));
}

/// Finds dP where no contraction is made of it, but a term's gradient may be.
void GradientMatcher::findPairsOfTerms() {
  SmallVector<Value> readers;
  Operation *end = match.results.back().value.getDefiningOp();
  for (Operation &op : *scores->getBlock()) {
    bool isReader = llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *from = operand.getDefiningOp();
      return from != end && forward.contains(from);
    });
    if (isReader && !forward.contains(&op) && !contracts(&op))
      llvm::append_range(readers, op.getResults());
  }
  pairs = findPairsOf(scores, match.product, readers);
  Component::Snapshot before = component.save();
  if (!pairs || succeeded(readPairs()))
    return;
  component.restore(before);
  refusal.reset();
  pairs = nullptr;
}

/// What dP is made of: the values and the cotangent, which is a leaf wherever
/// it is met.
LogicalResult GradientMatcher::readPairs() {
  component.addPairs(pairs);
  auto request = [&]() -> LogicalResult {
    if (component.request(pairs->getResult(0)))
      return success();
    refusal = component.nodes.refusal();
    return failure();
  };
  if (failed(request()))
    return failure();
  const Anchor &anchor = *component.anchor(pairs);
  Value values = roots[unsigned(Gradient::Value)].value;
  auto isOfValues = [&](unsigned operand) {
    return anchor.chains[operand].links.back().value == values;
  };
  if (isOfValues(0) == isOfValues(1))
    return refuse("its second contraction to pairs is not of a cotangent and "
                  "the attention's values",
                  pairs->getLoc());
  cotangentOperand = isOfValues(0) ? 1 : 0;
  component.keepAxes(pairs, cotangentOperand);
  if (failed(request()))
    return failure();
  Value root = anchor.chains[cotangentOperand].links.back().value;
  if (isForm(match, root))
    return refuse("its cotangent is its own result", pairs->getLoc());
  component.nodes.stopAt(root);
  return success();
}

/// Whether the cotangent is known, and dP sums over the axes of values.
bool GradientMatcher::arePairsTied() const {
  const AxisLabels &labels = component.labels;
  Axes bound = labels.resolve(component.anchor(pairs)->bound),
       values = labels.resolve(match.axes.value);
  return cotangent && std::is_permutation(bound.begin(), bound.end(),
                                          values.begin(), values.end());
}

/// Gives the values in dP the axes that they have in the forward.
LogicalResult GradientMatcher::tiePairs() {
  const Anchor &anchor = *component.anchor(pairs);
  if (!anchor.node)
    return success();
  const SourceChain::Link &values =
      anchor.chains[1 - cotangentOperand].links.back();
  if (failed(component.labels.unify(
          flatten(values.labels),
          flatten(roots[unsigned(Gradient::Value)].labels))))
    return refuse("its second contraction to pairs has other axes than the "
                  "attention's values",
                  pairs->getLoc());
  const SourceChain &chain = anchor.chains[cotangentOperand];
  if (cotangent && cotangent->value != chain.links.back().value)
    return refuse("its second contraction to pairs is of another cotangent",
                  pairs->getLoc());
  gradients.cotangent = chain;
  cotangent = chain.links.back();
  return success();
}

std::optional<Gradient> GradientMatcher::kindOf(const Anchor &product) const {
  Axes bound = component.labels.resolve(product.bound);
  if (llvm::is_contained(bound, match.axes.key))
    return Gradient::Query;
  if (!llvm::is_contained(bound, *match.axes.query))
    return std::nullopt;
  const Anchor *anchor = component.anchor(pairs);
  return anchor && anchor->node ? Gradient::Key : Gradient::Value;
}

/// The factor of a gradient is the root of keys, queries or the cotangent.
LogicalResult GradientMatcher::tieLeaf(const Anchor &product,
                                       unsigned leafOperand, Gradient kind) {
  AxisLabels &labels = component.labels;
  if (kind == Gradient::Value && !cotangent) {
    // Nothing else tells which axes of it are those of values.
    gradients.cotangent = product.chains[leafOperand];
    cotangent = gradients.cotangent.links.back();
    if (isForm(match, cotangent->value))
      return refuse("its cotangent is its own result", product.op->getLoc());
    Axes columns, shared = labels.resolve(
                      flatten(component.leaf(match.axes.queryRole)->labels));
    for (AxisId axis : labels.resolve(flatten(cotangent->labels)))
      if (!llvm::is_contained(shared, axis))
        columns.push_back(axis);
    if (failed(labels.unify(columns, match.axes.value)))
      return refuse("its cotangent has other axes than its values",
                    product.op->getLoc());
  }
  const SourceChain::Link &known =
      kind == Gradient::Query ? roots[unsigned(Gradient::Key)]
      : kind == Gradient::Key ? roots[unsigned(Gradient::Query)]
                              : *cotangent;
  const SourceChain::Link &root = product.chains[leafOperand].links.back();
  if (root.value != known.value)
    return refuse("a contraction of its pairs has another factor than queries, "
                  "keys and cotangents",
                  product.op->getLoc());
  if (failed(
          component.labels.unify(flatten(root.labels), flatten(known.labels))))
    return refuse("a contraction of its pairs has other axes than its gradient",
                  product.op->getLoc());
  return success();
}

Value GradientMatcher::findCut() const {
  const AxisLabels &labels = component.labels;
  Axes sequence = labels.resolve({*match.axes.query});
  auto isCut = [&](const Node *node) {
    return llvm::count_if(node->labels, [&](const Axes &dim) {
             return llvm::any_of(labels.resolve(dim), [&](AxisId axis) {
               return llvm::is_contained(sequence, axis);
             });
           }) > 1;
  };
  for (const std::unique_ptr<Node> &node : component.nodes.all())
    if (isa_and_nonnull<stablehlo::ReshapeOp>(node->op) && !isCut(node.get()) &&
        isCut(node->operands[0]))
      return node->value;
  return Value();
}

LogicalResult GradientMatcher::matchProduct(Operation *product,
                                            unsigned leafOperand) {
  auto request = [&]() -> LogicalResult {
    if (requestForm(match, product->getResult(0)))
      return success();
    if (!refusal)
      refusal = component.nodes.refusal();
    return failure();
  };
  for (bool isTied : {false, true}) {
    if (failed(request()))
      return failure();
    const Anchor &anchor = *component.anchor(product);
    if (!isWhole(match)) {
      beforeCut = beforeCut ? beforeCut : findCut();
      return refuse("a contraction of its pairs reads a part of them",
                    product->getLoc());
    }
    std::optional<Gradient> kind = kindOf(anchor);
    if (!kind)
      return refuse("a contraction of its pairs sums over neither queries nor "
                    "keys",
                    product->getLoc());
    if (*kind == Gradient::Value && !cotangent) {
      component.keepAxes(product, leafOperand);
      if (failed(request()))
        return failure();
    }
    if (isTied)
      return matchForms(product, leafOperand, *kind);
    if ((pairs && failed(tiePairs())) ||
        failed(tieLeaf(anchor, leafOperand, *kind)))
      return failure();
  }
  return success();
}

/// Gradients are made where the result and its cotangent are there.
LogicalResult GradientMatcher::findPlace() {
  gradients.after = match.product;
  Operation *root = cotangent->value.getDefiningOp();
  if (root && root->getBlock() == match.product->getBlock() &&
      match.product->isBeforeInBlock(root))
    gradients.after = root;
  for (const GradientMatch::Result &result : gradients.results)
    for (Operation *user : result.value.getUsers())
      if (Operation *own =
              match.product->getBlock()->findAncestorOpInBlock(*user);
          own && !gradients.after->isBeforeInBlock(own))
        return refuse("a gradient is read before its attention is there",
                      user->getLoc());
  return success();
}

/// What the logarithms of sums add is added to slopes of exponents, not to a
/// multiple of them.
LogicalResult GradientMatcher::checkLogSumExps() {
  auto isOwn = [&](AddLogSumExpGradientOp sum) {
    Component::Snapshot before = component.save();
    const Node *node = requestForm(match, sum.getGradient());
    std::optional<Exponential> exponential =
        match.score ? findExponential(component, match.axes.key) : std::nullopt;
    const Node *by =
        exponential ? exponential->exponent() : component.scoresNode();
    std::optional<double> factor;
    if (node && by && pairs && component.anchor(pairs)->node)
      factor = gradientFactor(match, node, Gradient::Term, by,
                              component.anchor(pairs), cotangentOperand);
    component.restore(before);
    return factor && std::fabs(*factor - 1) < sameFactor;
  };
  for (Operation *op : gradients.operations)
    if (auto sum = dyn_cast<AddLogSumExpGradientOp>(op); sum && !isOwn(sum))
      return refuse("the gradient of logarithms of its sums is added to a "
                    "multiple of the gradients of its exponents",
                    op->getLoc());
  return success();
}

std::optional<GradientMatch> GradientMatcher::run() {
  Location location = match.product->getLoc();
  if (!match.axes.query) {
    (void)refuse("its gradients meet a single query", location);
    return std::nullopt;
  }
  pairs = findPairs(scores, match.product, products);
  std::optional<double> emptySlope =
      slopeOfEmptyRows(match, component.scoresNode());
  if (!emptySlope) {
    hidesGradients = true;
    (void)refuse("its mask is added to some of the scores that bands hide, "
                 "which gives these gradients in rows without a visible key",
                 location);
    return std::nullopt;
  }
  gradients.emptySlope = *emptySlope;
  stopAtMultiples(match);
  if (pairs && failed(readPairs()))
    return std::nullopt;
  if (!pairs && !terms.empty())
    findPairsOfTerms();
  // With a norm after the product, dP is reached from its sums.
  llvm::erase_if(products, [&](const auto &end) { return end.first == pairs; });
  for (auto [product, leaf] : products)
    component.addProduct(product, leaf);
  // Those made of dP first: they tell what the cotangent is. Whatever is no
  // gradient may have to do with the result only.
  for (bool isMadeOfPairs : {true, false})
    for (const auto &end : products) {
      if (bool(findPairs(scores, match.product, {end})) != isMadeOfPairs)
        continue;
      Component::Snapshot before = component.save();
      if (failed(matchProduct(end.first, end.second)))
        component.restore(before);
    }
  if (!gradients.results.empty() || !terms.empty())
    matchReaders();
  if (gradients.results.empty() || failed(findPlace()) ||
      failed(checkLogSumExps()))
    return std::nullopt;
  for (const GradientMatch::Result &result : gradients.results)
    for (const GradientMatch::Result &other : gradients.results)
      if (&other < &result && other.of == result.of &&
          result.of < Gradient::Sink) {
        (void)refuse("it has two gradients of the same operand",
                     result.value.getLoc());
        return std::nullopt;
      }
  return std::move(gradients);
}

GradientSearch mlir::sp::findGradients(const AttentionMatch &match,
                                       const PairProducts &products,
                                       const ScoreFunction &function) {
  Component::Snapshot before = match.component->save();
  while (true) {
    GradientMatcher matcher(match, products, function);
    std::optional<GradientMatch> gradients = matcher.run();
    if (!matcher.beforeCut)
      return {std::move(gradients), matcher.refusal, matcher.hidesGradients};
    match.component->restore(before);
    match.component->nodes.stopAt(matcher.beforeCut);
    requestForm(match, match.results.back().value);
  }
}
