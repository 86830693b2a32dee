//===- Operations.cpp - What the matcher knows of single operations -------===//

#include "sp/StableHLO/Operations.h"

#include "sp/StableHLO/ElementFunctions.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sp;

bool mlir::sp::isContraction(Operation *op) {
  return isa<stablehlo::DotGeneralOp, stablehlo::DotOp>(op);
}

ContractionDims mlir::sp::contractionDims(Operation *op) {
  if (auto general = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    stablehlo::DotDimensionNumbersAttr dims = general.getDotDimensionNumbers();
    return {llvm::to_vector(dims.getLhsBatchingDimensions()),
            llvm::to_vector(dims.getRhsBatchingDimensions()),
            llvm::to_vector(dims.getLhsContractingDimensions()),
            llvm::to_vector(dims.getRhsContractingDimensions())};
  }
  int64_t last =
      cast<RankedTensorType>(op->getOperand(0).getType()).getRank() - 1;
  return {{}, {}, {last}, {0}};
}

bool mlir::sp::contracts(Operation *op) {
  return isContraction(op) && !contractionDims(op).lhsContracting.empty();
}

bool mlir::sp::isElementwise(Operation *op) {
  // Wider bits are more than the numbers of SampleEvaluator hold.
  if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op))
    return cast.getOperand().getType().getShape() ==
               cast.getType().getShape() &&
           cast.getType().getElementTypeBitWidth() <= 32;
  return op->hasTrait<stablehlo::Elementwise>() && elementFunction(op);
}

bool mlir::sp::isIdentity(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return call.getCallTargetName() == "Sharding" && op->getNumOperands() == 1;
  return op->hasTrait<stablehlo::Identity>();
}

bool mlir::sp::isOrdering(Operation *op) {
  return isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ClampOp,
             stablehlo::AbsOp, stablehlo::SignOp, stablehlo::CompareOp>(op);
}

bool mlir::sp::isLayout(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
             stablehlo::TransposeOp>(op);
}

bool mlir::sp::isRearrangement(Operation *op) {
  return isLayout(op) || isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp,
                             stablehlo::ReverseOp>(op);
}

bool mlir::sp::isMove(Operation *op) {
  return isRearrangement(op) ||
         isa<stablehlo::ConcatenateOp, stablehlo::PadOp>(op) ||
         (isIdentity(op) && !isa<stablehlo::ReducePrecisionOp>(op));
}

bool mlir::sp::isAdditive(Operation *op) {
  return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::NegOp,
             stablehlo::SelectOp, stablehlo::ConvertOp>(op);
}

bool mlir::sp::widens(Operation *op) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  auto source = dyn_cast<FloatType>(from.getElementType());
  auto target = dyn_cast<FloatType>(to.getElementType());
  return source && target &&
         source.getFPMantissaWidth() <= target.getFPMantissaWidth() &&
         (source == target || source.getWidth() < target.getWidth());
}

bool mlir::sp::narrows(Operation *op) {
  return isa<stablehlo::ConvertOp>(op) && !widens(op);
}

void mlir::sp::forEachRead(Operation *op, function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(operand);
  });
}

Value mlir::sp::otherOperand(Operation *op, Value operand) {
  return op->getOperand(op->getOperand(0) == operand ? 1 : 0);
}

Operation *mlir::sp::combinerOf(Operation *op) {
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  if (!reduce || reduce.getInputs().size() != 1 ||
      !reduce.getBody().hasOneBlock())
    return nullptr;
  Block &body = reduce.getBody().front();
  if (body.getOperations().size() != 2)
    return nullptr;
  Operation &combine = body.front();
  if (combine.getNumOperands() != 2 || combine.getNumResults() != 1 ||
      body.getTerminator()->getOperand(0) != combine.getResult(0))
    return nullptr;
  Value a = combine.getOperand(0), b = combine.getOperand(1);
  Value x = body.getArgument(0), y = body.getArgument(1);
  if (!((a == x && b == y) || (a == y && b == x)))
    return nullptr;
  return &combine;
}

Value mlir::sp::lookThroughLoops(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<stablehlo::WhileOp>(
        argument.getOwner()->getParentOp());
    if (!loop)
      return value;
    unsigned index = argument.getArgNumber();
    Block &body = loop.getBody().front();
    if (body.getTerminator()->getOperand(index) != body.getArgument(index))
      return value;
    value = loop->getOperand(index);
  }
  return value;
}

