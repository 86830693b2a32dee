//===- FoldSlicesOfPads.cpp - Slices of padded values as pads -------------===//

#include "sp/StableHLO/Passes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_FOLDSLICESOFPADSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t each) { return each == value; });
}

static void fold(stablehlo::SliceOp slice) {
  auto pad = slice.getOperand().getDefiningOp<stablehlo::PadOp>();
  if (!pad || !isAll(slice.getStrides(), 1) ||
      !isAll(pad.getInteriorPadding(), 0))
    return;
  SmallVector<int64_t> low(pad.getEdgePaddingLow()),
      high(pad.getEdgePaddingHigh());
  for (int64_t dim = 0; dim < rankOf(slice); ++dim) {
    int64_t padded = shapeOf(pad.getResult())[dim];
    low[dim] -= slice.getStartIndices()[dim];
    high[dim] -= padded - slice.getLimitIndices()[dim];
    // Nothing but padding is left.
    if (low[dim] >= shapeOf(slice)[dim] || high[dim] >= shapeOf(slice)[dim])
      return;
  }
  OpBuilder builder(slice);
  Value folded = stablehlo::PadOp::create(
      builder, slice.getLoc(), slice.getType(), pad.getOperand(),
      pad.getPaddingValue(), low, high, pad.getInteriorPadding());
  slice.replaceAllUsesWith(folded);
  slice.erase();
  if (pad->use_empty())
    pad.erase();
}

namespace {
struct FoldSlicesOfPadsPass
    : sp::impl::FoldSlicesOfPadsPassBase<FoldSlicesOfPadsPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::SliceOp op) { fold(op); });
  }
};
} // namespace
