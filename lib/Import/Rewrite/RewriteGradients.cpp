//===- RewriteGradients.cpp - sp.attention_backward in place of products --===//

#include "Rewrite/Rewrite.h"

#include "Expression/Rearranger.h"
#include "Rewrite/EmptyRows.h"
#include "Rewrite/LogSumExp.h"
#include "Rewrite/RowTerms.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static Value scaled(OpBuilder &builder, Location location, Value value,
                    double factor) {
  if (std::fabs(factor - 1) < sameFactor)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value number = stablehlo::ConstantOp::create(
      builder, location,
      DenseElementsAttr::get(scalar, Attribute(builder.getFloatAttr(
                                         type.getElementType(), factor))));
  number = stablehlo::BroadcastInDimOp::create(builder, location, type, number,
                                               ArrayRef<int64_t>());
  return stablehlo::MulOp::create(builder, location, type, value, number);
}

/// The forms of the cotangent that are there where gradients are made.
static SourceChain formsBefore(const SourceChain &chain, Operation *end) {
  SourceChain kept;
  for (const SourceChain::Link &link : chain.links) {
    Operation *op = link.value.getDefiningOp();
    bool isBefore = !op || op == end || op->getBlock() != end->getBlock() ||
                    op->isBeforeInBlock(end);
    if (isBefore)
      kept.links.push_back(link);
  }
  return kept;
}

/// The axes of a gradient of a term.
static Labels formOf(const AttentionMatch &match, ArrayRef<AxisId> heads,
                     const TermSum &sum) {
  const AttentionAxes &axes = match.axes;
  return {axes.batch, sum.perQuery ? Axes{*axes.query} : Axes(),
          Axes(heads.begin(), heads.end()),
          sum.perKey ? Axes{axes.key} : Axes()};
}

/// Sums over the axes that nobody wants, and leaves one dimension an axis of
/// the others: `form` becomes those.
static Value sumOthers(OpBuilder &builder, Rearranger &rearranger, Value value,
                       const AxisLabels &labels, Labels &form,
                       ArrayRef<Axes> to) {
  Axes want = labels.resolve(flatten(to));
  Labels single, kept;
  SmallVector<int64_t> others;
  for (AxisId axis : labels.resolve(flatten(form))) {
    if (llvm::is_contained(want, axis))
      kept.push_back({axis});
    else
      others.push_back(single.size());
    single.push_back({axis});
  }
  if (others.empty())
    return value;
  form = kept;
  value = rearranger.reshape(value, rearranger.shapeOf(single));
  return sumOver(builder, value.getLoc(), value, others);
}

void mlir::sp::replaceGradients(const AttentionMatch &match,
                                const GradientMatch &gradients,
                                AttentionOp attention, func::FuncOp score) {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  OpBuilder builder(attention.getContext());
  builder.setInsertionPointAfter(gradients.after);
  Location location = gradients.results.front().value.getLoc();
  Rearranger rearranger(builder, location, labels);

  Axes heads = axes.sharedHeads, query = {*axes.query}, key = {axes.key};
  llvm::append_range(heads, axes.groups);
  Type element = attention.getResult().getType().getElementType();
  Value cotangent = takeSource(
      rearranger, labels, formsBefore(gradients.cotangent, gradients.after),
      Labels{axes.batch, query, heads, axes.value}, element);
  Labels forms[3] = {{axes.batch, query, heads, axes.feature},
                     {axes.batch, key, axes.sharedHeads, axes.feature},
                     {axes.batch, key, axes.sharedHeads, axes.value}};
  Value operands[3] = {attention.getQuery(), attention.getKey(),
                       attention.getValue()};
  // Where rows without a visible key add their part.
  auto isPart = [&](Gradient of) {
    return match.hasPartOfEmptyRows() &&
           (of == Gradient::Value ||
            (of < Gradient::Value && gradients.emptySlope != 0));
  };
  SmallVector<Type> types(3);
  for (unsigned i = 0; i < 3; ++i) {
    bool isWhole = !isPart(Gradient(i));
    Type own = isWhole ? element : elementOf(attention.getLse());
    // Sums in f32 are rounded by nobody but the program.
    for (const GradientMatch::Result &result : gradients.results)
      if (unsigned(result.of) == i && isWhole)
        own = elementOf(result.value);
    types[i] = cast<RankedTensorType>(operands[i].getType()).clone(own);
  }
  FlatSymbolRefAttr symbol;
  if (score)
    symbol = FlatSymbolRefAttr::get(score);
  SmallVector<TermSum> sums = gradients.sums();
  for (const TermSum &sum : sums)
    types.push_back(
        RankedTensorType::get(rearranger.shapeOf(formOf(match, heads, sum)),
                              elementOf(attention.getLse())));
  PairScores scores = {toAttr(builder.getContext(), match.bands),
                       attention.getScaleAttr(), symbol,
                       attention.getNameAttr()};
  auto backward = AttentionBackwardOp::create(
      builder, location, types, operands, attention, cotangent,
      cotangentOfSums(builder, match, gradients, elementOf(attention.getLse())),
      scores);
  std::optional<EmptyRowGradients> rows;
  if (isPart(Gradient::Value))
    rows.emplace(builder, location, attention, cotangent,
                 match.rowsWithoutKeys());
  double slope = gradients.emptySlope * match.scale;
  auto add = [&](Value a, Value b) -> Value {
    return stablehlo::AddOp::create(builder, location, a, b);
  };
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  for (const GradientMatch::Result &result : gradients.results) {
    Value value;
    Labels form;
    if (result.of == Gradient::Sink) {
      value = gradientOfSinks(builder, location, attention, cotangent);
      form = {axes.batch, query, heads};
      value =
          sumOthers(builder, rearranger, value, labels, form, result.labels);
    } else if (result.of == Gradient::Term) {
      form = formOf(match, heads, result.sum);
      value = backward.getDTerms()[llvm::find(sums, result.sum) - sums.begin()];
      if (result.hasEmptyRows)
        value =
            add(value, rows->notNumbers(shapeOf(value), result.sum.perQuery));
      value =
          sumOthers(builder, rearranger, value, labels, form, result.labels);
    } else {
      value = backward->getResult(unsigned(result.of));
      form = forms[unsigned(result.of)];
      if (isPart(result.of))
        value = add(value, result.of == Gradient::Query ? rows->ofQueries(slope)
                           : result.of == Gradient::Key ? rows->ofKeys(slope)
                                                        : rows->ofValues());
    }
    value = rearranger.convert(value, elementOf(result.value));
    value = rearranger.rearrange(value, form, result.labels);
    value = scaled(builder, location, value, result.factor);
    Value replaced = result.value;
    replaced.replaceAllUsesWith(value);
  }
}
