//===- ScoreDerivative.cpp - The slope of a score function ----------------===//
//
//   %0 = divide %s, 30                %0 = divide %s, 30
//   %1 = tanh %0               ->     %1 = tanh %0
//   %2 = multiply %1, 30              %2 = multiply %1, 30
//   return %2                         %3 = multiply %1, %1
//                                     %4 = subtract 1, %3
//                                     %5 = multiply 30, %4 ...
//                                     return %2, %6
//
// Reverse mode, as the program's own gradients are: from the result to the
// score and to what the function reads of terms, by JAX's rules for the same
// operations, so that the same products overflow, or none.
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
  void findDependent(ArrayRef<Value> variables);
  LogicalResult differentiate(Value result, ArrayRef<Value> variables);
  std::optional<Slope> passOn(OpOperand &operand, const Slope &dy);
  std::optional<Slope> passOnUnary(Operation &op, Value x, Value y,
                                   const Slope &dy);
  std::optional<Slope> passOnBinary(OpOperand &operand, const Slope &dy);
  Value compare(Value a, Value b, stablehlo::ComparisonDirection direction) {
    return stablehlo::CompareOp::create(builder, location, a, b, direction);
  }

  Slope of(Value value) const { return slopes.lookup(value); }
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
  Slope add(const Slope &a, const Slope &b);
  Slope multiply(const Slope &a, const Slope &b);
  Slope divide(const Slope &a, Value b);
  Slope convert(const Slope &a, Type type);
  Slope choose(Value condition, const Slope &a, const Slope &b, Type type);

  func::FuncOp function;
  OpBuilder builder;
  Location location;
  DenseSet<Value> dependent; ///< on what is differentiated by
  DenseMap<Value, Slope> slopes;
};

} // namespace

Slope Differentiator::add(const Slope &a, const Slope &b) {
  if (a.isNumber(0) || b.isNumber(0))
    return a.isNumber(0) ? b : a;
  if (a.isNumber() && b.isNumber())
    return {Value(), a.number + b.number};
  Type type = (a.value ? a.value : b.value).getType();
  return {stablehlo::AddOp::create(builder, location, materialise(a, type),
                                   materialise(b, type))};
}

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

Slope Differentiator::divide(const Slope &a, Value b) {
  if (a.isNumber(0))
    return {};
  return {stablehlo::DivOp::create(builder, location,
                                   materialise(a, b.getType()), b)};
}

Slope Differentiator::convert(const Slope &a, Type type) {
  if (a.isNumber() || a.value.getType() == type)
    return a;
  return {stablehlo::ConvertOp::create(builder, location, type, a.value)};
}

Slope Differentiator::choose(Value condition, const Slope &a, const Slope &b,
                             Type type) {
  if (a.isNumber() && b.isNumber(a.number))
    return a;
  return {stablehlo::SelectOp::create(builder, location, type, condition,
                                      materialise(a, type),
                                      materialise(b, type))};
}

std::optional<Slope> Differentiator::passOnUnary(Operation &op, Value x,
                                                 Value y, const Slope &dy) {
  Type type = y.getType();
  auto one = [&] { return number(type, 1); };
  auto multiplyBy = [&](Value factor) { return multiply(dy, {factor}); };
  if (isa<stablehlo::NegOp>(op))
    return multiply(dy, {Value(), -1});
  if (isa<stablehlo::ExpOp>(op))
    return multiplyBy(y);
  if (isa<stablehlo::Expm1Op>(op))
    return multiplyBy(stablehlo::AddOp::create(builder, location, y, one()));
  if (isa<stablehlo::LogOp>(op))
    return divide(dy, x);
  if (isa<stablehlo::Log1pOp>(op))
    return divide(dy, stablehlo::AddOp::create(builder, location, x, one()));
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
  if (isa<stablehlo::ConvertOp>(op))
    return convert(dy, x.getType());
  return std::nullopt;
}

