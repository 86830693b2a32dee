//===- Elementwise.h - Loops over flat tensors -----------------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_ELEMENTWISE_H
#define SP_LIB_INTERPRETER_ELEMENTWISE_H

#include "Evaluator.h"

namespace mlir::interpreter {

/// Elements computed between two roundings: they stay in the first cache.
inline constexpr int64_t kElementwiseBlock = 2048;

/// Result i is fn(x[i]), rounded; R and T are the C++ types of the storages.
template <typename R, typename T, typename Fn>
Tensor map(Tensor &x, Type elementType, const Rounder &round, Fn fn) {
  const T *in = x.elements<T>().data();
  auto type = RankedTensorType::get(x.getShape(), elementType);
  Tensor result = x.takeFor(type);
  MutableArrayRef<R> out = result.mutableElements<R>();
  int64_t count = out.size();
  for (int64_t begin = 0; begin < count; begin += kElementwiseBlock) {
    int64_t end = std::min(count, begin + kElementwiseBlock);
    for (int64_t i = begin; i < end; ++i)
      out[i] = fn(in[i]);
    round(out.slice(begin, end - begin));
  }
  return result;
}

/// Result i is fn(x[i], y[i]), rounded. Both have T elements and one shape.
template <typename R, typename T, typename Fn>
Tensor map(Tensor &x, Tensor &y, Type elementType, const Rounder &round,
           Fn fn) {
  const T *lhs = x.elements<T>().data();
  const T *rhs = y.elements<T>().data();
  auto type = RankedTensorType::get(x.getShape(), elementType);
  Tensor result = x.takeFor(type);
  // x, when its memory was not taken, stays alive for the loop.
  MutableArrayRef<R> out = result.mutableElements<R>();
  int64_t count = out.size();
  for (int64_t begin = 0; begin < count; begin += kElementwiseBlock) {
    int64_t end = std::min(count, begin + kElementwiseBlock);
    for (int64_t i = begin; i < end; ++i)
      out[i] = fn(lhs[i], rhs[i]);
    round(out.slice(begin, end - begin));
  }
  return result;
}

/// Element type of an operation's only result.
inline Type resultElement(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
}

inline FailureOr<Tensor> unsupportedElements(Operation *op, Type elementType) {
  return op->emitOpError() << "is not evaluated on elements of type "
                           << elementType;
}

/// `value` in the operation's scalar integer result type.
inline FailureOr<Tensor> scalarInteger(Operation *op, int64_t value) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  switch (*storageOf(type.getElementType())) {
  case Storage::Signed:
    return Tensor::splat<int64_t>(type, value);
  case Storage::Unsigned:
    return Tensor::splat<uint64_t>(type, value);
  default:
    return unsupportedElements(op, type.getElementType());
  }
}

/// An operation's meaning on each storage. An argument of type None says that
/// the operation does not exist there.
struct None {};

/// op(x) with result elements stored as the operand's.
template <typename OnInteger, typename OnFloat, typename OnComplex>
FailureOr<Tensor> mapUnary(Operation *op, Tensor &x, Evaluator &evaluator,
                           OnInteger onInteger, OnFloat onFloat,
                           OnComplex onComplex) {
  Type element = resultElement(op);
  Rounder round = evaluator.rounderFor(element);
  return dispatch(x.getStorage(), [&](auto tag) -> FailureOr<Tensor> {
    using T = typename decltype(tag)::type;
    auto apply = [&](auto fn) -> FailureOr<Tensor> {
      if constexpr (std::is_same_v<decltype(fn), None>)
        return unsupportedElements(op, x.getElementType());
      else
        return map<T, T>(x, element, round, fn);
    };
    if constexpr (std::is_same_v<T, double>)
      return apply(onFloat);
    else if constexpr (std::is_same_v<T, std::complex<double>>)
      return apply(onComplex);
    else
      return apply(onInteger);
  });
}

/// op(x, y) on equal element types.
template <typename OnInteger, typename OnFloat, typename OnComplex>
FailureOr<Tensor> mapBinary(Operation *op, Tensors &operands,
                            Evaluator &evaluator, OnInteger onInteger,
                            OnFloat onFloat, OnComplex onComplex) {
  alignShapes(operands);
  Tensor &x = operands[0], &y = operands[1];
  Type element = resultElement(op);
  Rounder round = evaluator.rounderFor(element);
  if (x.getStorage() != y.getStorage())
    return op->emitOpError() << "expected operands of one element type";
  return dispatch(x.getStorage(), [&](auto tag) -> FailureOr<Tensor> {
    using T = typename decltype(tag)::type;
    auto apply = [&](auto fn) -> FailureOr<Tensor> {
      if constexpr (std::is_same_v<decltype(fn), None>)
        return unsupportedElements(op, x.getElementType());
      else
        return map<T, T>(x, y, element, round, fn);
    };
    if constexpr (std::is_same_v<T, double>)
      return apply(onFloat);
    else if constexpr (std::is_same_v<T, std::complex<double>>)
      return apply(onComplex);
    else
      return apply(onInteger);
  });
}

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_ELEMENTWISE_H
