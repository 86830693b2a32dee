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

#include "Scores/ScoreFunction.h"

#include "sp/StableHLO/ScalarForms.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

using Slope = stablehlo::ScalarTerm;

class Differentiator {
public:
  explicit Differentiator(func::FuncOp function)
      : function(function), builder(function.getBody()),
        location(function.getLoc()), arithmetic(builder, location) {}

  LogicalResult run(ArrayRef<unsigned> terms);

private:
  void findDependent(ArrayRef<Value> variables);
  LogicalResult differentiate(Value result, ArrayRef<Value> variables);
  std::optional<Slope> passOn(OpOperand &operand, const Slope &dy);
  Value compare(Value a, Value b, stablehlo::ComparisonDirection direction) {
    return stablehlo::CompareOp::create(builder, location, a, b, direction);
  }

  Slope of(Value value) const { return slopes.lookup(value); }
  Slope convert(const Slope &a, Type type);

  func::FuncOp function;
  OpBuilder builder;
  Location location;
  stablehlo::ScalarArithmetic arithmetic;
  DenseSet<Value> dependent; ///< on what is differentiated by
  DenseMap<Value, Slope> slopes;
};

} // namespace

Slope Differentiator::convert(const Slope &a, Type type) {
  if (a.isNumber() || a.value.getType() == type)
    return a;
  return {stablehlo::ConvertOp::create(builder, location, type, a.value)};
}

/// What an operand has of its operation's slope; nothing where there is no
/// rule.
std::optional<Slope> Differentiator::passOn(OpOperand &operand,
                                            const Slope &dy) {
  Operation &op = *operand.getOwner();
  Value x = operand.get();
  if (auto select = dyn_cast<stablehlo::SelectOp>(op)) {
    bool isTrue = operand.getOperandNumber() == 1;
    return arithmetic.choose(select.getPred(), isTrue ? dy : Slope(),
                             isTrue ? Slope() : dy, x.getType());
  }
  if (auto clamp = dyn_cast<stablehlo::ClampOp>(op)) {
    if (operand.getOperandNumber() != 1)
      return std::nullopt;
    using Direction = stablehlo::ComparisonDirection;
    Value inside = stablehlo::AndOp::create(
        builder, location, compare(x, clamp.getMin(), Direction::GT),
        compare(x, clamp.getMax(), Direction::LT));
    return arithmetic.choose(inside, dy, {}, x.getType());
  }
  if (isa<stablehlo::ConvertOp>(op))
    return convert(dy, x.getType());
  const stablehlo::ScalarForm *form = stablehlo::scalarFormOf(&op);
  if (!form || !form->derivative)
    return std::nullopt;
  SmallVector<Slope, 2> operands(op.operand_begin(), op.operand_end());
  return form->derivative(
      {arithmetic, operands, op.getResult(0), operand.getOperandNumber(), dy});
}

void Differentiator::findDependent(ArrayRef<Value> variables) {
  dependent.insert_range(variables);
  for (Operation &op : function.front().without_terminator())
    if (!stablehlo::isFlat(&op) && llvm::any_of(op.getOperands(), [&](Value x) {
          return dependent.contains(x);
        }))
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
    slopes[result] = 1;
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
      slopes[x] = arithmetic.add(
          of(x), isVariable ? convert(*dx, result.getType()) : *dx);
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
    return arithmetic.materialise(of(variable), exponent.getType());
  };
  results.insert(results.begin() + 1, slopeBy(score));
  unsigned next = 1;
  for (unsigned term : terms) {
    if (term == scoreTerm)
      results.push_back(results[1]);
    else if (term == exponentTerm)
      results.push_back(arithmetic.materialise(1, exponent.getType()));
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
