//===- ErrorsOfSums.cpp - Errors of terms, and of their addition ----------===//
#include "ErrorRules.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Terms of each sum.
static double countTerms(Operation *op, const Tensors &operands) {
  double first = operands[0].size();
  double results =
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  if (isa<stablehlo::ReduceOp>(op))
    return first / std::max(1.0, results);
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    double count = 1;
    for (int64_t d : dot.getDotDimensionNumbers().getLhsContractingDimensions())
      count *= operands[0].getShape()[d];
    return count;
  }
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return operands[1].size();
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    double count = 1;
    for (int64_t size : window.getWindowDimensions())
      count *= size;
    return count;
  }
  if (isa<stablehlo::DotOp>(op))
    return operands[0].getShape().back();
  auto convolution = cast<stablehlo::ConvolutionOp>(op);
  int64_t features =
      convolution.getDimensionNumbers().getKernelOutputFeatureDimension();
  return double(operands[1].size()) / operands[1].getShape()[features];
}

/// Whether a side of a product holds values of bf16, whatever its type.
static bool isBFloat(Value value) {
  while (!getElementTypeOrSelf(value).isBF16()) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() == 0 ||
        !(isa<stablehlo::ConvertOp>(op) || errorKindOf(op) == ErrorKind::Moves))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Squares of the errors of a side of a product. narrow: it is rounded to bf16.
static Tensor squaredErrors(const Tensor &x, bool narrow) {
  Tensor squares = magnitudes(errorsOf(x), square);
  if (!narrow)
    return squares;
  MutableArrayRef<double> elements = squares.mutableElements<double>();
  for (auto [i, element] : llvm::enumerate(elements))
    element += square(0x1p-8 * magnitudeAt(x, i));
  return squares;
}

/// Sums of products: each side's errors times the other side.
static LogicalResult addProducts(const Evaluation &evaluation,
                                 const Tensors &operands, Squares &squares) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(evaluation.op);
  bool isAttention =
      dot && !dot.getDotDimensionNumbers().getLhsBatchingDimensions().empty();
  for (int side : {0, 1}) {
    auto isNarrow = [&](int of) {
      return isBFloat(evaluation.op->getOperand(of));
    };
    bool isRounded = operands[side].getElementType().isF32() &&
                     isNarrow(1 - side) && !isNarrow(side);
    bool hasParts = side == 0 && squares.result.getElementType().isBF16();
    bool narrow = isAttention && (isRounded || hasParts);
    if (!operands[side].getErrors() && !narrow)
      continue;
    Tensors factors(2);
    factors[side] = squaredErrors(operands[side], narrow);
    factors[1 - side] = magnitudes(operands[1 - side], square);
    FailureOr<Tensors> own = evaluation.runExactly(factors);
    if (failed(own))
      return failure();
    squares.add(own->front());
  }
  return success();
}

FailureOr<Tensors> interpreter::evaluateSums(const Evaluation &evaluation,
                                             const Tensors &operands) {
  FailureOr<Tensors> results = evaluation.run(operands);
  if (failed(results) || !isFloating(results->front()))
    return results;
  Squares squares(results->front());
  Tensors terms, own;
  bool hasErrors = false;
  for (const Tensor &operand : operands) {
    bool isTerm = isFloating(operand);
    hasErrors |= operand.getErrors() != nullptr;
    terms.push_back(isTerm ? magnitudes(operand, [](double x) { return x; })
                           : operand);
    own.push_back(isTerm ? magnitudes(errorsOf(operand), square) : operand);
  }
  FailureOr<Tensors> sums = evaluation.runExactly(terms);
  if (failed(sums))
    return failure();
  squares.addSums(sums->front(), countTerms(evaluation.op, operands));
  if (isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp>(
          evaluation.op)) {
    if (failed(addProducts(evaluation, operands, squares)))
      return failure();
  } else if (hasErrors) {
    FailureOr<Tensors> added = evaluation.runExactly(own);
    if (failed(added))
      return failure();
    squares.add(added->front());
  }
  results->front() = squares.take();
  return results;
}
