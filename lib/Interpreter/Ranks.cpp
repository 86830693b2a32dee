//===- Ranks.cpp - Ranks of a mesh as owners of rows ----------------------===//
#include "Ranks.h"
#include "Strided.h"

using namespace mlir;
using namespace mlir::interpreter;

FailureOr<Axis> Axis::find(Operation *op, sp::AxisAttr axis) {
  sp::MeshOp mesh = sp::getMesh(op->getParentOfType<ModuleOp>());
  std::optional<sp::MeshOp::Factor> factor;
  if (mesh)
    factor = mesh.findFactor(axis);
  if (!factor)
    return op->emitOpError()
           << "cannot be evaluated: expected a mesh with axis \""
           << axis.getText() << "\"";
  return Axis(*factor);
}

FailureOr<Owners> Owners::find(Operation *op, sp::LayoutAttr layout) {
  Axis axis;
  if (layout.getRanks() > 1) {
    FailureOr<Axis> found = Axis::find(op, layout.getAxis());
    if (failed(found))
      return failure();
    axis = *found;
  }
  if (axis.size() != layout.getRanks())
    return op->emitOpError()
           << "cannot be evaluated: expected a layout for the " << axis.size()
           << " ranks of axis \"" << layout.getAxis().getText()
           << "\" but got one for " << layout.getRanks();
  return Owners(sp::toAlgebra(layout), axis);
}

namespace {
template <typename T> T unwrittenNumber(unsigned width) {
  if constexpr (std::is_same_v<T, uint8_t>)
    return 1;
  if constexpr (std::is_same_v<T, int64_t>)
    return int64_t((uint64_t(1) << (width - 1)) - 1);
  if constexpr (std::is_same_v<T, uint64_t>)
    return ~uint64_t(0) >> (64 - width);
  return T(std::numeric_limits<double>::quiet_NaN());
}
} // namespace

Tensor interpreter::unwritten(RankedTensorType type) {
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  unsigned width = integer ? integer.getWidth() : 64;
  return dispatch(*storageOf(type.getElementType()), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Tensor::splat<T>(type, unwrittenNumber<T>(width));
  });
}

Tensor interpreter::zeroed(RankedTensorType type) {
  return dispatch(*storageOf(type.getElementType()), [&](auto tag) {
    return Tensor::splat(type, typename decltype(tag)::type());
  });
}

void interpreter::copyRows(const Tensor &source, Tensor &target,
                           const RowCopy &rows) {
  SmallVector<int64_t> shape(source.getShape());
  shape[rows.dim] = rows.count;
  View from = wholeView(source.getShape()), to = wholeView(target.getShape());
  from.offset = rows.from * from.strides[rows.dim];
  to.offset = rows.to * to.strides[rows.dim];
  copyView(shape, source, from, target, to);
}