std::optional<Slope> Differentiator::passOnBinary(OpOperand &operand,
                                                  const Slope &dy) {
  Operation &op = *operand.getOwner();
  bool isFirst = operand.getOperandNumber() == 0;
  Value x = operand.get(), y = op.getResult(0), other = op.getOperand(isFirst);
  if (isa<stablehlo::AddOp>(op) || (isa<stablehlo::SubtractOp>(op) && isFirst))
    return dy;
  if (isa<stablehlo::SubtractOp>(op))
    return multiply(dy, {Value(), -1});
  if (isa<stablehlo::MulOp>(op))
    return multiply(dy, {other});
  if (isa<stablehlo::DivOp>(op))
    return isFirst ? divide(dy, other)
                   : multiply(divide(multiply(dy, {y}), x), {Value(), -1});
  bool isMax = isa<stablehlo::MaxOp>(op);
  if (!isMax && !isa<stablehlo::MinOp>(op))
    return std::nullopt;
  using Direction = stablehlo::ComparisonDirection;
  Slope tied = choose(compare(x, other, Direction::EQ),
                      multiply(dy, {Value(), 0.5}), {}, x.getType());
  Direction wins = isMax ? Direction::GT : Direction::LT;
  return choose(compare(x, other, wins), dy, tied, x.getType());
}

/// What an operand has of its operation's slope; nothing where there is no
/// rule.
std::optional<Slope> Differentiator::passOn(OpOperand &operand,
                                            const Slope &dy) {
  Operation &op = *operand.getOwner();
  Value x = operand.get();
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    bool isTrue = operand.getOperandNumber() == 1;
    return choose(select.getPred(), isTrue ? dy : Slope(),
                  isTrue ? Slope() : dy, x.getType());
  }
  if (auto clamp = dyn_cast<stablehlo::ClampOp>(op)) {
    if (operand.getOperandNumber() != 1)
      return std::nullopt;
    using Direction = stablehlo::ComparisonDirection;
    Value inside = stablehlo::AndOp::create(
        builder, location, compare(x, clamp.getMin(), Direction::GT),
        compare(x, clamp.getMax(), Direction::LT));
    return choose(inside, dy, {}, x.getType());
  }
  if (op.getNumOperands() == 1)
    return passOnUnary(op, x, op.getResult(0), dy);
  if (op.getNumOperands() == 2)
    return passOnBinary(operand, dy);
  return std::nullopt;
}

void Differentiator::findDependent(ArrayRef<Value> variables) {
  dependent.insert_range(variables);
  for (Operation &op : function.front().without_terminator())
    if (!isa<stablehlo::FloorOp, stablehlo::CeilOp, stablehlo::SignOp,
             stablehlo::RoundOp, stablehlo::RoundNearestEvenOp>(op) &&
        llvm::any_of(op.getOperands(),
                     [&](Value x) { return dependent.contains(x); }))
      for (Value y : op.getResults())
        if (isa<FloatType>(getElementTypeOrSelf(y)))
          dependent.insert(y);
}

/// Finds the slopes of `result` by all of `variables` in one walk. They are of
/// its type, also where variables are narrower: sums of them are rounded once.
LogicalResult Differentiator::differentiate(Value result,
                                            ArrayRef<Value> variables) {
  SmallVector<Operation *> operations;
  for (Operation &op : function.front().without_terminator())
    operations.push_back(&op);
  if (dependent.contains(result))
    slopes[result] = {Value(), 1};
  for (Operation *op : llvm::reverse(operations)) {
    Value y = op->getNumResults() == 1 ? op->getResult(0) : Value();
    Slope dy = of(y);
    if (dy.isNumber(0) || llvm::is_contained(variables, y))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      Value x = operand.get();
      if (!dependent.contains(x))
        continue;
      bool isVariable = llvm::is_contained(variables, x);
      std::optional<Slope> dx = isVariable && isa<stablehlo::ConvertOp>(op)
                                    ? dy
                                    : passOn(operand, dy);
      if (!dx)
        return failure();
      slopes[x] = add(of(x), isVariable ? convert(*dx, result.getType()) : *dx);
    }
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
  SmallVector<Value> results = llvm::to_vector(end->getOperands());
  Value exponent = results[0];

  Value score = body.getArgument(0);
  SmallVector<Value> variables = {score};
  for (unsigned term : terms) {
    if (term == scoreTerm || term == exponentTerm)
      continue;
    // Behind the score, the head and both positions.
    Value element = elementOfTerm(body.getArgument(4 + term));
    if (!element)
      return failure();
    variables.push_back(element);
  }
  findDependent(variables);
  if ((results.size() > 1 && dependent.contains(results[1])) ||
      failed(differentiate(exponent, variables)))
    return failure();

  auto slopeBy = [&](Value variable) {
    return materialise(of(variable), exponent.getType());
  };
  results.insert(results.begin() + 1, slopeBy(score));
  unsigned next = 1;
  for (unsigned term : terms) {
    if (term == scoreTerm)
      results.push_back(results[1]);
    else if (term == exponentTerm)
      results.push_back(number(exponent.getType(), 1));
    else
      results.push_back(slopeBy(variables[next++]));
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
