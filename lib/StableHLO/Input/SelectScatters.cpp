//===- SelectScatters.cpp - One update a row, as a choice -----------------===//
//
//   before   %g = scatter add into zeros : [S, V], one index and update a row
//   after    %g = select(iota == index, 0 + update, 0)
//
// A gradient of what a loss picks from each row of logits is such a scatter. As
// a choice it is element-wise: it needs no copy of what it starts from and is
// made where it is read.
//
//===----------------------------------------------------------------------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SELECTSCATTERSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

/// A scatter whose every row gets one update at most.
class RowScatter {
public:
  explicit RowScatter(stablehlo::ScatterOp op)
      : op(op), dims(op.getScatterDimensionNumbers()), b(op.getLoc(), op) {}

  bool matches();
  void replace();

private:
  /// Whether the scatter starts from what has to be made for it.
  bool startsAnew();
  /// For each dimension of the operand that of the updates that it follows, or
  /// none.
  bool pairDims();
  /// `value`, whose dimension pairs[d] is the operand's d, for all operand
  /// elements.
  Value spread(Value value, ArrayRef<std::optional<int64_t>> pairs);
  Value indexOf(unsigned component);

  stablehlo::ScatterOp op;
  stablehlo::ScatterDimensionNumbersAttr dims;
  ImplicitLocOpBuilder b;
  SmallVector<std::optional<int64_t>> ofUpdates, ofIndices;
};

} // namespace

bool RowScatter::startsAnew() {
  Value start = op.getInputs()[0];
  if (auto spread = start.getDefiningOp<stablehlo::BroadcastInDimOp>())
    start = spread.getOperand();
  DenseElementsAttr constant;
  return matchPattern(start, m_Constant(&constant)) && constant.isSplat();
}

bool RowScatter::pairDims() {
  Value input = op.getInputs()[0], update = op.getUpdates()[0];
  int64_t rank = rankOf(input), vectorDim = dims.getIndexVectorDim();
  ofUpdates.assign(rank, std::nullopt);
  ofIndices.assign(rank, std::nullopt);
  SmallVector<int64_t> windows(dims.getUpdateWindowDims());
  // Dimensions of indices and of updates that count updates, in order.
  SmallVector<int64_t> counting, counted;
  for (int64_t dim = 0; dim < rankOf(op.getScatterIndices()); ++dim)
    if (dim != vectorDim)
      counting.push_back(dim);
  for (int64_t dim = 0; dim < rankOf(update); ++dim)
    if (!llvm::is_contained(windows, dim))
      counted.push_back(dim);
  size_t window = 0, paired = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto batch = llvm::find(dims.getInputBatchingDims(), dim);
    if (batch != dims.getInputBatchingDims().end()) {
      int64_t index = dims.getScatterIndicesBatchingDims()
                          [batch - dims.getInputBatchingDims().begin()];
      ofIndices[dim] = index;
      ofUpdates[dim] = counted[llvm::find(counting, index) - counting.begin()];
      ++paired;
      continue;
    }
    if (llvm::is_contained(dims.getInsertedWindowDims(), dim))
      continue;
    // A window that is smaller would lie where an index says.
    ofUpdates[dim] = windows[window++];
    if (shapeOf(update)[*ofUpdates[dim]] != shapeOf(input)[dim] ||
        llvm::is_contained(dims.getScatterDimsToOperandDims(), dim))
      return false;
  }
  // What else counts updates must count one.
  for (auto [index, place] : llvm::zip_equal(counting, counted))
    if (!llvm::is_contained(dims.getScatterIndicesBatchingDims(), index) &&
        shapeOf(update)[place] != 1)
      return false;
  return paired == dims.getInputBatchingDims().size();
}

