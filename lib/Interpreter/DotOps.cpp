//===- DotOps.cpp - Contractions ------------------------------------------===//
#include "Elementwise.h"
#include "MatrixProduct.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

static SmallVector<int64_t> freeDimensions(int64_t rank,
                                           ArrayRef<int64_t> batching,
                                           ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> result;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batching, d) && !llvm::is_contained(contracting, d))
      result.push_back(d);
  return result;
}

/// Contraction of operands whose dimensions are named; `op` has the result.
static FailureOr<Tensor>
contract(Operation *op, Tensors &operands, ArrayRef<int64_t> lhsBatching,
         ArrayRef<int64_t> rhsBatching, ArrayRef<int64_t> lhsContracting,
         ArrayRef<int64_t> rhsContracting, Evaluator &evaluator) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<Storage> storage = storageOf(type.getElementType());
  for (Tensor &operand : operands)
    if (operand.getStorage() != storage)
      return op->emitOpError()
             << "is not evaluated from elements of type "
             << operand.getElementType() << " to " << type.getElementType();
  SmallVector<int64_t> lhsFree =
      freeDimensions(operands[0].getRank(), lhsBatching, lhsContracting);
  SmallVector<int64_t> rhsFree =
      freeDimensions(operands[1].getRank(), rhsBatching, rhsContracting);
  Tensor a = inGroups(operands[0], {lhsBatching, lhsFree, lhsContracting});
  Tensor b = inGroups(operands[1], {rhsBatching, rhsContracting, rhsFree});
  operands.clear();
  Tensor result = multiplyMatrices(a, b, type.getElementType(),
                                   evaluator.getOptions().precision);
  evaluator.rounderFor(type.getElementType()).apply(result);
  return result.withType(type);
}

static FailureOr<Tensor> dotGeneralOp(stablehlo::DotGeneralOp op,
                                      Tensors &operands, Evaluator &evaluator) {
  // An algorithm may ask for operands narrower than they are stored.
  if (stablehlo::DotAlgorithmAttr algorithm = op.getAlgorithmAttr()) {
    evaluator.rounderFor(algorithm.getLhsPrecisionType()).apply(operands[0]);
    evaluator.rounderFor(algorithm.getRhsPrecisionType()).apply(operands[1]);
  }
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  return contract(op, operands, numbers.getLhsBatchingDimensions(),
                  numbers.getRhsBatchingDimensions(),
                  numbers.getLhsContractingDimensions(),
                  numbers.getRhsContractingDimensions(), evaluator);
}

static FailureOr<Tensor> dotOp(stablehlo::DotOp op, Tensors &operands,
                               Evaluator &evaluator) {
  return contract(op, operands, {}, {}, {operands[0].getRank() - 1}, {0},
                  evaluator);
}

void interpreter::addDotOps(Handlers &handlers) {
  handlers.add<stablehlo::DotGeneralOp>(dotGeneralOp);
  handlers.add<stablehlo::DotOp>(dotOp);
}
