//===- SelectionOps.cpp - Comparison, choice and bounds -------------------===//
#include "Comparison.h"
#include "Elementwise.h"

using namespace mlir;
using namespace mlir::interpreter;
using stablehlo::ComparisonDirection;
using Complex = std::complex<double>;

//===----------------------------------------------------------------------===//
// compare
//===----------------------------------------------------------------------===//

template <typename T, typename Key>
static Tensor compareBy(ComparisonDirection direction, Tensors &operands,
                        Type element, Key key) {
  Rounder none(element, Precision::F64);
  return withRelation(direction, [&](auto relation) {
    return map<uint8_t, T>(
        operands[0], operands[1], element, none,
        [=](T x, T y) -> uint8_t { return relation(key(x), key(y)); });
  });
}

static FailureOr<Tensor> compareOp(stablehlo::CompareOp op, Tensors &operands,
                                   Evaluator &) {
  alignShapes(operands);
  ComparisonDirection direction = op.getComparisonDirection();
  Type element = resultElement(op);
  auto same = [](auto x) { return x; };
  switch (operands[0].getStorage()) {
  case Storage::Bool:
    return compareBy<uint8_t>(direction, operands, element, same);
  case Storage::Signed:
    // Signless integers are compared as the operation says, signed unless told.
    if (op.getCompareType() == stablehlo::ComparisonType::UNSIGNED) {
      unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
      return compareBy<int64_t>(direction, operands, element, [=](int64_t x) {
        return wrapUnsigned(uint64_t(x), width);
      });
    }
    return compareBy<int64_t>(direction, operands, element, same);
  case Storage::Unsigned:
    return compareBy<uint64_t>(direction, operands, element, same);
  case Storage::Float:
    if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return compareBy<double>(direction, operands, element, totalOrder);
    return compareBy<double>(direction, operands, element, same);
  case Storage::Complex:
    break;
  }
  if (direction != ComparisonDirection::EQ &&
      direction != ComparisonDirection::NE)
    return op.emitOpError() << "orders complex numbers: expected EQ or NE";
  bool equal = direction == ComparisonDirection::EQ;
  return map<uint8_t, Complex>(
      operands[0], operands[1], element, Rounder(element, Precision::F64),
      [=](Complex x, Complex y) -> uint8_t { return (x == y) == equal; });
}

//===----------------------------------------------------------------------===//
// select, clamp
//===----------------------------------------------------------------------===//

static Tensor selectOp(stablehlo::SelectOp, Tensors &operands, Evaluator &) {
  // A scalar predicate chooses a whole tensor, unless it is scalars that are
  // chosen by many predicates.
  if (operands[0].getRank() == 0 && operands[1].getRank() > 0)
    return operands[0].at<uint8_t>() ? operands[1] : operands[2];
  alignShapes(operands);
  return dispatch(operands[1].getStorage(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ArrayRef<uint8_t> predicate = operands[0].elements<uint8_t>();
    const T *onTrue = operands[1].elements<T>().data();
    const T *onFalse = operands[2].elements<T>().data();
    Tensor result = operands[1].takeFor(operands[1].getType());
    MutableArrayRef<T> out = result.mutableElements<T>();
    for (size_t i = 0, e = out.size(); i < e; ++i)
      out[i] = predicate[i] ? onTrue[i] : onFalse[i];
    return result;
  });
}

/// The larger of two, NaN if either is.
template <typename T> static T larger(T x, T y) {
  return x < y || y != y ? y : x;
}
template <typename T> static T smaller(T x, T y) {
  return y < x || y != y ? y : x;
}

static FailureOr<Tensor> clampOp(stablehlo::ClampOp op, Tensors &operands,
                                 Evaluator &evaluator) {
  alignShapes(operands);
  if (operands[1].getStorage() == Storage::Complex)
    return unsupportedElements(op, operands[1].getElementType());
  Type element = resultElement(op);
  Rounder round = evaluator.rounderFor(element);
  return dispatch(operands[1].getStorage(), [&](auto tag) -> FailureOr<Tensor> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, Complex>) {
      return failure();
    } else {
      // min(max(operand, low), high).
      Tensor raised = map<T, T>(operands[1], operands[0], element, round,
                                [](T x, T low) { return larger(x, low); });
      return map<T, T>(raised, operands[2], element, round,
                       [](T x, T high) { return smaller(x, high); });
    }
  });
}

void interpreter::addSelectionOps(Handlers &handlers) {
  handlers.addElementwise<stablehlo::CompareOp>(compareOp);
  handlers.addElementwise<stablehlo::SelectOp>(selectOp);
  handlers.addElementwise<stablehlo::ClampOp>(clampOp);
}
