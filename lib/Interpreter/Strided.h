//===- Strided.h - Copies between strided views of tensors -----*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_STRIDED_H
#define SP_LIB_INTERPRETER_STRIDED_H

#include "sp/Interpreter/Tensor.h"

namespace mlir::interpreter {

/// A view of a tensor's elements: element (i0, i1, ...) lies at
/// offset + sum of ik * strides[k]. Strides may be 0 (repeat) or negative
/// (reverse).
struct View {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};

/// The view of all of a tensor of that shape.
inline View wholeView(ArrayRef<int64_t> shape) {
  return View{0, stridesOf(shape)};
}

/// to(i) = from(i) for every index i of `shape`. Both tensors have one storage.
/// Every shuffle of data is this one loop: only the views differ.
void copyView(ArrayRef<int64_t> shape, const Tensor &from, const View &fromView,
              Tensor &to, const View &toView);

/// Part `i` of `count` equal ones along a dimension.
Tensor partOf(const Tensor &tensor, int64_t dimension, int64_t i,
              int64_t count);

/// `tensor` with its dimensions in the order of the groups, as a tensor of one
/// dimension a group. Costs nothing when they are in that order.
Tensor inGroups(const Tensor &tensor, ArrayRef<ArrayRef<int64_t>> groups);

/// Padding of each dimension: element i lands at low + i * (interior + 1);
/// negative edges cut elements off.
struct Padding {
  SmallVector<int64_t> low, high, interior;
};
Tensor padTensor(const Tensor &tensor, const Tensor &value,
                 const Padding &padding);

/// Calls `fn(index)` for every index of `shape`, in row-major order.
template <typename Fn> void forEachIndex(ArrayRef<int64_t> shape, Fn fn) {
  for (int64_t size : shape)
    if (size == 0)
      return;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    fn(ArrayRef<int64_t>(index));
    int64_t d = int64_t(shape.size()) - 1;
    while (d >= 0 && ++index[d] == shape[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_STRIDED_H
