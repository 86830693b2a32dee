//===- SliceScatters.cpp - One update where it is known, as a slice -------===//
//
//   before   %y = scatter %x at [128] of %u : [S, D], no update computed
//   after    %y = dynamic_update_slice %x, %u, 128, 0
//
// Arrays whose slices are set at constants (`x.at[:, :n].set(u)`) are scatters
// of one index.
//
//===----------------------------------------------------------------------===//

#include "sp/StableHLO/Loops.h"
#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SLICESCATTERSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// Whether what is there before counts for nothing.
static bool isReplaced(stablehlo::ScatterOp op) {
  Block &body = op.getUpdateComputation().front();
  Operation *end = body.getTerminator();
  return op.getInputs().size() == 1 && &body.front() == end &&
         end->getOperand(0) == body.getArgument(1);
}

/// The components of the only index, if there is one and they are known.
static std::optional<SmallVector<int64_t>> componentsOf(Value index) {
  SmallVector<Value> parts{index};
  if (auto joined = index.getDefiningOp<stablehlo::ConcatenateOp>())
    parts.assign(joined->operand_begin(), joined->operand_end());
  SmallVector<int64_t> components;
  for (Value part : parts)
    if (std::optional<int64_t> number =
            countOf(shapeOf(part)) == 1 ? evaluateScalar(part) : std::nullopt)
      components.push_back(*number);
  if (components.size() != parts.size())
    return std::nullopt;
  return components;
}

/// The shape of the only window, if there is one; a scatter leaves one out that
/// does not lie inside, where a slice would be moved.
static std::optional<SmallVector<int64_t>> windowOf(stablehlo::ScatterOp op,
                                                    ArrayRef<int64_t> starts) {
  auto dims = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> whole = shapeOf(op.getInputs()[0]),
                    update = shapeOf(op.getUpdates()[0]);
  SmallVector<int64_t> window(whole.size(), 1);
  auto sizes = dims.getUpdateWindowDims().begin();
  for (int64_t dim = 0; dim < static_cast<int64_t>(whole.size()); ++dim)
    if (!llvm::is_contained(dims.getInsertedWindowDims(), dim))
      window[dim] = update[*sizes++];
  bool isOne = countOf(window) == countOf(update);
  for (auto [size, start, all] : llvm::zip_equal(window, starts, whole))
    isOne &= start >= 0 && start + size <= all;
  return isOne ? std::optional(std::move(window)) : std::nullopt;
}

static void replaceBySlice(stablehlo::ScatterOp op) {
  auto dims = op.getScatterDimensionNumbers();
  if (!isReplaced(op) || !dims.getInputBatchingDims().empty())
    return;
  auto components = componentsOf(op.getScatterIndices());
  if (!components ||
      components->size() != dims.getScatterDimsToOperandDims().size())
    return;
  Value input = op.getInputs()[0], update = op.getUpdates()[0];
  SmallVector<int64_t> starts(rankOf(input), 0);
  for (auto [dim, start] :
       llvm::zip_equal(dims.getScatterDimsToOperandDims(), *components))
    starts[dim] = start;
  std::optional<SmallVector<int64_t>> window = windowOf(op, starts);
  if (!window)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (shapeOf(update) != ArrayRef(*window))
    update =
        stablehlo::ReshapeOp::create(b, typeOf(update).clone(*window), update);
  SmallVector<Value> places;
  for (int64_t start : starts)
    places.push_back(stablehlo::ConstantOp::create(
        b, DenseElementsAttr::get(RankedTensorType::get({}, b.getI32Type()),
                                  b.getI32IntegerAttr(start))));
  op->replaceAllUsesWith(ValueRange{stablehlo::DynamicUpdateSliceOp::create(
      b, input.getType(), input, update, places)});
  op.erase();
}

namespace {
struct SliceScattersPass : sp::impl::SliceScattersPassBase<SliceScattersPass> {
  void runOnOperation() override { getOperation().walk(replaceBySlice); }
};
} // namespace
