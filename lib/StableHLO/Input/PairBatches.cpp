//===- PairBatches.cpp - Indices that count batches as batches ------------===//
//
//   before   %y = scatter %x at [iota over B, %i]     x[arange(B), i]
//   after    %y = scatter %x at [%i], batches B with B
//
// A scatter or gather that says so stays with the rows of the batch, whoever
// has them; of indices nobody knows where they lie.
//
//===----------------------------------------------------------------------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_PAIRBATCHESPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

static bool isZero(Value value) {
  if (auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = spread.getOperand();
  return matchPattern(value, m_Zero());
}

/// Where dimension `dim` of a reshape comes from, of which only dimensions of 1
/// come and go; none where others do.
static std::optional<unsigned> sourceOf(stablehlo::ReshapeOp op, unsigned dim) {
  auto others = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(
        llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
  };
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op);
  if (others(from) != others(to))
    return std::nullopt;
  size_t before = others(to.take_front(dim)).size();
  for (auto [index, size] : llvm::enumerate(from))
    if (size != 1 && before-- == 0)
      return index;
  return std::nullopt;
}

/// Whether each element is its own position along a dimension of several, as
/// `arange` has it: also where negative ones would count from the end.
static bool isPosition(Value value, unsigned dim) {
  if (auto iota = value.getDefiningOp<stablehlo::IotaOp>())
    return iota.getIotaDimension() == dim;
  if (auto convert = value.getDefiningOp<stablehlo::ConvertOp>()) {
    auto type = dyn_cast<IntegerType>(elementOf(convert));
    return type && type.getWidth() >= 32 &&
           isa<IntegerType>(elementOf(convert.getOperand())) &&
           isPosition(convert.getOperand(), dim);
  }
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
    std::optional<unsigned> source = sourceOf(reshape, dim);
    return source && isPosition(reshape.getOperand(), *source);
  }
  if (auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    ArrayRef<int64_t> dims = spread.getBroadcastDimensions();
    const int64_t *source = llvm::find(dims, int64_t(dim));
    return source != dims.end() &&
           isPosition(spread.getOperand(), source - dims.begin());
  }
  auto select = value.getDefiningOp<stablehlo::SelectOp>();
  if (!select)
    return false;
  auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>();
  return compare &&
         compare.getComparisonDirection() ==
             stablehlo::ComparisonDirection::LT &&
         isZero(compare.getRhs()) && isPosition(compare.getLhs(), dim) &&
         isPosition(select.getOnFalse(), dim);
}

namespace {

/// Indices of which one component counts a dimension of theirs.
struct CountedIndices {
  stablehlo::ConcatenateOp parts;
  unsigned component = 0, indexDim = 0;
};

} // namespace

/// A component that counts positions of indices, of as many as the dimension
/// `dims[component]` of `value` has, and picks one of them.
static std::optional<CountedIndices>
findCounted(Value value, Value indices, int64_t vectorDim,
            ArrayRef<int64_t> dims, ArrayRef<int64_t> picked,
            ArrayRef<int64_t> indexBatches) {
  auto parts = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  if (!parts || int64_t(parts.getDimension()) != vectorDim ||
      parts->getNumOperands() != dims.size() || dims.size() < 2)
    return std::nullopt;
  for (auto [component, part] : llvm::enumerate(parts->getOperands()))
    for (unsigned dim = 0; dim < rankOf(indices); ++dim) {
      int64_t size = shapeOf(indices)[dim];
      if (int64_t(dim) != vectorDim && size > 1 &&
          size == shapeOf(value)[dims[component]] &&
          llvm::is_contained(picked, dims[component]) &&
          !llvm::is_contained(indexBatches, dim) && isPosition(part, dim))
        return CountedIndices{parts, unsigned(component), dim};
    }
  return std::nullopt;
}

/// The indices without the component.
static Value otherIndices(OpBuilder &builder, const CountedIndices &counted) {
  stablehlo::ConcatenateOp parts = counted.parts;
  SmallVector<Value> others(parts->getOperands());
  others.erase(others.begin() + counted.component);
  if (others.size() == 1)
    return others.front();
  SmallVector<int64_t> shape(shapeOf(parts));
  shape[parts.getDimension()] = static_cast<int64_t>(others.size());
  return stablehlo::ConcatenateOp::create(builder, parts.getLoc(),
                                          typeOf(parts).clone(shape), others,
                                          parts.getDimension());
}

static SmallVector<int64_t> without(ArrayRef<int64_t> dims, int64_t dim) {
  SmallVector<int64_t> others(dims);
  llvm::erase(others, dim);
  return others;
}

/// Adds a pair of batch dimensions, which are in the order of the first ones.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
withPair(ArrayRef<int64_t> dims, ArrayRef<int64_t> indexDims, int64_t dim,
         int64_t indexDim) {
  auto place = llvm::lower_bound(dims, dim) - dims.begin();
  SmallVector<int64_t> both(dims), ofIndices(indexDims);
  both.insert(both.begin() + place, dim);
  ofIndices.insert(ofIndices.begin() + place, indexDim);
  return {both, ofIndices};
}

static bool pairBatch(stablehlo::ScatterOp op) {
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> toOperand = dims.getScatterDimsToOperandDims();
  std::optional<CountedIndices> counted = findCounted(
      op.getInputs()[0], op.getScatterIndices(), dims.getIndexVectorDim(),
      toOperand, dims.getInsertedWindowDims(),
      dims.getScatterIndicesBatchingDims());
  if (!counted)
    return false;
  OpBuilder builder(op);
  int64_t dim = toOperand[counted->component];
  auto [batches, indexBatches] =
      withPair(dims.getInputBatchingDims(),
               dims.getScatterIndicesBatchingDims(), dim, counted->indexDim);
  op.getScatterIndicesMutable().assign(otherIndices(builder, *counted));
  op.setScatterDimensionNumbersAttr(stablehlo::ScatterDimensionNumbersAttr::get(
      op.getContext(), dims.getUpdateWindowDims(),
      without(dims.getInsertedWindowDims(), dim), batches, indexBatches,
      without(toOperand, dim), dims.getIndexVectorDim()));
  return true;
}

static bool pairBatch(stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> toOperand = dims.getStartIndexMap();
  std::optional<CountedIndices> counted = findCounted(
      op.getOperand(), op.getStartIndices(), dims.getIndexVectorDim(),
      toOperand, dims.getCollapsedSliceDims(),
      dims.getStartIndicesBatchingDims());
  if (!counted)
    return false;
  OpBuilder builder(op);
  int64_t dim = toOperand[counted->component];
  auto [batches, indexBatches] =
      withPair(dims.getOperandBatchingDims(),
               dims.getStartIndicesBatchingDims(), dim, counted->indexDim);
  op.getStartIndicesMutable().assign(otherIndices(builder, *counted));
  op.setDimensionNumbersAttr(stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), dims.getOffsetDims(),
      without(dims.getCollapsedSliceDims(), dim), batches, indexBatches,
      without(toOperand, dim), dims.getIndexVectorDim()));
  return true;
}

namespace {
struct PairBatchesPass : sp::impl::PairBatchesPassBase<PairBatchesPass> {
  void runOnOperation() override {
    auto pairAll = [](auto op) {
      while (pairBatch(op)) {
      }
    };
    getOperation().walk([&](Operation *op) {
      if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
        pairAll(scatter);
      if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
        pairAll(gather);
    });
  }
};
} // namespace
