//===- RewriteGradients.cpp - sp.attention_backward in place of products --===//

#include "Gradient.h"
#include "Rearranger.h"
#include "RowTerms.h"

#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::sp;

static Value scaled(OpBuilder &builder, Location location, Value value,
                    double factor) {
  if (std::fabs(factor - 1) < 1e-12)
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
  bool hasMeans = score && match.empty == EmptyRow::Mean;
  Type types[3];
  for (unsigned i = 0; i < 3; ++i) {
    // A part more is added to those of values.
    bool isWhole = i != unsigned(Gradient::Value) || !hasMeans;
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
  auto backward = AttentionBackwardOp::create(
      builder, location, types[0], types[1], types[2], TypeRange(), operands[0],
      operands[1], operands[2], attention.getResult(), attention.getLse(),
      cotangent, attention.getPerQuery(), attention.getPerKey(),
      attention.getPerHead(), attention.getPair(), attention.getTable(),
      attention.getBands(), attention.getScaleAttr(), symbol,
      attention.getNameAttr(), PlanAttr());
  Labels rows = {axes.batch, query, heads};
  for (const GradientMatch::Result &result : gradients.results) {
    unsigned number = unsigned(result.of);
    bool isOfSink = result.of == Gradient::Sink;
    Value value = isOfSink
                      ? gradientOfSinks(builder, location, attention, cotangent)
                      : backward->getResult(number);
    if (hasMeans && result.of == Gradient::Value) {
      Value means =
          gradientOfMeans(builder, location, attention.getLse(), cotangent,
                          cast<RankedTensorType>(value.getType()).getShape());
      value = stablehlo::AddOp::create(builder, location, value, means);
      value = rearranger.convert(value, elementOf(result.value));
    }
    if (isOfSink)
      value = rearranger.convert(value, elementOf(result.value));
    value = rearranger.rearrange(value, isOfSink ? rows : forms[number],
                                 result.labels);
    value = scaled(builder, location, value, result.factor);
    Value replaced = result.value;
    replaced.replaceAllUsesWith(value);
  }
}