bool RowScatter::matches() {
  if (op.getInputs().size() != 1 || !startsAnew() ||
      dims.getScatterDimsToOperandDims().empty() ||
      llvm::is_contained(shapeOf(op.getUpdates()[0]), 0))
    return false;
  Block &body = op.getUpdateComputation().front();
  Operation &combine = body.front();
  bool isOneOperation = &combine == body.getTerminator() ||
                        (combine.getNextNode() == body.getTerminator() &&
                         combine.hasTrait<stablehlo::Elementwise>());
  auto isArgument = [&](Value value) {
    return llvm::is_contained(body.getArguments(), value);
  };
  return isOneOperation && llvm::all_of(combine.getOperands(), isArgument) &&
         combine.getNumOperands() > 0 && pairDims();
}

Value RowScatter::spread(Value value, ArrayRef<std::optional<int64_t>> pairs) {
  // Broadcasts go from dimensions in the order of the result's.
  SmallVector<int64_t> order, shape, places;
  for (auto [dim, from] : llvm::enumerate(pairs))
    if (from) {
      order.push_back(*from);
      shape.push_back(shapeOf(value)[*from]);
      places.push_back(dim);
    }
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> moved;
    for (int64_t dim : order)
      moved.push_back(shapeOf(value)[dim]);
    value = stablehlo::TransposeOp::create(b, typeOf(value).clone(moved), value,
                                           order);
  }
  if (shapeOf(value) != ArrayRef<int64_t>(shape))
    value = stablehlo::ReshapeOp::create(b, typeOf(value).clone(shape), value);
  auto type = typeOf(op.getInputs()[0]).clone(elementOf(value));
  return stablehlo::BroadcastInDimOp::create(b, type, value, places);
}

/// The index into the operand's dimension that component `component` counts,
/// for every element.
Value RowScatter::indexOf(unsigned component) {
  Value indices = op.getScatterIndices();
  int64_t vectorDim = dims.getIndexVectorDim();
  if (vectorDim < rankOf(indices)) {
    SmallVector<int64_t> starts(rankOf(indices), 0), limits(shapeOf(indices)),
        strides(rankOf(indices), 1);
    starts[vectorDim] = component;
    limits[vectorDim] = component + 1;
    SmallVector<int64_t> shape(limits);
    shape[vectorDim] = 1;
    if (shapeOf(indices)[vectorDim] != 1)
      indices = stablehlo::SliceOp::create(b, typeOf(indices).clone(shape),
                                           indices, starts, limits, strides);
  }
  return spread(indices, ofIndices);
}

void RowScatter::replace() {
  Value start = op.getInputs()[0];
  RankedTensorType type = typeOf(start);
  Value isThere;
  for (auto [component, dim] :
       llvm::enumerate(dims.getScatterDimsToOperandDims())) {
    Value index = indexOf(component);
    // Positions need not fit a narrow type.
    if (unsigned width = elementOf(index).getIntOrFloatBitWidth(); width < 32)
      index =
          stablehlo::ConvertOp::create(b, type.clone(b.getI32Type()), index);
    Value position = stablehlo::IotaOp::create(b, typeOf(index), dim);
    Value isHere = stablehlo::CompareOp::create(
        b, position, index, stablehlo::ComparisonDirection::EQ);
    isThere = isThere ? stablehlo::AndOp::create(b, isThere, isHere).getResult()
                      : isHere;
  }
  Value update = spread(op.getUpdates()[0], ofUpdates);
  Block &body = op.getUpdateComputation().front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), start);
  mapping.map(body.getArgument(1), update);
  Value combined = mapping.lookupOrNull(body.getTerminator()->getOperand(0));
  if (!combined) {
    Operation *combine = b.clone(body.front(), mapping);
    combine->getResult(0).setType(type);
    combined = combine->getResult(0);
  }
  Value chosen = stablehlo::SelectOp::create(b, type, isThere, combined, start);
  op->replaceAllUsesWith(ValueRange(chosen));
  op->erase();
}

namespace {
struct SelectScattersPass
    : sp::impl::SelectScattersPassBase<SelectScattersPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::ScatterOp op) {
      RowScatter scatter(op);
      if (scatter.matches())
        scatter.replace();
    });
  }
};
} // namespace
