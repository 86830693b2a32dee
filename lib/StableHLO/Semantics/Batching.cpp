//===- Batching.cpp - Operations for a batch of what they were written for ===//

#include "sp/StableHLO/Batching.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sp;

/// Dimensions behind one that is put in front of them.
static SmallVector<int64_t> behind(ArrayRef<int64_t> dims,
                                   ArrayRef<int64_t> front = {}) {
  SmallVector<int64_t> moved(front);
  for (int64_t dim : dims)
    moved.push_back(dim + 1);
  return moved;
}

RankedTensorType Batcher::typeOf(Type each) const {
  auto type = cast<RankedTensorType>(each);
  SmallVector<int64_t> shape = {size};
  llvm::append_range(shape, type.getShape());
  return type.clone(shape);
}

void Batcher::vary(Value value, Value batched) {
  mapping.map(value, batched);
  varying.insert(value);
}

Value Batcher::batched(Value value) {
  Value known = shared(value);
  if (varies(value))
    return known;
  auto dims = llvm::to_vector(llvm::seq<int64_t>(1, rankOf(value) + 1));
  return stablehlo::BroadcastInDimOp::create(
      builder, value.getLoc(), typeOf(value.getType()), known, dims);
}

SmallVector<Value> Batcher::allBatched(ValueRange values) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return batched(value); });
}

Operation *Batcher::copy(Operation *op, ValueRange operands) {
  Operation *made = builder.clone(*op, mapping);
  made->setOperands(operands);
  for (auto [result, own] :
       llvm::zip_equal(op->getResults(), made->getResults())) {
    own.setType(typeOf(result.getType()));
    vary(result, own);
  }
  return made;
}

LogicalResult Batcher::emitElementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isScalar = rankOf(operand) == 0 && rankOf(op->getResult(0)) != 0;
    if (isScalar && !varies(operand)) {
      operands.push_back(shared(operand));
      continue;
    }
    Value each = batched(operand);
    if (isScalar)
      each = stablehlo::BroadcastInDimOp::create(
          builder, op->getLoc(),
          typeOf(op->getResult(0).getType()).clone(elementOf(operand)), each,
          ArrayRef<int64_t>{0});
    operands.push_back(each);
  }
  copy(op, operands);
  return success();
}

/// Moves, whose attributes count dimensions.
LogicalResult Batcher::emitMove(Operation *op) {
  auto sharedRest = [&] {
    SmallVector<Value> operands = {batched(op->getOperand(0))};
    for (Value rest : op->getOperands().drop_front()) {
      if (varies(rest))
        return SmallVector<Value>();
      operands.push_back(shared(rest));
    }
    return operands;
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](stablehlo::BroadcastInDimOp op) {
        auto made = cast<stablehlo::BroadcastInDimOp>(
            copy(op, batched(op.getOperand())));
        made.setBroadcastDimensions(behind(op.getBroadcastDimensions(), 0));
        return success();
      })
      .Case([&](stablehlo::ReshapeOp op) {
        copy(op, batched(op.getOperand()));
        return success();
      })
      .Case([&](stablehlo::TransposeOp op) {
        auto made =
            cast<stablehlo::TransposeOp>(copy(op, batched(op.getOperand())));
        made.setPermutation(behind(op.getPermutation(), 0));
        return success();
      })
      .Case([&](stablehlo::ReverseOp op) {
        auto made =
            cast<stablehlo::ReverseOp>(copy(op, batched(op.getOperand())));
        made.setDimensions(behind(op.getDimensions()));
        return success();
      })
      .Case([&](stablehlo::ConcatenateOp op) {
        auto made = cast<stablehlo::ConcatenateOp>(
            copy(op, allBatched(op.getInputs())));
        made.setDimension(op.getDimension() + 1);
        return success();
      })
      .Case([&](stablehlo::SliceOp op) {
        SmallVector<int64_t> starts(op.getStartIndices()),
            limits(op.getLimitIndices()), strides(op.getStrides());
        starts.insert(starts.begin(), 0);
        limits.insert(limits.begin(), size);
        strides.insert(strides.begin(), 1);
        auto made =
            cast<stablehlo::SliceOp>(copy(op, batched(op.getOperand())));
        made.setStartIndices(starts);
        made.setLimitIndices(limits);
        made.setStrides(strides);
        return success();
      })
      .Case([&](stablehlo::PadOp op) {
        SmallVector<Value> operands = sharedRest();
        if (operands.empty())
          return failure();
        auto made = cast<stablehlo::PadOp>(copy(op, operands));
        SmallVector<int64_t> low(op.getEdgePaddingLow()),
            high(op.getEdgePaddingHigh()), interior(op.getInteriorPadding());
        for (SmallVector<int64_t> *edges : {&low, &high, &interior})
          edges->insert(edges->begin(), 0);
        made.setEdgePaddingLow(low);
        made.setEdgePaddingHigh(high);
        made.setInteriorPadding(interior);
        return success();
      })
      .Default([](Operation *) { return failure(); });
}

