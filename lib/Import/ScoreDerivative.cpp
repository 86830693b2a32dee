//===- ScoreDerivative.cpp - The slope of a score function ----------------===//
//
//   %0 = divide %s, 30                %0 = divide %s, 30
//   %1 = tanh %0               ->     %1 = tanh %0
//   %2 = multiply %1, 30              %2 = multiply %1, 30
//   return %2                         %3 = multiply %1, %1
//                                     %4 = subtract 1, %3
//                                     %5 = multiply %4, 1/30 ...
//                                     return %2, %7
//
// Forward mode: beside each value its derivative with respect to the score, or
// to what it reads of a term, by the rules that JAX has for the same
// operations.
//
//===----------------------------------------------------------------------===//

#include "Match.h"

#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A derivative: a value, or a number where it is the same for all pairs.
struct Slope {
  Value value;
  double number = 0;

  bool isNumber() const { return !value; }
  bool isNumber(double other) const { return !value && number == other; }
};

class Differentiator {
public:
  explicit Differentiator(func::FuncOp function)
      : function(function), builder(function.getBody()),
        location(function.getLoc()) {}

  LogicalResult run(ArrayRef<unsigned> terms);

private:
  LogicalResult differentiateBy(Value variable);
  std::optional<Slope> differentiate(Operation &op);
  std::optional<Slope> differentiateUnary(Operation &op, Value x, Value y,
                                          const Slope &dx);
  std::optional<Slope> differentiateBinary(Operation &op, Value y);
  Slope choose(Value condition, const Slope &a, const Slope &b, Type type);
  Value compare(Value a, Value b, stablehlo::ComparisonDirection direction) {
    return stablehlo::CompareOp::create(builder, location, a, b, direction);
  }

  Slope of(Value value) const {
    auto known = slopes.find(value);
    return known == slopes.end() ? Slope() : known->second;
  }
  Value number(Type type, double value) {
    Attribute attribute =
        builder.getFloatAttr(getElementTypeOrSelf(type), value);
    return stablehlo::ConstantOp::create(
        builder, location,
        DenseElementsAttr::get(cast<ShapedType>(type), attribute));
  }
  Value materialise(const Slope &slope, Type type) {
    return slope.value ? slope.value : number(type, slope.number);
  }
  Slope multiply(const Slope &a, const Slope &b);
  Slope add(const Slope &a, const Slope &b);
  Slope times(const Slope &a, Value b) { return multiply(a, {b}); }

  func::FuncOp function;
  OpBuilder builder;
  Location location;
  SmallVector<Operation *> operations; ///< of the function itself
  DenseMap<Value, Slope> slopes;
};

} // namespace

Slope Differentiator::multiply(const Slope &a, const Slope &b) {
  if (a.isNumber(0) || b.isNumber(0))
    return {};
  if (a.isNumber() && b.isNumber())
    return {Value(), a.number * b.number};
  if (a.isNumber(1) || b.isNumber(1))
    return a.isNumber(1) ? b : a;
  Type type = (a.value ? a.value : b.value).getType();
  return {stablehlo::MulOp::create(builder, location, materialise(a, type),
                                   materialise(b, type))};
}

Slope Differentiator::add(const Slope &a, const Slope &b) {
  if (a.isNumber(0) || b.isNumber(0))
    return a.isNumber(0) ? b : a;
  if (a.isNumber() && b.isNumber())
    return {Value(), a.number + b.number};
  Type type = (a.value ? a.value : b.value).getType();
  return {stablehlo::AddOp::create(builder, location, materialise(a, type),
                                   materialise(b, type))};
}

Slope Differentiator::choose(Value condition, const Slope &a, const Slope &b,
                             Type type) {
  if (a.isNumber() && b.isNumber(a.number))
    return a;
  return {stablehlo::SelectOp::create(builder, location, type, condition,
                                      materialise(a, type),
                                      materialise(b, type))};
}

std::optional<Slope> Differentiator::differentiateUnary(Operation &op, Value x,
                                                        Value y,
                                                        const Slope &dx) {
  Type type = y.getType();
  auto one = [&] { return number(type, 1); };
  auto multiplyBy = [&](Value factor) { return times(dx, factor); };
  if (isa<stablehlo::NegOp>(op))
    return multiply(dx, {Value(), -1});
  if (isa<stablehlo::ExpOp>(op))
    return multiplyBy(y);
  if (isa<stablehlo::Expm1Op>(op))
    return multiplyBy(stablehlo::AddOp::create(builder, location, y, one()));
  if (isa<stablehlo::LogOp>(op))
    return multiplyBy(stablehlo::DivOp::create(builder, location, one(), x));
  if (isa<stablehlo::Log1pOp>(op)) {
    Value sum = stablehlo::AddOp::create(builder, location, x, one());
    return multiplyBy(stablehlo::DivOp::create(builder, location, one(), sum));
  }
  if (isa<stablehlo::TanhOp>(op)) {
    Value square = stablehlo::MulOp::create(builder, location, y, y);
    return multiplyBy(
        stablehlo::SubtractOp::create(builder, location, one(), square));
  }
  if (isa<stablehlo::LogisticOp>(op)) {
    Value rest = stablehlo::SubtractOp::create(builder, location, one(), y);
    return multiplyBy(stablehlo::MulOp::create(builder, location, y, rest));
  }
  if (isa<stablehlo::SqrtOp>(op))
    return multiplyBy(
        stablehlo::DivOp::create(builder, location, number(type, 0.5), y));
  if (isa<stablehlo::RsqrtOp>(op)) {
    Value ratio = stablehlo::DivOp::create(builder, location, y, x);
    return multiply(multiplyBy(ratio), {Value(), -0.5});
  }
  if (isa<stablehlo::AbsOp>(op))
    return multiplyBy(stablehlo::SignOp::create(builder, location, x));
  if (isa<stablehlo::ConvertOp>(op)) {
    if (dx.isNumber())
      return dx;
    return Slope{
        stablehlo::ConvertOp::create(builder, location, type, dx.value)};
  }
  return std::nullopt;
}

