//===- LogSumExp.cpp - lse where the program reads it ---------------------===//
//
//   %l = sp.log_sum_exp %s along 3        %o, %lse = sp.attention(%q, %k, %v)
//   ... attention with scores %s    ->    %l = %lse, in the order of %s
//
//===----------------------------------------------------------------------===//

#include "Rewrite/LogSumExp.h"

#include "Rewrite/RowTerms.h"
#include "Samples/Readings.h"

#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

static bool isScored(const Node &node) { return node.scored && node.op; }

SmallVector<LogSumExpOp> mlir::sp::logSumExpsOf(const AttentionMatch &match) {
  llvm::SmallSetVector<LogSumExpOp, 2> found;
  for (const auto &node : match.component->nodes.all())
    if (isScored(*node))
      for (Operation *user : node->value.getUsers())
        if (auto op = dyn_cast<LogSumExpOp>(user); op && !op->use_empty())
          found.insert(op);
  return found.takeVector();
}

/// Whether weights are the exponentials of these scores divided by their sums,
/// with nothing between and nothing beside them.
static bool isSoftmaxOf(const AttentionMatch &match, LogSumExpOp op) {
  // Of exponents, too, only such shifts are left out.
  Readings readings(*match.component, match.axes.key, {});
  for (const auto &node : match.component->nodes.all()) {
    if (!isScored(*node))
      continue;
    if (isa<stablehlo::ExpOp>(node->op)) {
      const Node *scores = node->operands[0];
      if (readings.isShifted(scores))
        scores = scores->operands[0];
      if (node->value.getType() != op.getScores().getType() ||
          scores->value != op.getScores())
        return false;
    }
    if (!reducesBy<stablehlo::AddOp>(node->op))
      continue;
    Value summed = node->op->getOperand(0);
    while (auto convert = summed.getDefiningOp<stablehlo::ConvertOp>())
      summed = convert.getOperand();
    if (!summed.getDefiningOp<stablehlo::ExpOp>())
      return false;
  }
  return true;
}

/// Whether what is made of `from` leads to an operand of the match.
static bool feeds(Operation *from, const AttentionMatch &match) {
  llvm::SetVector<Operation *> open;
  open.insert(from);
  for (size_t i = 0; i < open.size(); ++i)
    for (Operation *user : open[i]->getUsers()) {
      Operation *own = from->getBlock()->findAncestorOpInBlock(*user);
      if (own == match.product)
        return true;
      if (own)
        open.insert(own);
    }
  return false;
}

