//===- SplitWindows.cpp - Windows of a few tokens, written out ------------===//
//
//   before   %y = convolution(%x, %k), a window of 3, padded by 2 in front
//   after    %y = pad(%x, low = 2, high = -2) %k[0]
//                 + pad(%x, low = 1, high = -1) %k[1] + %x %k[2]
//
// Ranks bring each other such rows as those of any shift; a window is one loop,
// which needs them all. A kernel's gradient is a window as long as the
// sequence, at as many places as the kernel is long: a product over the
// sequence for each.
//
//===----------------------------------------------------------------------===//

#include "Windows/Window.h"
#include "sp/IR/LocalForms.h"
#include "sp/Import/Passes.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SPLITWINDOWSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

Value mlir::sp::rowsAt(OpBuilder &builder, Location loc, Value value,
                       Value padding, const Window &window, int64_t place) {
  if (window.stride == 1)
    return padRows(builder, loc, value, padding, window.dim,
                   window.edges(place), window.between);
  // All places read the same rows, each at other ones of a run.
  int64_t front = window.edges(0).first,
          behind = window.edges(window.size - 1).second;
  value = padRows(builder, loc, value, padding, window.dim, {front, behind},
                  window.between);
  SmallVector<int64_t> starts(rankOf(value), 0), strides(rankOf(value), 1),
      shape(shapeOf(value));
  starts[window.dim] = place * window.dilation;
  strides[window.dim] = window.stride;
  SmallVector<int64_t> limits(shape);
  limits[window.dim] =
      starts[window.dim] + (window.results - 1) * window.stride + 1;
  shape[window.dim] = window.results;
  return stablehlo::SliceOp::create(builder, loc, typeOf(value).clone(shape),
                                    value, starts, limits, strides);
}

namespace {

/// The window of a reduction, where it is along one dimension only.
std::optional<Window> windowOf(stablehlo::ReduceWindowOp op) {
  Window window;
  Value input = op.getInputs()[0];
  for (auto [dim, size] : llvm::enumerate(op.getWindowDimensions())) {
    int64_t low = 0, high = 0;
    if (std::optional<DenseIntElementsAttr> padding = op.getPadding()) {
      low = padding->getValues<int64_t>()[2 * dim];
      high = padding->getValues<int64_t>()[2 * dim + 1];
    }
    int64_t stride = entryOf(op.getWindowStrides(), dim),
            rows = shapeOf(input)[dim], results = shapeOf(op.getResult(0))[dim],
            between = entryOf(op.getBaseDilations(), dim) - 1;
    bool isTrivial = size == 1 && stride == 1 && between == 0;
    if (isTrivial ? low != 0 || high != 0 : window.size > 0)
      return std::nullopt;
    if (isTrivial)
      continue;
    window = {static_cast<int64_t>(dim),
              size,
              entryOf(op.getWindowDilations(), dim),
              stride,
              low,
              rows + (rows - 1) * between,
              results,
              between};
  }
  if (window.size < 1 || window.size > kMostPlaces || !window.readsRows())
    return std::nullopt;
  return window;
}

void splitReduction(stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1 ||
      !isa<FloatType>(elementOf(op.getInputs()[0])))
    return;
  std::optional<Reduction> kind = reductionOf(op.getBody());
  std::optional<Window> window = windowOf(op);
  Value init = op.getInitValues()[0];
  if (!kind || !window || !isNeutral(init, *kind))
    return;
  OpBuilder builder(op);
  Value input = op.getInputs()[0], made;
  Type element = elementOf(input);
  bool isSum = *kind == Reduction::Sum;
  for (int64_t place = 0; place < window->size; ++place) {
    Value part = rowsAt(builder, op.getLoc(), input, init, *window, place);
    if (isSum)
      part = convertType(builder, op.getLoc(), part, inF32(part.getType()));
    made = made ? combine(builder, op.getLoc(), made, part, *kind) : part;
  }
  made = convertType(builder, op.getLoc(), made, typeOf(made).clone(element));
  op.getResult(0).replaceAllUsesWith(made);
  op.erase();
}

struct SplitWindowsPass : sp::impl::SplitWindowsPassBase<SplitWindowsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> windows;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::ConvolutionOp, stablehlo::ReduceWindowOp>(op))
        windows.push_back(op);
    });
    for (Operation *op : windows)
      llvm::TypeSwitch<Operation *>(op)
          .Case([](stablehlo::ConvolutionOp op) { splitConvolution(op); })
          .Case([](stablehlo::ReduceWindowOp op) { splitReduction(op); });
  }
};

} // namespace
