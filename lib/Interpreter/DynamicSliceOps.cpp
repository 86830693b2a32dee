//===- DynamicSliceOps.cpp - Windows at computed positions ----------------===//
#include "Elementwise.h"
#include "Strided.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Where a window of `sizes` begins in a tensor of `shape`: the wanted starts,
/// moved so that the window lies inside.
static SmallVector<int64_t> clampStarts(ArrayRef<Tensor> starts,
                                        ArrayRef<int64_t> sizes,
                                        ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  for (auto [start, size, extent] : llvm::zip_equal(starts, sizes, shape))
    result.push_back(std::clamp<int64_t>(start.integerAt(0), 0, extent - size));
  return result;
}

static View windowView(ArrayRef<int64_t> shape, ArrayRef<int64_t> starts) {
  View view = wholeView(shape);
  for (auto [start, stride] : llvm::zip_equal(starts, view.strides))
    view.offset += start * stride;
  return view;
}

static Tensor dynamicSliceOp(stablehlo::DynamicSliceOp op, Tensors &operands,
                             Evaluator &) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  ArrayRef<int64_t> shape = operands[0].getShape();
  SmallVector<int64_t> starts = clampStarts(
      ArrayRef<Tensor>(operands).drop_front(1), type.getShape(), shape);
  Tensor result(type);
  copyView(type.getShape(), operands[0], windowView(shape, starts), result,
           wholeView(type.getShape()));
  return result;
}

static Tensor dynamicUpdateSliceOp(stablehlo::DynamicUpdateSliceOp,
                                   Tensors &operands, Evaluator &) {
  ArrayRef<int64_t> sizes = operands[1].getShape();
  SmallVector<int64_t> shape(operands[0].getShape());
  SmallVector<int64_t> starts =
      clampStarts(ArrayRef<Tensor>(operands).drop_front(2), sizes, shape);
  // Updated in place when the operand is not used again, as in a scan.
  Tensor result = std::move(operands[0]);
  copyView(sizes, operands[1], wholeView(sizes), result,
           windowView(shape, starts));
  return result;
}

void interpreter::addDynamicSliceOps(Handlers &handlers) {
  handlers.add<stablehlo::DynamicSliceOp>(dynamicSliceOp);
  handlers.add<stablehlo::DynamicUpdateSliceOp>(dynamicUpdateSliceOp);
}
