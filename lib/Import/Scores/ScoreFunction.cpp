//===- ScoreFunction.cpp - What becomes of a score, pair by pair ----------===//
//
//   select(and(i >= j, segment(i) == segment(j)), 0.125 * s, -inf)
//
// becomes, where bands show i >= j,
//
//   func.func private @score_0(%s: tensor<f32>, %head, %query, %key,
//                              %a: tensor<i32>, %b: tensor<i32>) {
//     %0 = compare EQ, %a, %b
//     %1 = multiply %s, 0.125
//     %2 = select %0, %1, -inf
//
// What depends on one of query, key and head stays outside, as a term; so does
// what depends on pairs in a way that is not element by element.
//
//===----------------------------------------------------------------------===//

#include "Scores/ScoreBuilder.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Whether something in it is no arithmetic on positions and numbers.
bool ScoreBuilder::readsData(const Node *node) {
  auto [entry, isNew] = dataful.try_emplace(node, true);
  if (!isNew)
    return entry->second;
  bool reads = node->role != Role::None || !node->bound.empty() ||
               isa_and_nonnull<stablehlo::GatherOp>(node->op);
  if (isa_and_nonnull<stablehlo::ConstantOp>(node->op))
    reads = !isUniform(node->value);
  for (const Node *operand : node->operands)
    reads = readsData(operand) || reads;
  return dataful[node] = reads;
}

Value ScoreBuilder::addArgument(ScoreTerm term, Type type) {
  for (auto &[known, argument] : terms)
    if (known.kind == term.kind && known.value == term.value &&
        labels.resolveDims(known.labels) == labels.resolveDims(term.labels))
      return argument;
  Value argument = block->addArgument(type, location);
  terms.push_back({std::move(term), argument});
  return argument;
}

std::optional<Element> ScoreBuilder::addTerm(const Node *node,
                                             ScoreTerm::Kind kind) {
  for (AxisId axis : labels.resolve(flatten(node->labels)))
    if (labels.derivation(axis))
      return std::nullopt;
  return Element{addArgument({kind, node->value, node->labels},
                             scalar(node->elementType())),
                 0};
}

