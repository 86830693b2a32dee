//===- Rewrite.cpp - sp.attention in place of a match ---------------------===//

#include "Rewrite/Rewrite.h"

#include "Expression/Rearranger.h"
#include "Rewrite/EmptyRows.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sp;

/// The element type attention runs in: the one that queries, keys and values
/// have in common before they are widened, if a form of the result has it too;
/// otherwise the widest of all.
Type mlir::sp::chooseElement(const AttentionMatch &match) {
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
                           bool isScored, int64_t queries, int64_t keys) {
  if (match.empty == EmptyRow::Mean && !isScored)
    return toAttr(context, match.bands.withUniformRows(queries, keys));
  return toAttr(context, match.bands);
}

namespace {
/// Operands that a score function asks for.
struct ScoreOperands {
  FlatSymbolRefAttr function;
  AttentionTerms terms;
  Value sink, mean;
};
} // namespace

/// Lays out what a score function reads.
static ScoreOperands layOutTerms(const AttentionMatch &match,
                                 const ScoreFunction &function,
                                 Rearranger &rearranger, ArrayRef<AxisId> query,
                                 ArrayRef<AxisId> heads) {
  const AttentionAxes &axes = match.axes;
  const AxisLabels &labels = match.component->labels;
  ScoreOperands operands;
  if (func::FuncOp score = function.function)
    operands.function = FlatSymbolRefAttr::get(score);
  for (const ScoreTerm &term : function.terms) {
    Axes over = labels.resolve(flatten(term.labels));
    // One element serves a product of axes of which the term has none.
    auto ifAny = [&](ArrayRef<AxisId> dim) {
      bool has = llvm::any_of(labels.resolve(dim), [&](AxisId axis) {
        return llvm::is_contained(over, axis);
      });
      return has ? Axes(dim.begin(), dim.end()) : Axes();
    };
    Axes key = {axes.key};
    auto arrange = [&](ArrayRef<Axes> dims) {
      return rearranger.rearrange(term.value, term.labels, dims);
    };
    auto laidOut = [&]() -> Value {
      switch (term.kind) {
      case TermKind::PerQuery:
        return arrange({ifAny(axes.batch), ifAny(query), {}, {}});
      case TermKind::PerKey:
        return arrange({ifAny(axes.batch), key, {}, {}});
      case TermKind::PerHead:
        return arrange({ifAny(axes.batch), {}, ifAny(heads), {}});
      case TermKind::Pair:
        return arrange(
            {ifAny(axes.batch), ifAny(heads), ifAny(query), ifAny(key)});
      case TermKind::Table: {
        auto type = cast<RankedTensorType>(term.value.getType());
        int64_t rows = type.getDimSize(0);
        return rearranger.reshape(term.value,
                                  {rows, type.getNumElements() / rows});
      }
      }
    };
    operands.terms.add(term.kind, laidOut());
  }
  return operands;
}

AttentionOp mlir::sp::replaceAttention(const AttentionMatch &match,
                                       StringRef name,
                                       const ScoreFunction &function,
                                       bool leavesSums) {
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
    operands[i] =
        takeSource(rearranger, labels, match.component->chain(roles[i]),
                   forms[i], element);
  }

  Labels result = {axes.batch, query, heads, axes.value};
  SmallVector<int64_t> shape = rearranger.shapeOf(result);
  int64_t queries = shape[1], keys = rearranger.product(key);
  Empty empty = match.empty == EmptyRow::Zero   ? Empty::Zero
                : match.empty == EmptyRow::Mean ? Empty::Mean
                                                : Empty::Nan;
  Type computed = element.isF64() ? element : builder.getF32Type();
  ScoreOperands score;
  if (match.score) {
    score = layOutTerms(match, function, rearranger, query, heads);
    if (empty == Empty::Mean && score.function)
      score.mean =
          meanOfValues(builder, location, operands[2], shape[2], computed);
    SmallVector<Sink> sinks = findSinks(*match.component, axes.key);
    if (!sinks.empty()) {
      Value sink = rearranger.convert(sinks[0].node->value, computed);
      if (sinks[0].isPower)
        sink = stablehlo::LogOp::create(builder, location, sink);
      score.sink = rearranger.rearrange(sink, sinks[0].node->labels, {heads});
    }
  }
  Type lse;
  if (leavesSums) {
    SmallVector<int64_t> lseShape(ArrayRef(shape).drop_back());
    if (score.function)
      lseShape.push_back(2);
    lse = RankedTensorType::get(lseShape, computed);
  }
  PairScores scores = {bandsAttr(builder.getContext(), match,
                                 bool(score.function), queries, keys),
                       builder.getF64FloatAttr(match.scale * function.factor),
                       score.function, builder.getStringAttr(name)};
  auto attention = AttentionOp::create(
      builder, location, RankedTensorType::get(shape, element), lse, operands,
      score.terms, score.sink, score.mean, empty, scores);

  const SourceChain::Link *target =
      chooseTarget(labels, match, result, shape, element);
  Value value = attention.getResult();
  value = rearranger.rearrange(value, result, target->labels);
  value = rearranger.convert(value, elementOf(target->value));
  Value replaced = target->value;
  replaced.replaceAllUsesWith(value);
  return attention;
}