LogicalResult Batcher::emitProduct(stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  SmallVector<int64_t> lhsBatch(numbers.getLhsBatchingDimensions()),
      rhsBatch(numbers.getRhsBatchingDimensions()),
      lhsContracting(numbers.getLhsContractingDimensions()),
      rhsContracting(numbers.getRhsContractingDimensions());
  bool ofLhs = varies(op.getLhs()), ofRhs = varies(op.getRhs());
  if (ofLhs) {
    lhsBatch = behind(lhsBatch);
    lhsContracting = behind(lhsContracting);
  }
  if (ofRhs) {
    rhsBatch = behind(rhsBatch);
    rhsContracting = behind(rhsContracting);
  }
  // Behind what else of the result the batch comes, where one side has it.
  int64_t place = lhsBatch.size();
  if (ofLhs && ofRhs) {
    lhsBatch.insert(lhsBatch.begin(), 0);
    rhsBatch.insert(rhsBatch.begin(), 0);
    place = 0;
  } else if (ofRhs) {
    place = rankOf(op.getLhs()) - lhsContracting.size();
  }
  Value made =
      contract(builder, op.getLoc(), shared(op.getLhs()), shared(op.getRhs()),
               {lhsBatch, rhsBatch, lhsContracting, rhsContracting},
               elementOf(op), op.getPrecisionConfigAttr());
  if (auto algorithm = op.getAlgorithmAttr())
    cast<stablehlo::DotGeneralOp>(made.getDefiningOp())
        .setAlgorithmAttr(algorithm);
  SmallVector<int64_t> order = {place};
  for (int64_t dim = 0; dim < rankOf(made); ++dim)
    if (dim != place)
      order.push_back(dim);
  vary(op, transposed(builder, op.getLoc(), made, order));
  return success();
}

LogicalResult Batcher::emitReduce(stablehlo::ReduceOp op) {
  SmallVector<Value> operands = allBatched(op.getInputs());
  for (Value init : op.getInitValues()) {
    if (varies(init))
      return failure();
    operands.push_back(shared(init));
  }
  auto made = cast<stablehlo::ReduceOp>(copy(op, operands));
  made.setDimensions(behind(op.getDimensions()));
  return success();
}

LogicalResult Batcher::emitGather(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  bool ofOperand = varies(op.getOperand());
  auto ofSource = [&](ArrayRef<int64_t> numbers) {
    return ofOperand ? behind(numbers) : llvm::to_vector(numbers);
  };
  SmallVector<int64_t> operandBatch = ofSource(dims.getOperandBatchingDims()),
                       indexBatch = behind(dims.getStartIndicesBatchingDims()),
                       sizes(op.getSliceSizes());
  if (ofOperand) {
    operandBatch.insert(operandBatch.begin(), 0);
    indexBatch.insert(indexBatch.begin(), 0);
    sizes.insert(sizes.begin(), 1);
  }
  auto made = cast<stablehlo::GatherOp>(
      copy(op, {shared(op.getOperand()), batched(op.getStartIndices())}));
  made.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), behind(dims.getOffsetDims()),
      ofSource(dims.getCollapsedSliceDims()), operandBatch, indexBatch,
      ofSource(dims.getStartIndexMap()), dims.getIndexVectorDim() + 1));
  made.setSliceSizes(sizes);
  return success();
}

LogicalResult Batcher::emitScatter(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  auto made =
      cast<stablehlo::ScatterOp>(copy(op, allBatched(op->getOperands())));
  made.setScatterDimensionNumbersAttr(
      stablehlo::ScatterDimensionNumbersAttr::get(
          op.getContext(), behind(dims.getUpdateWindowDims()),
          behind(dims.getInsertedWindowDims()),
          behind(dims.getInputBatchingDims(), 0),
          behind(dims.getScatterIndicesBatchingDims(), 0),
          behind(dims.getScatterDimsToOperandDims()),
          dims.getIndexVectorDim() + 1));
  return success();
}

LogicalResult Batcher::emitBarrier(Operation *op) {
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return varies(operand) ? batched(operand) : shared(operand);
  });
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, op->getLoc(), ValueRange(operands).getTypes(), operands);
  for (auto [operand, result, made] : llvm::zip_equal(
           op->getOperands(), op->getResults(), barrier->getResults())) {
    if (varies(operand))
      vary(result, made);
    else
      share(result, made);
  }
  return success();
}

LogicalResult Batcher::emit(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return varies(operand); })) {
    // What a region reads may vary.
    bool reads = false;
    forEachRead(op, [&](Value value) { reads |= varies(value); });
    if (reads)
      return failure();
    builder.clone(*op, mapping);
    return success();
  }
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return emitBarrier(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](stablehlo::DotGeneralOp op) { return emitProduct(op); })
      .Case([&](stablehlo::ReduceOp op) { return emitReduce(op); })
      .Case([&](stablehlo::GatherOp op) { return emitGather(op); })
      .Case([&](stablehlo::ScatterOp op) { return emitScatter(op); })
      .Default([&](Operation *op) {
        return isElementwise(op) ? emitElementwise(op) : emitMove(op);
      });
}