Value mlir::sp::originOf(Value value) {
  for (value = lookThroughLoops(value);; value = lookThroughLoops(value)) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return value;
    Operation *op = result.getOwner();
    if (isa<stablehlo::OptimizationBarrierOp>(op))
      value = op->getOperand(result.getResultNumber());
    else if (op->getNumRegions() == 0 &&
             (op->getNumOperands() == 1 || isa<stablehlo::DynamicSliceOp>(op)))
      value = op->getOperand(0);
    else
      return value;
  }
}

/// Whether all operations that a value is computed by are taken, none of which
/// then reads an argument.
static bool isMadeOf(Value value,
                     llvm::function_ref<bool(Operation *)> isTaken) {
  static constexpr unsigned maxOperations = 64;
  llvm::SmallSetVector<Operation *, 8> open;
  auto add = [&](Value operand) {
    Operation *op = lookThroughLoops(operand).getDefiningOp();
    if (op)
      open.insert(op);
    return op != nullptr && open.size() <= maxOperations;
  };
  if (!add(value))
    return false;
  for (size_t i = 0; i < open.size(); ++i)
    if (!isTaken(open[i]) || !llvm::all_of(open[i]->getOperands(), add))
      return false;
  return true;
}

bool mlir::sp::isUniform(Value value) {
  return isMadeOf(value, [](Operation *op) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue()) ||
             constant.getValue().getNumElements() == 1;
    return isElementwise(op) || isIdentity(op) || isLayout(op);
  });
}

bool mlir::sp::isMadeOfConstants(Value value) {
  return isMadeOf(value, [](Operation *op) {
    return (op->getNumRegions() == 0 || combinerOf(op)) &&
           isMemoryEffectFree(op);
  });
}

DenseElementsAttr mlir::sp::lookupTable(Operation *op) {
  auto gather = cast<stablehlo::GatherOp>(op);
  auto constant = lookThroughLoops(gather.getOperand())
                      .getDefiningOp<stablehlo::ConstantOp>();
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  auto indices = cast<RankedTensorType>(gather.getStartIndices().getType());
  int64_t vector = dims.getIndexVectorDim();
  bool isLookup =
      constant && cast<RankedTensorType>(constant.getType()).getRank() == 1 &&
      dims.getOffsetDims().empty() && dims.getOperandBatchingDims().empty() &&
      dims.getStartIndexMap() == ArrayRef<int64_t>{0} &&
      dims.getCollapsedSliceDims() == ArrayRef<int64_t>{0} &&
      (vector == indices.getRank() || indices.getDimSize(vector) == 1);
  return isLookup ? dyn_cast<DenseElementsAttr>(constant.getValue())
                  : DenseElementsAttr();
}

bool mlir::sp::readsRows(Operation *op) {
  auto gather = cast<stablehlo::GatherOp>(op);
  stablehlo::GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  auto indices = cast<RankedTensorType>(gather.getStartIndices().getType());
  auto table = cast<RankedTensorType>(gather.getOperand().getType());
  int64_t vector = dims.getIndexVectorDim();
  return table.getRank() >= 1 && dims.getOperandBatchingDims().empty() &&
         dims.getStartIndexMap() == ArrayRef<int64_t>{0} &&
         dims.getCollapsedSliceDims() == ArrayRef<int64_t>{0} &&
         (vector == indices.getRank() || indices.getDimSize(vector) == 1) &&
         gather.getSliceSizes().drop_front() == table.getShape().drop_front();
}

std::optional<int64_t> mlir::sp::constantInteger(Value value) {
  auto constant =
      lookThroughLoops(value).getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!elements || !(elements.isSplat() || elements.getNumElements() == 1))
    return std::nullopt;
  if (elements.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  APInt number = *elements.value_begin<APInt>();
  return elements.getElementType().isUnsignedInteger()
             ? int64_t(number.getZExtValue())
             : number.getSExtValue();
}

void mlir::sp::eraseDead(Operation *root) {
  for (Region &region : root->getRegions())
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
        if (isOpTriviallyDead(&op))
          op.erase();
        else
          eraseDead(&op);
      }
}
