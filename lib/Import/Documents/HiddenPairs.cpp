//===- HiddenPairs.cpp - Score functions of pairs of two documents --------===//
//
//   %0 = compare EQ %of_query, %of_key   false
//   %1 = multiply %s, 0.088              anything
//   %2 = select %0, %1, -inf             -inf
//   return %2                            hidden
//
//===----------------------------------------------------------------------===//

#include "Documents/HiddenPairs.h"

#include "Samples/Readings.h"

#include "sp/StableHLO/ElementFunctions.h"
#include "sp/StableHLO/StableHLO.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::sp;

bool mlir::sp::keepsWholeNumbers(Type from, Type to) {
  auto source = dyn_cast<IntegerType>(from), target = dyn_cast<IntegerType>(to);
  auto bits = [](IntegerType type) {
    bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
    return std::pair(isSigned, type.getWidth() - unsigned(isSigned));
  };
  if (!source || !target || target.getWidth() == 1)
    return source && source == target;
  auto [sourceSigned, sourceBits] = bits(source);
  auto [targetSigned, targetBits] = bits(target);
  return sourceBits <= targetBits && (targetSigned || !sourceSigned);
}

namespace {

/// What is known of a value: it is a number, at most a number, the query's or
/// the key's (which are not equal), or not 0.
struct Known {
  enum Kind { Nothing, Number, AtMost, OfQuery, OfKey, NotZero };
  Kind kind = Nothing;
  double number = 0;

  static Known of(double number) { return {Number, number}; }
  bool is(double other) const { return kind == Number && number == other; }
  bool isSide() const { return kind == OfQuery || kind == OfKey; }
  bool differsFrom(const Known &other) const {
    return isSide() && other.isSide() && kind != other.kind;
  }
};

class Evaluator {
public:
  void set(Value value, Known known) { values[value] = known; }
  Known get(Value value) const { return values.lookup(value); }
  Known evaluate(Operation &op) const;

private:
  std::optional<Known> compare(stablehlo::CompareOp op) const;
  Known convert(stablehlo::ConvertOp op) const;
  std::optional<Known> combine(Operation &op) const;

  DenseMap<Value, Known> values;
};

} // namespace

/// What two numbers that are not equal, one that is not 0, or one with a bound
/// decide.
std::optional<Known> Evaluator::compare(stablehlo::CompareOp op) const {
  Known a = get(op.getLhs()), b = get(op.getRhs());
  if (a.kind == Known::AtMost && b.kind == Known::Number &&
      a.number <= b.number &&
      op.getComparisonDirection() == stablehlo::ComparisonDirection::LE)
    return Known::of(1);
  bool areUnequal = a.differsFrom(b) || (a.kind == Known::NotZero && b.is(0)) ||
                    (b.kind == Known::NotZero && a.is(0));
  auto direction = op.getComparisonDirection();
  if (areUnequal && direction == stablehlo::ComparisonDirection::EQ)
    return Known::of(0);
  if (areUnequal && direction == stablehlo::ComparisonDirection::NE)
    return Known::of(1);
  return std::nullopt;
}

Known Evaluator::convert(stablehlo::ConvertOp op) const {
  Type from = getElementTypeOrSelf(op.getOperand().getType()),
       to = getElementTypeOrSelf(op.getType());
  Known known = get(op.getOperand());
  if (known.kind == Known::NotZero && to.isInteger(1))
    return Known::of(1);
  return keepsWholeNumbers(from, to) ? known : Known();
}

/// Where one operand decides, or both sides meet.
std::optional<Known> Evaluator::combine(Operation &op) const {
  if (op.getNumOperands() != 2)
    return std::nullopt;
  Known a = get(op.getOperand(0)), b = get(op.getOperand(1));
  auto either = [&](double number) { return a.is(number) || b.is(number); };
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  if (isa<stablehlo::SubtractOp, stablehlo::XorOp>(op) && type.isInteger() &&
      a.differsFrom(b))
    return Known{Known::NotZero};
  if (isa<stablehlo::AndOp, stablehlo::MulOp>(op) && type.isInteger() &&
      either(0))
    return Known::of(0);
  if (isa<stablehlo::MinOp>(op) && type.isInteger(1) && either(0))
    return Known::of(0);
  if (isa<stablehlo::OrOp, stablehlo::MaxOp>(op) && type.isInteger(1) &&
      either(1))
    return Known::of(1);
  if (!isa<stablehlo::AddOp>(op) || !isa<FloatType>(type))
    return std::nullopt;
  if (either(hidden))
    return Known::of(hidden);
  for (const Known &fill : {a, b})
    if (fill.kind == Known::Number && fill.number <= largestFill)
      return Known{Known::AtMost, fill.number / 2};
  return std::nullopt;
}

Known Evaluator::evaluate(Operation &op) const {
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  DenseElementsAttr constant;
  if (auto source = dyn_cast<stablehlo::ConstantOp>(op)) {
    constant = dyn_cast<DenseElementsAttr>(source.getValue());
    if (!constant || !constant.isSplat() || !type.isIntOrFloat())
      return {};
    if (isa<FloatType>(type))
      return Known::of(constant.getSplatValue<APFloat>().convertToDouble());
    APInt bits = constant.getSplatValue<APInt>();
    return Known::of(type.isUnsignedInteger() || type.isInteger(1)
                         ? double(bits.getZExtValue())
                         : double(bits.getSExtValue()));
  }
  SmallVector<double> numbers;
  for (Value operand : op.getOperands())
    if (Known known = get(operand); known.kind == Known::Number)
      numbers.push_back(known.number);
  if (numbers.size() == op.getNumOperands())
    if (ElementFunction function = elementFunction(&op)) {
      std::vector<double> result = {function(numbers)};
      roundTo(type, result);
      return Known::of(result.front());
    }
  if (auto compared = dyn_cast<stablehlo::CompareOp>(op))
    return compare(compared).value_or(Known());
  if (auto converted = dyn_cast<stablehlo::ConvertOp>(op))
    return convert(converted);
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    Known choice = get(select.getPred()), taken = get(select.getOnTrue()),
          other = get(select.getOnFalse());
    if (choice.kind == Known::Number)
      return choice.number != 0 ? taken : other;
    return taken.kind == Known::Number && other.is(taken.number) ? taken
                                                                 : Known();
  }
  return combine(op).value_or(Known());
}

bool mlir::sp::hidesUnlessEqual(func::FuncOp score, unsigned ofQuery,
                                unsigned ofKey) {
  Evaluator evaluator;
  evaluator.set(score.getArgument(ofQuery), {Known::OfQuery});
  evaluator.set(score.getArgument(ofKey), {Known::OfKey});
  Operation *end = score.getBody().front().getTerminator();
  for (Operation &op : score.getBody().front())
    if (&op != end && op.getNumResults() == 1)
      evaluator.set(op.getResult(0), evaluator.evaluate(op));
  Known exponent = evaluator.get(end->getOperand(0));
  return exponent.is(-std::numeric_limits<double>::infinity());
}
