//===- SplitStrides.cpp - Every n-th row, as a column of runs of n --------===//
//
//   before   %y = slice %x [1:4096:2] : 4096 -> 2048
//   after    %y = slice (reshape %x : 4096 -> 2048x2) [:, 1] : 2048
//
//   before   %x = pad %y, low = 1, high = 0, interior = 1 : 2048 -> 4096
//   after    %x = reshape (pad (reshape %y : 2048 -> 2048x1), low = [0, 1])
//                 : 2048x2 -> 4096
//
// A rank that has whole runs of rows has every part of such a reshape.
//
//===----------------------------------------------------------------------===//

#include "Windows/Window.h"
#include "sp/IR/LocalForms.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SPLITSTRIDESPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// [.., rows, ..] as [.., rows / run, run, ..].
static Value inRuns(OpBuilder &builder, Location loc, Value value, unsigned dim,
                    int64_t run) {
  SmallVector<int64_t> shape(shapeOf(value));
  shape[dim] /= run;
  shape.insert(shape.begin() + dim + 1, run);
  return reshapeTo(builder, loc, value, shape);
}

/// [.., runs, run, ..] as [.., runs * run, ..].
static Value joined(OpBuilder &builder, Location loc, Value value,
                    unsigned dim) {
  SmallVector<int64_t> shape(shapeOf(value));
  shape[dim] *= shape[dim + 1];
  shape.erase(shape.begin() + dim + 1);
  return reshapeTo(builder, loc, value, shape);
}

static void splitSlice(stablehlo::SliceOp op) {
  SmallVector<int64_t> starts(op.getStartIndices()),
      limits(op.getLimitIndices()), strides(op.getStrides());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<unsigned> strided;
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (std::exchange(stride, 1) == 1)
      continue;
    if (shapeOf(op)[dim] == 1) {
      limits[dim] = starts[dim] + 1;
      continue;
    }
    strided.push_back(dim);
    starts[dim] = 0;
    limits[dim] = shapeOf(op.getOperand())[dim];
  }
  if (ArrayRef(strides) == op.getStrides())
    return;
  SmallVector<int64_t> shape;
  for (auto [start, limit] : llvm::zip_equal(starts, limits))
    shape.push_back(limit - start);
  Value value = op.getOperand();
  if (ArrayRef(shape) != shapeOf(value))
    value = stablehlo::SliceOp::create(builder, loc, typeOf(value).clone(shape),
                                       value, starts, limits, strides);
  for (unsigned dim : strided) {
    int64_t stride = op.getStrides()[dim], first = op.getStartIndices()[dim],
            rows = shapeOf(op)[dim], place = first % stride;
    Value padding =
        neutralSplat(builder, loc, RankedTensorType::get({}, elementOf(value)),
                     Reduction::Sum);
    // Of the first and the last run nothing but the row at `place` is read.
    value = padRows(
        builder, loc, value, padding, dim,
        {place - first, first - place + rows * stride - shapeOf(value)[dim]},
        /*between=*/0, {place, stride - 1 - place});
    value = inRuns(builder, loc, value, dim, stride);
    value = rowOf(builder, loc, value, dim + 1, place);
  }
  op.replaceAllUsesWith(value);
  op.erase();
}

static void splitPad(stablehlo::PadOp op) {
  OpBuilder builder(op);
  SmallVector<int64_t> low(op.getEdgePaddingLow()),
      high(op.getEdgePaddingHigh()), zeros(low.size(), 0);
  Value value = op.getOperand();
  bool isSplit = false;
  for (auto [dim, interior] : llvm::enumerate(op.getInteriorPadding())) {
    if (interior == 0)
      continue;
    isSplit = true;
    int64_t place = llvm::mod(low[dim], interior + 1);
    value = inRuns(builder, op.getLoc(), value, dim, 1);
    value = padRows(builder, op.getLoc(), value, op.getPaddingValue(), dim + 1,
                    {place, interior - place});
    value = joined(builder, op.getLoc(), value, dim);
    low[dim] -= place;
    high[dim] -= interior - place;
  }
  if (!isSplit)
    return;
  value = stablehlo::PadOp::create(builder, op.getLoc(), op.getType(), value,
                                   op.getPaddingValue(), low, high, zeros);
  op.replaceAllUsesWith(value);
  op.erase();
}

namespace {
struct SplitStridesPass : sp::impl::SplitStridesPassBase<SplitStridesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<stablehlo::SliceOp, stablehlo::PadOp>(op) ||
          countOf(shapeOf(op->getOperand(0))) == 0 ||
          countOf(shapeOf(op->getResult(0))) == 0)
        return;
      if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
        splitSlice(slice);
      else
        splitPad(cast<stablehlo::PadOp>(op));
    });
  }
};
} // namespace
