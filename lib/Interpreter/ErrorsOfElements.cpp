//===- ErrorsOfElements.cpp - Slopes and roundings of functions -----------===//
#include "ErrorRules.h"
#include "sp/StableHLO/ScalarForms.h"

using namespace mlir;
using namespace mlir::interpreter;

/// A step, relative to where it is taken: half the digits of f64 are left to
/// the difference, and half of those would do.
static constexpr double kStep = 0x1p-26;
/// Units in which functions may err; see the header.
static constexpr double kFunctionUnits = 4;

/// How many errors away an argument is taken to be where an operation jumps.
static constexpr double kReach = 8;

/// A scale of arguments on which an operation bends: functions that are smooth
/// at zero do so on that of one, and a smaller step would be lost in their
/// results.
static double scaleOf(Operation *op, ErrorKind kind) {
  using namespace stablehlo;
  bool isSmooth = kind == ErrorKind::Function &&
                  !isa<LogOp, PowOp, RsqrtOp, CbrtOp, Atan2Op>(op);
  return isSmooth ? 1 : 0;
}

/// Each element with step(its magnitude, its error) added.
static Tensor stepped(const Tensor &x,
                      function_ref<double(double, double)> step) {
  Tensor result = x;
  result.clearErrors();
  dispatchFloating(x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    MutableArrayRef<T> elements = result.mutableElements<T>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] +=
          step(std::abs(elements[i]), magnitudeAt(*x.getErrors(), i));
  });
  return result;
}

/// Adds how far an operation of one operand jumps within its errors.
static LogicalResult addJumps(const Evaluation &evaluation, const Tensor &x,
                              const Tensor &before, Squares &squares) {
  for (double reach : {-kReach, kReach}) {
    FailureOr<Tensors> after = evaluation.runExactly(
        {stepped(x, [&](double, double error) { return reach * error; })});
    if (failed(after))
      return failure();
    for (int64_t i = 0, e = before.size(); i < e; ++i)
      squares.addAt(i, after->front().at<double>(i) - before.at<double>(i));
  }
  return success();
}

/// Adds what the error of one operand does to f(operands), which is `before`.
template <typename T>
static void addSlope(const Tensor &operand, const Tensor &moved,
                     const Tensor &before, const Tensor &after,
                     Squares &squares) {
  for (int64_t i = 0, e = before.size(); i < e; ++i) {
    double error = magnitudeAt(*operand.getErrors(), i);
    if (error == 0)
      continue;
    int64_t at = operand.size() == 1 ? 0 : i;
    double step = dispatchFloating(operand, [&](auto tag) {
      using From = typename decltype(tag)::type;
      return std::abs(moved.at<From>(at) - operand.at<From>(at));
    });
    squares.addAt(i, std::abs(after.at<T>(i) - before.at<T>(i)) / step * error);
  }
}

/// Whether a sum is rounded to the same whatever the errors of its terms are,
/// as where something far greater is added; it is no less exact than that.
static bool isCertain(Operation *op, double value, double exact, double square,
                      double unit) {
  if (!isa<stablehlo::AddOp, stablehlo::SubtractOp>(op) || value == 0 ||
      !std::isfinite(value))
    return false;
  double half = unit * std::ldexp(1.0, std::ilogb(value));
  return std::abs(value - exact) + 8 * std::sqrt(square) < half / 4;
}

/// Adds what rounding the result itself does. `before`: without any.
static void addOwn(Operation *op, ErrorKind kind, const Tensors &operands,
                   const Tensor &before, Squares &squares) {
  if (kind == ErrorKind::Exact)
    return;
  const Rounding &rounding = squares.rounding;
  double unit = rounding.unit;
  if (kind == ErrorKind::Function)
    unit += (kFunctionUnits - 1) * rounding.sumUnit;
  // Sines err by units of one: arguments lose digits where they turn.
  double least = isa<stablehlo::SineOp, stablehlo::CosineOp>(op) ? 1 : 0;
  // Of f64 nothing is known but what was rounded already.
  bool seesRounding = rounding.unit > 0x1p-53;
  for (int64_t i = 0, e = before.size(); i < e; ++i) {
    double value = magnitudeAt(squares.result, i);
    double exact = magnitudeAt(before, i);
    if (seesRounding &&
        isCertain(op, value, exact, squares.sums[i], rounding.unit)) {
      squares.sums[i] = 0;
      continue;
    }
    // What is multiplied by one, or added to far more, leaves nothing to round.
    bool isOperand = false, hasErrors = false;
    for (const Tensor &operand : operands) {
      if (!isFloating(operand))
        continue;
      isOperand |= magnitudeAt(operand, i) == value;
      hasErrors |= operand.getErrors() && magnitudeAt(*operand.getErrors(), i);
    }
    if ((isOperand && kind == ErrorKind::Arithmetic &&
         !isa<stablehlo::ConvertOp>(op)) ||
        (seesRounding && !hasErrors && value == exact &&
         kind == ErrorKind::Arithmetic))
      continue;
    squares.addAt(i, unit * std::max(value, least));
    if (exact != 0)
      squares.addAt(i, rounding.smallest);
  }
}

FailureOr<Tensors> interpreter::evaluateElements(const Evaluation &evaluation,
                                                 ErrorKind kind,
                                                 const Tensors &operands) {
  FailureOr<Tensors> results = evaluation.run(operands);
  if (failed(results) || operands.empty() || !isFloating(results->front()))
    return results;
  FailureOr<Tensors> before = evaluation.runExactly(operands);
  if (failed(before))
    return failure();
  Squares squares(results->front());
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor &operand = operands[i];
    if (!operand.getErrors())
      continue;
    // A slope of one; beside something far larger a step would be lost.
    if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(evaluation.op)) {
      for (int64_t at = 0, e = squares.result.size(); at < e; ++at)
        squares.addAt(at, magnitudeAt(*operand.getErrors(), at));
      continue;
    }
    if (stablehlo::isFlat(evaluation.op) &&
        operand.getStorage() == Storage::Float) {
      if (failed(addJumps(evaluation, operand, before->front(), squares)))
        return failure();
      continue;
    }
    Tensors moved = operands;
    double scale = scaleOf(evaluation.op, kind);
    moved[i] = stepped(operand, [&](double magnitude, double error) {
      return kStep * std::max({magnitude, error, scale});
    });
    FailureOr<Tensors> after = evaluation.runExactly(moved);
    if (failed(after))
      return failure();
    dispatchFloating(before->front(), [&](auto tag) {
      addSlope<typename decltype(tag)::type>(operand, moved[i], before->front(),
                                             after->front(), squares);
    });
  }
  addOwn(evaluation.op, kind, operands, before->front(), squares);
  results->front() = squares.take();
  return results;
}
