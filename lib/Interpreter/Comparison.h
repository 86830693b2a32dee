//===- Comparison.h - How elements are compared ----------------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_COMPARISON_H
#define SP_LIB_INTERPRETER_COMPARISON_H

#include "sp/StableHLO/StableHLO.h"
#include "llvm/ADT/bit.h"

namespace mlir::interpreter {

/// The integer whose order is the total order of floats:
/// -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
inline int64_t totalOrder(double x) {
  auto bits = llvm::bit_cast<int64_t>(x);
  return bits < 0 ? INT64_MIN - bits - 1 : bits;
}

/// Calls `fn` with the relation of two values that a direction means.
template <typename Fn>
auto withRelation(stablehlo::ComparisonDirection direction, Fn fn) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return fn([](auto x, auto y) { return x == y; });
  case stablehlo::ComparisonDirection::NE:
    return fn([](auto x, auto y) { return x != y; });
  case stablehlo::ComparisonDirection::GE:
    return fn([](auto x, auto y) { return x >= y; });
  case stablehlo::ComparisonDirection::GT:
    return fn([](auto x, auto y) { return x > y; });
  case stablehlo::ComparisonDirection::LE:
    return fn([](auto x, auto y) { return x <= y; });
  case stablehlo::ComparisonDirection::LT:
    break;
  }
  return fn([](auto x, auto y) { return x < y; });
}

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_COMPARISON_H
