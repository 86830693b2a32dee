//===- GradientCheck.cpp - A node against the formula of a gradient -------===//

#include "Gradients/GradientCheck.h"
#include "Gradients/GradientFormula.h"

#include "sp/StableHLO/StableHLO.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::sp;

static constexpr double gradientTolerance = 1e-9;
static constexpr uint64_t seed = 311;
/// Gradients below this say nothing: they are what one-hot rows leave.
static constexpr double smallest = 1e-4;
/// What terms that cancel leave.
static constexpr double residue = 1e-14;

bool mlir::sp::isOver(const AttentionMatch &match, const Node *node,
                      Gradient kind) {
  const AxisLabels &labels = match.component->labels;
  const AttentionAxes &axes = match.axes;
  Axes expected = axes.batch;
  llvm::append_range(expected, axes.sharedHeads);
  if (kind != Gradient::Key && kind != Gradient::Value) {
    llvm::append_range(expected, axes.groups);
    expected.push_back(*axes.query);
  }
  if (kind != Gradient::Query && kind != Gradient::Sink)
    expected.push_back(axes.key);
  if (kind < Gradient::Sink)
    llvm::append_range(expected,
                       kind == Gradient::Value ? axes.value : axes.feature);
  expected = labels.resolve(expected);
  Axes own = labels.resolve(flatten(node->labels));
  auto covers = [&](const Axes &a, const Axes &b) {
    return llvm::all_of(a, [&](AxisId axis) {
      return labels.size(axis) == 1 || llvm::is_contained(b, axis);
    });
  };
  // Sums of a sink's and of a term's are over any of the axes.
  return covers(own, expected) &&
         (kind >= Gradient::Sink || covers(expected, own));
}

bool mlir::sp::meetsEmptyRows(const AttentionMatch &match) {
  if (!match.score || !match.axes.query)
    return false;
  bool isMet = false;
  for (const SampleDraw &draw : samplesOf(match, seed)) {
    GradientFormula formula(match, draw);
    if (formula.isKnown(nullptr, {}))
      formula.forEachEmptyRow([&] { isMet = true; });
  }
  return isMet;
}

/// What of an exponent is differentiated by, but for what depends on scores.
static SmallVector<const Node *> openedBy(const Node *by,
                                          ArrayRef<const Node *> others) {
  SmallVector<const Node *> opened(others);
  if (by && !by->scored)
    opened.push_back(by);
  return opened;
}

std::optional<double>
mlir::sp::slopeOfEmptyRows(const AttentionMatch &match, const Node *by,
                           ArrayRef<const Node *> others) {
  // What bands alone hide takes the place of scores.
  if (!match.score || !match.hasPartOfEmptyRows())
    return 0;
  std::optional<double> known;
  for (const SampleDraw &draw : samplesOf(match, seed, openedBy(by, others))) {
    GradientFormula formula(match, draw);
    if (!formula.isKnown(by, others))
      return std::nullopt;
    for (double slope : formula.slopesOfEmptyRows()) {
      // NaN stays NaN whatever it is multiplied with.
      if (match.empty == EmptyRow::Nan && slope != 0)
        slope = 1;
      if (std::fabs(slope - known.value_or(slope)) > gradientTolerance)
        return std::nullopt;
      known = slope;
    }
  }
  return known.value_or(0);
}

/// The multiple that `actual` is of `expected`, whose terms are about of a
/// size; nothing where it is none, and `saysNothing` where all that is expected
/// is as small as rounding, or no number.
static std::optional<double> ratio(ArrayRef<double> actual,
                                   ArrayRef<double> expected, double size,
                                   bool &saysNothing) {
  double products = 0, squares = 0, greatest = 0;
  for (auto [a, e] : llvm::zip_equal(actual, expected)) {
    if (std::isnan(a) != std::isnan(e))
      return std::nullopt;
    if (std::isnan(e))
      continue;
    greatest = std::max(greatest, std::fabs(e));
    products += a * e;
    squares += e * e;
  }
  saysNothing = greatest < smallest * size;
  if (!(squares > 0) || !std::isfinite(products) || products == 0)
    return std::nullopt;
  double factor = products / squares;
  for (auto [a, e] : llvm::zip_equal(actual, expected))
    if (!(std::fabs(a - factor * e) <=
          gradientTolerance * std::fabs(factor) * (size + std::fabs(e))) &&
        !(std::isnan(a) && std::isnan(e)))
      return std::nullopt;
  return factor;
}

/// The fraction of small numbers that is `number` but for what rounding makes
/// of samples: a convergent of its continued fraction.
static std::optional<double> fractionOf(double number) {
  constexpr double largest = 4096, rounding = 1e-12;
  double numerators[] = {0, 1}, denominators[] = {1, 0}, rest = number;
  while (true) {
    double whole = std::floor(rest);
    for (double *last : {numerators, denominators})
      last[0] = std::exchange(last[1], last[0] + whole * last[1]);
    if (denominators[1] > largest)
      return std::nullopt;
    double fraction = numerators[1] / denominators[1];
    if (std::fabs(fraction - number) <= rounding * std::fabs(number))
      return fraction;
    rest = 1 / (rest - whole);
  }
}

/// A factor as the program has it: most are fractions or roots of one.
static double exactFactor(double factor) {
  if (std::optional<double> fraction = fractionOf(factor))
    return *fraction;
  // The square of what is tiny is 0.
  if (std::optional<double> square = fractionOf(factor * factor);
      square && *square > 0)
    return std::copysign(std::sqrt(*square), factor);
  return factor;
}

