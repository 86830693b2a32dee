//===- Strided.cpp - Copies between strided views of tensors --------------===//
#include "Strided.h"
#include <cstring>

using namespace mlir;
using namespace mlir::interpreter;

namespace {
/// A loop of a copy: how often, and how far each side moves.
struct Loop {
  int64_t count, from, to;
};
} // namespace

/// Nested loops from outermost to innermost; neighbours that walk straight on
/// are joined, loops of one iteration dropped.
static SmallVector<Loop> joinLoops(ArrayRef<int64_t> shape, const View &from,
                                   const View &to) {
  SmallVector<Loop> loops;
  for (size_t d = 0; d < shape.size(); ++d) {
    Loop loop{shape[d], from.strides[d], to.strides[d]};
    if (loop.count == 1)
      continue;
    if (!loops.empty() && loops.back().from == loop.from * loop.count &&
        loops.back().to == loop.to * loop.count) {
      loop.count *= loops.back().count;
      loops.back() = loop;
      continue;
    }
    loops.push_back(loop);
  }
  if (loops.empty())
    loops.push_back({1, 1, 1});
  return loops;
}

template <typename T>
static void copyLoops(ArrayRef<Loop> loops, const T *from, T *to) {
  Loop loop = loops.front();
  if (loops.size() > 1) {
    for (int64_t i = 0; i < loop.count; ++i)
      copyLoops(loops.drop_front(), from + i * loop.from, to + i * loop.to);
    return;
  }
  if (loop.from == 1 && loop.to == 1) {
    std::copy_n(from, loop.count, to);
    return;
  }
  if (loop.from == 0 && loop.to == 1) {
    std::fill_n(to, loop.count, *from);
    return;
  }
  for (int64_t i = 0; i < loop.count; ++i)
    to[i * loop.to] = from[i * loop.from];
}

void interpreter::copyView(ArrayRef<int64_t> shape, const Tensor &from,
                           const View &fromView, Tensor &to,
                           const View &toView) {
  for (int64_t size : shape)
    if (size == 0)
      return;
  SmallVector<Loop> loops = joinLoops(shape, fromView, toView);
  dispatch(to.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    copyLoops<T>(loops, from.elements<T>().data() + fromView.offset,
                 to.mutableElements<T>().data() + toView.offset);
  });
}

Tensor interpreter::partOf(const Tensor &tensor, int64_t dimension, int64_t i,
                           int64_t count) {
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dimension] /= count;
  View from = wholeView(tensor.getShape());
  from.offset = i * shape[dimension] * from.strides[dimension];
  Tensor result(RankedTensorType::get(shape, tensor.getElementType()));
  copyView(shape, tensor, from, result, wholeView(shape));
  return result;
}

Tensor interpreter::inGroups(const Tensor &tensor,
                             ArrayRef<ArrayRef<int64_t>> groups) {
  SmallVector<int64_t> strides = stridesOf(tensor.getShape());
  SmallVector<int64_t> order, shape, grouped;
  View view;
  for (ArrayRef<int64_t> group : groups) {
    grouped.push_back(1);
    for (int64_t dimension : group) {
      int64_t size = tensor.getShape()[dimension];
      grouped.back() *= size;
      // A dimension of size one may stand anywhere.
      if (size == 1)
        continue;
      order.push_back(dimension);
      shape.push_back(size);
      view.strides.push_back(strides[dimension]);
    }
  }
  auto type = RankedTensorType::get(grouped, tensor.getElementType());
  if (llvm::is_sorted(order))
    return tensor.withType(type);
  Tensor result(type);
  copyView(shape, tensor, view, result, wholeView(shape));
  return result;
}

Tensor interpreter::padTensor(const Tensor &tensor, const Tensor &value,
                              const Padding &padding) {
  View from = wholeView(tensor.getShape());
  SmallVector<int64_t> resultShape, shape, firsts;
  for (int64_t d = 0; d < tensor.getRank(); ++d) {
    int64_t size = tensor.getShape()[d], low = padding.low[d];
    int64_t step = padding.interior[d] + 1;
    int64_t spread = size == 0 ? 0 : (size - 1) * step + 1;
    resultShape.push_back(std::max<int64_t>(low + spread + padding.high[d], 0));
    // The first operand index that stays inside, and the end of those that do.
    int64_t first = low >= 0 ? 0 : (-low + step - 1) / step;
    int64_t room = std::max<int64_t>(resultShape.back() - low, 0);
    int64_t end = std::min(size, (room + step - 1) / step);
    firsts.push_back(first);
    shape.push_back(std::max<int64_t>(end - first, 0));
  }
  View to = wholeView(resultShape);
  for (int64_t d = 0; d < tensor.getRank(); ++d) {
    int64_t step = padding.interior[d] + 1;
    from.offset += firsts[d] * from.strides[d];
    to.offset += (padding.low[d] + firsts[d] * step) * to.strides[d];
    to.strides[d] *= step;
  }
  auto type = RankedTensorType::get(resultShape, tensor.getElementType());
  Tensor result = dispatch(tensor.getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Tensor::splat<T>(type, value.at<T>());
  });
  copyView(shape, tensor, from, result, to);
  return result;
}
