//===- Traits.h - What operations of the input have in common ---*- C++ -*-===//

#ifndef SP_STABLEHLO_TRAITS_H
#define SP_STABLEHLO_TRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::stablehlo {

/// Applies a function of scalars to each element; operands that are scalars
/// themselves go with every element.
template <typename Op>
struct Elementwise : OpTrait::TraitBase<Op, Elementwise> {};

/// Stands for its operands, one for each result: what it adds to them (fewer
/// bits, a barrier, a sharding, a part of a gradient that is of something else)
/// is not what is looked for.
template <typename Op> struct Identity : OpTrait::TraitBase<Op, Identity> {};

/// Has the elements of its operand in their order, each as often as it may be:
/// broadcasts and reshapes.
template <typename Op> struct Spread : OpTrait::TraitBase<Op, Spread> {};

/// Runs its regions, which are parts of the program, or some of them, once,
/// again and again or not at all.
template <typename Op>
struct ControlFlow : OpTrait::TraitBase<Op, ControlFlow> {};

/// Takes as long as tens of additions an element: computed once and stored,
/// rather than again where it is read.
template <typename Op> struct Costly : OpTrait::TraitBase<Op, Costly> {};

/// Reads elements of its operands many times or in an order of its own: a loop
/// nest of a kernel that stores its results before others read them.
template <typename Op>
struct KernelStage : OpTrait::TraitBase<Op, KernelStage> {};

} // namespace mlir::stablehlo

#endif // SP_STABLEHLO_TRAITS_H