/// Whether a gradient is nothing but what rounding leaves of sums whose terms
/// cancel, however small these are: at most `least` of the largest.
static bool cancels(GradientFormula &formula, const Node *node, double least) {
  auto greatest = [&](const Node *of) {
    double most = 0;
    if (const Samples *samples = formula.samples(of))
      for (double element : samples->data) {
        if (std::isnan(element))
          return element;
        most = std::max(most, std::fabs(element));
      }
    return most;
  };
  double own = greatest(node);
  if (own == 0)
    return true;
  if (std::isnan(own))
    return false;
  if (!node->op || node->role != Role::None || node->operands.empty())
    return false;
  Operation *op = node->op;
  ArrayRef<Node *> operands = node->operands;
  double factors = 1, most = 0;
  for (const Node *operand : operands) {
    factors *= greatest(operand);
    most = std::max(most, greatest(operand));
  }
  bool isProduct = isContraction(op);
  bool isSum =
      isa<stablehlo::ReduceOp, stablehlo::AddOp, stablehlo::SubtractOp>(op);
  if ((isSum && own < least * most) || (isProduct && own < least * factors))
    return true;
  if (isa<stablehlo::SelectOp>(op))
    operands = operands.drop_front();
  auto does = [&](const Node *operand) {
    return cancels(formula, operand, least);
  };
  if (isProduct || isa<stablehlo::MulOp>(op))
    return llvm::any_of(operands, does);
  if (isa<stablehlo::DivOp>(op))
    return does(operands[0]);
  bool passesOn =
      isSum || isMove(op) || isIdentity(op) ||
      isa<stablehlo::NegOp, stablehlo::ConvertOp, stablehlo::SelectOp>(op);
  return passesOn && llvm::all_of(operands, does);
}

std::optional<double> mlir::sp::gradientFactor(const AttentionMatch &match,
                                               const Node *node, Gradient kind,
                                               const Node *with,
                                               const Anchor *pairs,
                                               unsigned cotangentOperand,
                                               ArrayRef<const Node *> others) {
  const Component &component = *match.component;
  std::optional<double> known;
  bool isNothingOnly = false, isNanOnly = true;
  bool isOfTerm = kind == Gradient::Term;
  // Slopes are of values and cotangents, which only a second contraction has.
  bool needsSlopes = kind != Gradient::Value;
  if (needsSlopes && !pairs)
    return std::nullopt;
  const Node *of = needsSlopes ? pairs->leaves[cotangentOperand] : with;
  const Node *values =
      needsSlopes ? pairs->leaves[1 - cotangentOperand] : nullptr;
  if (!of || findNonlinear(match, node, kind,
                           {of->value, values, isOfTerm ? with : nullptr}))
    return std::nullopt;
  SmallVector<const Node *> opened;
  if (isOfTerm)
    opened = openedBy(with, others);
  SmallVector<SampleDraw> draws = samplesOf(match, seed, opened);
  size_t numNear = draws.size();
  if (needsSlopes && kind != Gradient::Sink)
    llvm::append_range(draws, farSamplesOf(match, seed + numNear, opened));
  auto isFinite = [](double element) { return std::isfinite(element); };
  for (auto [number, draw] : llvm::enumerate(draws)) {
    draw.isExact = isOfTerm;
    GradientFormula formula(match, draw);
    formula.query = formula.view(component.leaf(match.axes.queryRole));
    formula.key = formula.view(component.leaf(match.axes.keyRole));
    if (!isOfTerm)
      formula.factor = formula.view(with);
    if (needsSlopes) {
      formula.cotangent = formula.view(pairs->leaves[cotangentOperand]);
      formula.value = formula.view(values);
    }
    bool hasSlopes = formula.cotangent && formula.value;
    const Node *by = isOfTerm      ? with
                     : needsSlopes ? component.scoresNode()
                                   : nullptr;
    const Samples *actual = formula.samples(node);
    if (!actual || !formula.query || !formula.key ||
        (with && !isOfTerm && !formula.factor) || (needsSlopes && !hasSlopes) ||
        !formula.isKnown(by, others))
      return std::nullopt;
    bool saysNothing = false;
    std::vector<double> expected = formula.gradient(node, kind);
    if (number >= numNear && (!llvm::all_of(actual->data, isFinite) ||
                              !llvm::all_of(expected, isFinite)))
      continue;
    // Slopes are products of cotangents and values, and meet a third; far ones
    // may be of any size.
    double size = needsSlopes ? std::pow(draw.factors, 3) : draw.factors;
    if (number >= numNear)
      for (double element : expected)
        size = std::max(size, 1e-3 * std::fabs(element));
    std::optional<double> factor =
        ratio(actual->data, expected, size, saysNothing);
    auto isNan = [](double element) { return std::isnan(element); };
    isNanOnly &= llvm::all_of(expected, isNan);
    auto isNone = [&](double element) {
      return std::fabs(element) < gradientTolerance * size;
    };
    // Rows of softmax gradients sum up to nothing, and so must the node's
    // terms, however small a loss makes them all.
    if (isOfTerm && formula.largestPart > 1e-3 &&
        llvm::all_of(expected, isNone)) {
      if (!cancels(formula, node, gradientTolerance))
        return std::nullopt;
      isNothingOnly = true;
      continue;
    }
    bool isSomething = llvm::any_of(actual->data, [&](double element) {
      return std::fabs(element) > smallest * size;
    });
    if (saysNothing && isSomething)
      return std::nullopt;
    if (saysNothing)
      continue;
    if (!factor && kind == Gradient::Sink && cancels(formula, node, residue))
      factor = 0;
    if (!factor || (known && std::fabs(*factor - *known) >
                                 gradientTolerance * std::fabs(*known)))
      return std::nullopt;
    known = factor;
  }
  if (known)
    return exactFactor(*known);
  return isNothingOnly || isNanOnly ? std::optional(1.0) : std::nullopt;
}
