//===- RoundingErrors.cpp - How far rounding moves results ----------------===//
#include "RoundingErrors.h"
#include "Combiner.h"
#include "ErrorRules.h"

using namespace mlir;
using namespace mlir::interpreter;

static ErrorKind kindOfCombiner(Region &body) {
  Operation *combiner = soleCombiner(body);
  if (isa_and_nonnull<stablehlo::AddOp>(combiner))
    return ErrorKind::Adds;
  return isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(combiner)
             ? ErrorKind::Extreme
             : ErrorKind::Others;
}

ErrorKind interpreter::errorKindOf(Operation *op) {
  using namespace stablehlo;
  if (isa<WhileOp, IfOp, CaseOp, CompositeOp, CustomCallOp,
          OptimizationBarrierOp>(op) ||
      isa<func::FuncDialect, sdy::SdyDialect>(op->getDialect()))
    return ErrorKind::Carries;
  if (isa<DotGeneralOp, DotOp, ConvolutionOp>(op))
    return ErrorKind::Adds;
  if (isa<ReduceOp, ReduceWindowOp>(op))
    return kindOfCombiner(op->getRegion(0));
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    Block &body = scatter.getUpdateComputation().front();
    bool replaces = llvm::hasSingleElement(body) &&
                    body.getTerminator()->getOperand(0) == body.getArgument(1);
    ErrorKind kind = kindOfCombiner(op->getRegion(0));
    return replaces                  ? ErrorKind::Moves
           : kind == ErrorKind::Adds ? kind
                                     : ErrorKind::Others;
  }
  if (isa<BroadcastInDimOp, BroadcastOp, ReshapeOp, TransposeOp, ReverseOp,
          SliceOp, ConcatenateOp, PadOp, DynamicSliceOp, DynamicUpdateSliceOp,
          GatherOp>(op))
    return ErrorKind::Moves;
  if (!Handlers::get().isElementwise(op) || isa<ReducePrecisionOp>(op))
    return ErrorKind::Others;
  if (isa<NegOp, AbsOp, SignOp, FloorOp, CeilOp, RoundOp, RoundNearestEvenOp,
          MaxOp, MinOp, SelectOp, ClampOp, RealOp, ImagOp, ComplexOp, RemOp>(
          op))
    return ErrorKind::Exact;
  return isa<AddOp, SubtractOp, MulOp, DivOp, SqrtOp, ConvertOp,
             chlo::SquareOp>(op)
             ? ErrorKind::Arithmetic
             : ErrorKind::Function;
}

static FailureOr<Tensors> evaluateMoves(const Evaluation &evaluation,
                                        const Tensors &operands) {
  FailureOr<Tensors> results = evaluation.run(operands);
  bool hasErrors = llvm::any_of(
      operands, [](const Tensor &operand) { return operand.getErrors(); });
  if (failed(results) || !isFloating(results->front()) || !hasErrors)
    return results;
  Tensors own;
  for (const Tensor &operand : operands)
    own.push_back(isFloating(operand) ? errorsOf(operand) : operand);
  FailureOr<Tensors> errors = evaluation.runExactly(own);
  if (failed(errors))
    return failure();
  results->front().setErrors(errors->front());
  return results;
}

/// The largest (or smallest) element has the error of those that could be it.
static FailureOr<Tensors> evaluateExtreme(const Evaluation &evaluation,
                                          const Tensors &operands) {
  FailureOr<Tensors> results = evaluation.run(operands);
  if (failed(results) || !isFloating(results->front()) ||
      !operands[0].getErrors())
    return results;
  // Far enough for f64 to see the errors of its own.
  double times =
      isa<stablehlo::MaxOp>(&evaluation.op->getRegion(0).front().front())
          ? 0x1p12
          : -0x1p12;
  Tensors moved = operands;
  moved[0].clearErrors();
  for (auto [element, error] :
       llvm::zip_equal(moved[0].mutableElements<double>(),
                       operands[0].getErrors()->elements<double>()))
    element += times * error;
  FailureOr<Tensors> after = evaluation.runExactly(moved);
  if (failed(after))
    return failure();
  Squares squares(results->front());
  for (int64_t i = 0, e = squares.result.size(); i < e; ++i)
    squares.addAt(
        i,
        (after->front().at<double>(i) - squares.result.at<double>(i)) / times);
  results->front() = squares.take();
  return results;
}

/// What is known of no other kind: as far off as the worst of the operands, and
/// rounded once.
static FailureOr<Tensors> evaluateOthers(const Evaluation &evaluation,
                                         const Tensors &operands) {
  FailureOr<Tensors> results = evaluation.run(operands);
  if (failed(results))
    return failure();
  double largest = 0;
  for (const Tensor &operand : operands)
    for (int64_t i = 0; operand.getErrors() && i < operand.size(); ++i)
      largest = std::max(largest, magnitudeAt(*operand.getErrors(), i));
  auto reduced = dyn_cast<stablehlo::ReducePrecisionOp>(evaluation.op);
  double unit =
      reduced ? std::ldexp(1.0, -int(reduced.getMantissaBits()) - 1) : 0;
  for (Tensor &result : *results) {
    if (!isFloating(result))
      continue;
    Squares squares(result);
    for (int64_t i = 0, e = result.size(); i < e; ++i) {
      squares.addAt(i, largest);
      squares.addAt(i, unit * magnitudeAt(result, i));
    }
    result = squares.take();
  }
  return results;
}

FailureOr<Tensors> interpreter::evaluateWithErrors(const Handler &handler,
                                                   Operation *op,
                                                   Tensors operands,
                                                   Evaluator &evaluator) {
  if (isa<sdy::ManualComputationOp>(op))
    return op->emitOpError() << "has no errors: they are not known where "
                                "devices exchange values";
  ErrorKind kind = errorKindOf(op);
  if (kind == ErrorKind::Carries)
    return handler(op, operands, evaluator);
  Evaluation evaluation{handler, op, evaluator};
  switch (kind) {
  case ErrorKind::Moves:
    return evaluateMoves(evaluation, operands);
  case ErrorKind::Adds:
    return evaluateSums(evaluation, operands);
  case ErrorKind::Extreme:
    return evaluateExtreme(evaluation, operands);
  case ErrorKind::Others:
    return evaluateOthers(evaluation, operands);
  default:
    return evaluateElements(evaluation, kind, operands);
  }
}