static SmallVector<AddLogSumExpGradientOp>
gradientsOf(const GradientMatch &gradients) {
  SmallVector<AddLogSumExpGradientOp> found;
  for (Operation *op : gradients.operations)
    if (auto sum = dyn_cast<AddLogSumExpGradientOp>(op))
      found.push_back(sum);
  llvm::sort(found,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return found;
}

/// The axes of what a value of pairs has, without those of its keys.
static std::optional<Labels> rowsOf(const AttentionMatch &match, Value scores,
                                    int64_t dim) {
  const AxisLabels &labels = match.component->labels;
  for (const auto &node : match.component->nodes.all())
    if (node->value == scores && node->scored) {
      Labels rows = labels.resolveDims(node->labels);
      if (rows[dim] != Axes{match.axes.key})
        return std::nullopt;
      rows.erase(rows.begin() + dim);
      return rows;
    }
  return std::nullopt;
}

static Labels canonicalRows(const AttentionMatch &match) {
  const AttentionAxes &axes = match.axes;
  Axes heads = axes.sharedHeads, query;
  llvm::append_range(heads, axes.groups);
  if (axes.query)
    query = {*axes.query};
  return {axes.batch, query, heads};
}

std::optional<Refusal>
mlir::sp::refuseLogSumExps(const AttentionMatch &match,
                           const std::optional<GradientMatch> &gradients) {
  auto fail = [](Operation *op, StringRef reason) {
    return Refusal{reason.str(), op->getLoc()};
  };
  for (LogSumExpOp op : logSumExpsOf(match)) {
    bool isSame =
        isSoftmaxOf(match, op) && rowsOf(match, op.getScores(), op.getDim());
    if (!isSame ||
        (match.score && !findSinks(*match.component, match.axes.key).empty()))
      return fail(op, "the logarithms of sums that are read are not those of "
                      "its weights");
    if (match.empty == EmptyRow::Mean)
      return fail(op, "logarithms of sums are read, and of rows without a "
                      "visible key those of a finite fill");
    if (feeds(op, match))
      return fail(op, "its operands depend on the logarithms of its sums");
  }
  if (!gradients)
    return std::nullopt;
  for (AddLogSumExpGradientOp op : gradientsOf(*gradients)) {
    LogSumExpOp read;
    for (Operation *user : op.getScores().getUsers())
      if (auto other = dyn_cast<LogSumExpOp>(user))
        read = other;
    bool isOwn = rowsOf(match, op.getScores(), op.getDim()) &&
                 (!read || isSoftmaxOf(match, read));
    if (!isOwn)
      return fail(op, "a gradient of logarithms of sums is not of its own");
  }
  return std::nullopt;
}

void mlir::sp::replaceLogSumExps(const AttentionMatch &match,
                                 AttentionOp attention) {
  OpBuilder builder(attention.getContext());
  builder.setInsertionPointAfter(attention);
  for (LogSumExpOp op : logSumExpsOf(match)) {
    Location location = op.getLoc();
    Value lse = attention.getLse();
    if (typeOf(lse).getRank() == 4) {
      Value sum = numberOfSums(builder, location, lse, 1);
      lse = stablehlo::AddOp::create(
          builder, location, numberOfSums(builder, location, lse, 0),
          stablehlo::LogOp::create(builder, location, sum));
    }
    Rearranger rearranger(builder, location, match.component->labels);
    lse = rearranger.convert(lse, elementOf(op.getResult()));
    Value rows = rearranger.rearrange(
        lse, canonicalRows(match), *rowsOf(match, op.getScores(), op.getDim()));
    op.getResult().replaceAllUsesWith(rows);
  }
}

Value mlir::sp::cotangentOfSums(OpBuilder &builder, const AttentionMatch &match,
                                const GradientMatch &gradients, Type element) {
  Value sum;
  for (AddLogSumExpGradientOp op : gradientsOf(gradients)) {
    Rearranger rearranger(builder, op.getLoc(), match.component->labels);
    Value part = rearranger.rearrange(
        rearranger.convert(op.getCotangent(), element),
        *rowsOf(match, op.getScores(), op.getDim()), canonicalRows(match));
    sum = sum ? stablehlo::AddOp::create(builder, op.getLoc(), sum, part)
                    .getResult()
              : part;
  }
  return sum;
}

void mlir::sp::sortBlock(Block &block) { sortTopologically(&block); }

//===----------------------------------------------------------------------===//
// What no attention took
//===----------------------------------------------------------------------===//

/// The value over all dimensions, repeated along `dim`.
static Value repeat(OpBuilder &builder, Location location, Value rows,
                    RankedTensorType type, int64_t dim) {
  SmallVector<int64_t> dims;
  for (int64_t own = 0; own < type.getRank(); ++own)
    if (own != dim)
      dims.push_back(own);
  return stablehlo::BroadcastInDimOp::create(builder, location, type, rows,
                                             dims);
}

/// The greatest score, or 0 where that is infinite.
static Value shiftOf(OpBuilder &builder, Location location, Value scores,
                     int64_t dim) {
  SmallVector<int64_t> shape(typeOf(scores).getShape());
  shape.erase(shape.begin() + dim);
  Type element = typeOf(scores).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  RankedTensorType rows = RankedTensorType::get(shape, element);
  Attribute lowest = builder.getFloatAttr(
      element,
      APFloat::getInf(cast<FloatType>(element).getFloatSemantics(), true));
  Value start = stablehlo::ConstantOp::create(
      builder, location, DenseElementsAttr::get(scalar, lowest));
  auto reduce =
      stablehlo::ReduceOp::create(builder, location, rows, scores, start,
                                  builder.getDenseI64ArrayAttr({dim}));
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar},
                                      {location, location});
    Value greater = stablehlo::MaxOp::create(
        builder, location, body->getArgument(0), body->getArgument(1));
    stablehlo::ReturnOp::create(builder, location, greater);
  }
  Value greatest = reduce.getResult(0);
  Value isFinite = stablehlo::IsFiniteOp::create(
      builder, location, rows.clone(builder.getI1Type()), greatest);
  return stablehlo::SelectOp::create(builder, location, rows, isFinite,
                                     greatest,
                                     splat(builder, location, rows, 0));
}

/// Exponentials of scores less `shift`, and their sums.
static std::pair<Value, Value> sumPowers(OpBuilder &builder, Location location,
                                         Value scores, Value shift,
                                         int64_t dim) {
  RankedTensorType type = typeOf(scores);
  Value powers = stablehlo::SubtractOp::create(
      builder, location, type, scores,
      repeat(builder, location, shift, type, dim));
  powers = stablehlo::ExpOp::create(builder, location, type, powers);
  return {powers, sumOver(builder, location, powers, {dim})};
}

void mlir::sp::lowerLogSumExps(Operation *root) {
  root->walk([](LogSumExpOp op) {
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value shift = shiftOf(builder, location, op.getScores(), op.getDim());
    Value sum =
        sumPowers(builder, location, op.getScores(), shift, op.getDim()).second;
    Value log = stablehlo::LogOp::create(builder, location, sum);
    op.getResult().replaceAllUsesWith(
        stablehlo::AddOp::create(builder, location, log, shift).getResult());
    op.erase();
  });
  root->walk([](AddLogSumExpGradientOp op) {
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value shift = shiftOf(builder, location, op.getScores(), op.getDim());
    auto [powers, sum] =
        sumPowers(builder, location, op.getScores(), shift, op.getDim());
    Value slope =
        stablehlo::DivOp::create(builder, location, op.getCotangent(), sum);
    Value part = stablehlo::MulOp::create(
        builder, location, powers,
        repeat(builder, location, slope, typeOf(powers), op.getDim()));
    op.getResult().replaceAllUsesWith(
        stablehlo::AddOp::create(builder, location, op.getGradient(), part)
            .getResult());
    op.erase();
  });
}
