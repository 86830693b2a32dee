//===- Combiner.h - Bodies that are one operation --------------*- C++ -*-===//
#ifndef SP_LIB_INTERPRETER_COMBINER_H
#define SP_LIB_INTERPRETER_COMBINER_H

#include "Arithmetic.h"
#include "sp/StableHLO/StableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::interpreter {

/// The operation of a body that is `return op(%lhs, %rhs)` of its two arguments
/// with a commutative `op`; null for any other.
Operation *soleCombiner(Region &region);

/// Calls `fn` with the combiner as a function of two T, if it has one.
template <typename T, typename Fn>
void withCombiner(Operation *combiner, Fn fn) {
  auto bitwise = [&](auto function) {
    if constexpr (std::is_integral_v<T>)
      fn(function);
  };
  TypeSwitch<Operation *>(combiner)
      .Case([&](stablehlo::AddOp) { fn([](T x, T y) { return sum(x, y); }); })
      .Case(
          [&](stablehlo::MulOp) { fn([](T x, T y) { return product(x, y); }); })
      .Case(
          [&](stablehlo::MaxOp) { fn([](T x, T y) { return maximum(x, y); }); })
      .Case(
          [&](stablehlo::MinOp) { fn([](T x, T y) { return minimum(x, y); }); })
      .Case([&](stablehlo::AndOp) {
        bitwise([](auto x, auto y) { return decltype(x)(x & y); });
      })
      .Case([&](stablehlo::OrOp) {
        bitwise([](auto x, auto y) { return decltype(x)(x | y); });
      })
      .Case([&](stablehlo::XorOp) {
        bitwise([](auto x, auto y) { return decltype(x)(x ^ y); });
      });
}

} // namespace mlir::interpreter

#endif // SP_LIB_INTERPRETER_COMBINER_H
