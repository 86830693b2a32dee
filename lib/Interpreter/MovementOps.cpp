//===- MovementOps.cpp - Operations that only move elements ---------------===//
#include "Elementwise.h"
#include "Evaluator.h"
#include "Strided.h"
#include "sp/Interpreter/TensorBytes.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::interpreter;
using sp::typeOf;

static FailureOr<Tensor> constantOp(Operation *op, ElementsAttr value) {
  std::string reason;
  FailureOr<Tensor> result = tensorFromAttribute(value, reason);
  if (failed(result))
    return op->emitOpError() << "has no value to evaluate: " << reason;
  return result;
}

static FailureOr<Tensor> iotaOp(stablehlo::IotaOp op, Tensors &,
                                Evaluator &evaluator) {
  RankedTensorType type = typeOf(op.getResult());
  Tensor result(type);
  int64_t dimension = op.getIotaDimension();
  int64_t count = type.getDimSize(dimension);
  int64_t inner = stridesOf(type.getShape())[dimension];
  if (result.getStorage() == Storage::Bool)
    return unsupportedElements(op, type.getElementType());
  dispatch(result.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    MutableArrayRef<T> out = result.mutableElements<T>();
    for (int64_t i = 0, e = out.size(); i < e; i += inner)
      std::fill_n(out.data() + i, inner, T(double(i / inner % count)));
  });
  evaluator.rounderFor(type.getElementType()).apply(result);
  return result;
}

static Tensor broadcastOp(stablehlo::BroadcastInDimOp op, Tensors &operands,
                          Evaluator &) {
  RankedTensorType type = typeOf(op.getResult());
  ArrayRef<int64_t> from = operands[0].getShape();
  if (from == type.getShape() && llvm::is_sorted(op.getBroadcastDimensions()))
    return operands[0];
  Tensor result(type);
  SmallVector<int64_t> strides = stridesOf(from);
  View view{0, SmallVector<int64_t>(type.getRank(), 0)};
  for (auto [i, dimension] : llvm::enumerate(op.getBroadcastDimensions()))
    if (from[i] != 1)
      view.strides[dimension] = strides[i];
  copyView(type.getShape(), operands[0], view, result,
           wholeView(type.getShape()));
  return result;
}

static Tensor reshapeOp(stablehlo::ReshapeOp op, Tensors &operands,
                        Evaluator &) {
  return operands[0].withType(typeOf(op.getResult()));
}

static Tensor transposeOp(stablehlo::TransposeOp op, Tensors &operands,
                          Evaluator &) {
  RankedTensorType type = typeOf(op.getResult());
  if (llvm::is_sorted(op.getPermutation()))
    return operands[0];
  Tensor result(type);
  SmallVector<int64_t> strides = stridesOf(operands[0].getShape());
  View view;
  for (int64_t dimension : op.getPermutation())
    view.strides.push_back(strides[dimension]);
  copyView(type.getShape(), operands[0], view, result,
           wholeView(type.getShape()));
  return result;
}

static Tensor reverseOp(stablehlo::ReverseOp op, Tensors &operands,
                        Evaluator &) {
  RankedTensorType type = typeOf(op.getResult());
  Tensor result(type);
  View view = wholeView(type.getShape());
  for (int64_t dimension : op.getDimensions()) {
    view.offset += (type.getDimSize(dimension) - 1) * view.strides[dimension];
    view.strides[dimension] = -view.strides[dimension];
  }
  copyView(type.getShape(), operands[0], view, result,
           wholeView(type.getShape()));
  return result;
}

static Tensor sliceOp(stablehlo::SliceOp op, Tensors &operands, Evaluator &) {
  RankedTensorType type = typeOf(op.getResult());
  Tensor result(type);
  View view = wholeView(operands[0].getShape());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    view.offset += op.getStartIndices()[d] * view.strides[d];
    view.strides[d] *= op.getStrides()[d];
  }
  copyView(type.getShape(), operands[0], view, result,
           wholeView(type.getShape()));
  return result;
}

static Tensor concatenateOp(stablehlo::ConcatenateOp op, Tensors &operands,
                            Evaluator &) {
  RankedTensorType type = typeOf(op.getResult());
  Tensor result(type);
  View to = wholeView(type.getShape());
  for (const Tensor &part : operands) {
    copyView(part.getShape(), part, wholeView(part.getShape()), result, to);
    to.offset +=
        part.getShape()[op.getDimension()] * to.strides[op.getDimension()];
  }
  return result;
}

static Tensor padOp(stablehlo::PadOp op, Tensors &operands, Evaluator &) {
  Padding padding{SmallVector<int64_t>(op.getEdgePaddingLow()),
                  SmallVector<int64_t>(op.getEdgePaddingHigh()),
                  SmallVector<int64_t>(op.getInteriorPadding())};
  return padTensor(operands[0], operands[1], padding);
}

/// broadcast: the sizes come before the operand's dimensions.
static Tensor leadingBroadcastOp(stablehlo::BroadcastOp op, Tensors &operands,
                                 Evaluator &) {
  RankedTensorType type = typeOf(op.getResult());
  Tensor result(type);
  View view{0, SmallVector<int64_t>(op.getBroadcastSizes().size(), 0)};
  llvm::append_range(view.strides, stridesOf(operands[0].getShape()));
  copyView(type.getShape(), operands[0], view, result,
           wholeView(type.getShape()));
  return result;
}

static FailureOr<Tensor> dimensionSizeOp(stablehlo::GetDimensionSizeOp op,
                                         Tensors &operands, Evaluator &) {
  return scalarInteger(op, operands[0].getShape()[op.getDimension()]);
}

void interpreter::addMovementOps(Handlers &handlers) {
  handlers.add<stablehlo::GetDimensionSizeOp>(dimensionSizeOp);
  handlers.addElementwise<stablehlo::ConstantOp>(
      [](stablehlo::ConstantOp op, Tensors &, Evaluator &) {
        return constantOp(op, op.getValue());
      });
  handlers.add<sdy::ConstantOp>([](sdy::ConstantOp op, Tensors &, Evaluator &) {
    return constantOp(op, op.getValue());
  });
  handlers.add<stablehlo::IotaOp>(iotaOp);
  handlers.add<stablehlo::BroadcastInDimOp>(broadcastOp);
  handlers.add<stablehlo::BroadcastOp>(leadingBroadcastOp);
  handlers.add<stablehlo::ReshapeOp>(reshapeOp);
  handlers.add<stablehlo::TransposeOp>(transposeOp);
  handlers.add<stablehlo::ReverseOp>(reverseOp);
  handlers.add<stablehlo::SliceOp>(sliceOp);
  handlers.add<stablehlo::ConcatenateOp>(concatenateOp);
  handlers.add<stablehlo::PadOp>(padOp);
}