std::optional<Element> ScoreBuilder::emitInput(const Node *node) {
  Axes over = labels.resolve(flatten(node->labels));
  bool hasKey = llvm::is_contained(over, match.axes.key);
  bool hasQuery =
      match.axes.query && llvm::is_contained(over, *match.axes.query);
  Axes heads = labels.resolve(match.axes.sharedHeads);
  llvm::append_range(heads, labels.resolve(match.axes.groups));
  bool hasHead = llvm::any_of(
      over, [&](AxisId axis) { return llvm::is_contained(heads, axis); });
  if ((over.empty() || isUniform(node->value)) && countTable(node) != 0) {
    SampleEvaluator evaluator(labels, 0);
    const Samples *samples = evaluator.evaluate(node);
    if (!samples)
      return std::nullopt;
    return Element{Value(), samples->data[0]};
  }
  if (!readsData(node))
    return emitOperation(node);
  bool isPair = hasKey + hasQuery + hasHead > 1;
  if (!isPair && hasKey)
    return addTerm(node, ScoreTerm::Kind::PerKey);
  if (!isPair && hasQuery)
    return addTerm(node, ScoreTerm::Kind::PerQuery);
  if (!isPair)
    return addTerm(node, ScoreTerm::Kind::PerHead);
  bool isPointwise =
      node->op && (isElementwise(node->op) || isIdentity(node->op) ||
                   isLayout(node->op) || isa<stablehlo::GatherOp>(node->op));
  if (isPointwise)
    if (MaybeElement inside = emitOperation(node))
      return inside;
  return addTerm(node, ScoreTerm::Kind::Pair);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

bool mlir::sp::isSameFunction(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// Arguments in the order of their kinds, without those that are not read.
func::FuncOp ScoreBuilder::finish(ModuleOp module, ArrayRef<Value> results) {
  func::ReturnOp::create(builder, location, results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  llvm::erase_if(terms,
                 [](const auto &term) { return term.second.use_empty(); });
  SmallVector<std::pair<ScoreTerm, Value>> byKind;
  for (TermKind kind : {TermKind::PerQuery, TermKind::PerKey, TermKind::PerHead,
                        TermKind::Pair, TermKind::Table})
    for (auto &term : terms)
      if (term.first.kind == kind)
        byKind.push_back(term);
  terms = std::move(byKind);
  SmallVector<Value> order = {score, head, query, key};
  for (const auto &[term, argument] : terms)
    order.push_back(argument);
  SmallVector<Type> inputs = llvm::to_vector(ValueRange(order).getTypes());
  auto function = func::FuncOp::create(
      location, "score",
      builder.getFunctionType(inputs, ValueRange(results).getTypes()));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  for (auto [from, to] : llvm::zip_equal(order, entry->getArguments()))
    from.replaceAllUsesWith(to);
  entry->getOperations().splice(entry->end(), block->getOperations());
  for (func::FuncOp other : module.getOps<func::FuncOp>()) {
    if (!other.getName().starts_with("score_"))
      continue;
    if (isSameFunction(other, function)) {
      function.erase();
      return other;
    }
  }
  // A mesh of the model may have the name.
  unsigned number = 0;
  std::string name;
  do
    name = "score_" + std::to_string(number++);
  while (module.lookupSymbol(name));
  function.setName(name);
  module.push_back(function);
  return function;
}

/// The number that `score` is multiplied by to become `exponent`, if that is
/// all.
static std::optional<double> factorOf(Value exponent, Value score) {
  if (exponent == score)
    return 1.0;
  Operation *op = exponent.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op))
    return std::nullopt;
  bool isQuotient = isa<stablehlo::DivOp>(op);
  for (unsigned index : {1U, 0U}) {
    auto constant =
        op->getOperand(index).getDefiningOp<stablehlo::ConstantOp>();
    std::optional<double> inner =
        constant ? factorOf(op->getOperand(1 - index), score) : std::nullopt;
    if (!inner || (isQuotient && index == 0))
      continue;
    double number = cast<DenseElementsAttr>(constant.getValue())
                        .getSplatValue<APFloat>()
                        .convertToDouble();
    return isQuotient ? *inner / number : *inner * number;
  }
  return std::nullopt;
}

std::optional<ScoreFunction> ScoreBuilder::build() {
  builder.setInsertionPointToStart(block.get());
  score = block->addArgument(scalar(element), location);
  for (Value *index : {&head, &query, &key})
    *index = block->addArgument(scalar(builder.getI32Type()), location);
  std::optional<Exponential> exponential =
      findExponential(component, match.axes.key);
  MaybeElement exponent = emit(exponential->exponent());
  if (!exponent)
    return std::nullopt;
  SmallVector<Value> results = {materialise(*exponent, element)};
  if (match.score->weights != ScoreAnalysis::Weights::None) {
    made.clear();
    one = exponential->node;
    MaybeElement weight = emit(component.weights());
    if (!weight)
      return std::nullopt;
    results.push_back(materialise(*weight, element));
  }
  double infinity = std::numeric_limits<double>::infinity();
  auto hideWhere = [&](Value made, stablehlo::ComparisonDirection direction,
                       double bound) {
    Value isHidden = stablehlo::CompareOp::create(
        builder, location, made, number(element, bound), direction);
    results[0] =
        select(isHidden, {Value(), -infinity}, {results[0], 0}, element).value;
  };
  using Direction = stablehlo::ComparisonDirection;
  if (match.score->weights == ScoreAnalysis::Weights::Hide) {
    hideWhere(results[1], Direction::EQ, 0.0);
    results.pop_back();
  }
  if (match.score->hidesUpTo != -infinity)
    hideWhere(results[0], Direction::LE, match.score->hidesUpTo);
  ScoreFunction function;
  std::optional<double> factor =
      results.size() == 1 ? factorOf(results[0], score) : std::nullopt;
  if (factor) {
    function.factor = *factor;
    return function;
  }
  function.function =
      finish(match.product->getParentOfType<ModuleOp>(), results);
  for (const auto &[term, argument] : terms)
    function.terms.push_back(term);
  return function;
}

std::optional<ScoreFunction>
mlir::sp::buildScoreFunction(const AttentionMatch &match, Type element) {
  return ScoreBuilder(match, element).build();
}