std::optional<Slope> Differentiator::differentiateBinary(Operation &op,
                                                         Value y) {
  Value a = op.getOperand(0), b = op.getOperand(1);
  Slope da = of(a), db = of(b);
  Type type = y.getType();
  if (isa<stablehlo::AddOp>(op))
    return add(da, db);
  if (isa<stablehlo::SubtractOp>(op))
    return add(da, multiply(db, {Value(), -1}));
  if (isa<stablehlo::MulOp>(op))
    return add(times(da, b), times(db, a));
  if (isa<stablehlo::DivOp>(op)) {
    Slope rest = add(da, multiply(times(db, y), {Value(), -1}));
    if (rest.isNumber(0))
      return rest;
    return Slope{stablehlo::DivOp::create(builder, location,
                                          materialise(rest, type), b)};
  }
  bool isMax = isa<stablehlo::MaxOp>(op);
  if (!isMax && !isa<stablehlo::MinOp>(op))
    return std::nullopt;
  using Direction = stablehlo::ComparisonDirection;
  Slope both = multiply(add(da, db), {Value(), 0.5});
  Slope other = choose(compare(a, b, Direction::EQ), both, db, type);
  Direction first = isMax ? Direction::GT : Direction::LT;
  return choose(compare(a, b, first), da, other, type);
}

/// Nothing where there is no rule for it.
std::optional<Slope> Differentiator::differentiate(Operation &op) {
  Value y = op.getResult(0);
  bool depends = llvm::any_of(op.getOperands(), [&](Value operand) {
    return !of(operand).isNumber(0);
  });
  if (!depends || !isa<FloatType>(getElementTypeOrSelf(y)) ||
      isa<stablehlo::FloorOp, stablehlo::CeilOp, stablehlo::SignOp,
          stablehlo::RoundOp, stablehlo::RoundNearestEvenOp>(op))
    return Slope();
  if (auto select = dyn_cast<stablehlo::SelectOp>(op))
    return choose(select.getPred(), of(select.getOnTrue()),
                  of(select.getOnFalse()), y.getType());
  if (auto clamp = dyn_cast<stablehlo::ClampOp>(op)) {
    if (!of(clamp.getMin()).isNumber(0) || !of(clamp.getMax()).isNumber(0))
      return std::nullopt;
    using Direction = stablehlo::ComparisonDirection;
    Value x = clamp.getOperand();
    Value inside = stablehlo::AndOp::create(
        builder, location, compare(x, clamp.getMin(), Direction::GT),
        compare(x, clamp.getMax(), Direction::LT));
    return choose(inside, of(x), {}, y.getType());
  }
  if (op.getNumOperands() == 1)
    return differentiateUnary(op, op.getOperand(0), y, of(op.getOperand(0)));
  if (op.getNumOperands() == 2)
    return differentiateBinary(op, y);
  return std::nullopt;
}

LogicalResult Differentiator::differentiateBy(Value variable) {
  slopes.clear();
  slopes[variable] = {Value(), 1};
  for (Operation *op : operations) {
    if (op->getNumResults() != 1)
      return failure();
    if (op->getResult(0) == variable)
      continue;
    std::optional<Slope> slope = differentiate(*op);
    if (!slope)
      return failure();
    slopes[op->getResult(0)] = *slope;
  }
  return success();
}

/// What a function reads of a term: of a table the element that it looks up.
static Value elementOfTerm(BlockArgument argument) {
  if (cast<RankedTensorType>(argument.getType()).getRank() == 0)
    return argument;
  Value element = argument;
  for (unsigned step = 0; step < 2; ++step) {
    if (!element.hasOneUse())
      return {};
    element = element.user_begin()->getResult(0);
  }
  return element;
}

LogicalResult Differentiator::run(ArrayRef<unsigned> terms) {
  Block &body = function.front();
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  operations = llvm::map_to_vector(body.without_terminator(),
                                   [](Operation &op) { return &op; });
  SmallVector<Value> results = llvm::to_vector(end->getOperands());
  auto derivative = [&] {
    return materialise(of(results[0]), results[0].getType());
  };
  if (failed(differentiateBy(body.getArgument(0))) ||
      (results.size() > 1 && !of(results[1]).isNumber(0)))
    return failure();
  results.insert(results.begin() + 1, derivative());
  for (unsigned term : terms) {
    if (term == scoreTerm || term == exponentTerm) {
      results.push_back(term == scoreTerm ? results[1]
                                          : number(results[0].getType(), 1));
      continue;
    }
    // Behind the score, the head and both positions.
    Value element = elementOfTerm(body.getArgument(4 + term));
    if (!element || failed(differentiateBy(element)))
      return failure();
    results.push_back(derivative());
  }
  end->setOperands(results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(results).getTypes()));
  return success();
}

func::FuncOp mlir::sp::differentiateScore(func::FuncOp score,
                                          ArrayRef<unsigned> terms) {
  func::FuncOp function = score.clone();
  function.setName((score.getName() + "_gradient").str());
  if (succeeded(Differentiator(function).run(terms)))
    return function;
  function.erase();
  return {};
}
