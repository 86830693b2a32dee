#ifndef SP_STABLEHLO_OPERATIONS_H
#define SP_STABLEHLO_OPERATIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::sp {

/// Contraction dimensions: {lhs, rhs} batching and {lhs, rhs} contracting.
struct ContractionDims {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
};
ContractionDims contractionDims(Operation *op);

/// Whether the op is `stablehlo.dot_general` or `stablehlo.dot`.
bool isContraction(Operation *op);
/// Whether a contraction sums over something (otherwise it only multiplies).
bool contracts(Operation *op);
/// Whether the op computes each element from the elements at its index.
bool isElementwise(Operation *op);
/// Whether the op returns its operands as they are (sharding constraints,
/// barriers, reduce_precision).
bool isIdentity(Operation *op);
/// Whether the op chooses by an order: of its operands, or of one and 0.
bool isOrdering(Operation *op);
/// Whether the op gives all elements of its operand in another shape, in
/// another order or repeated.
bool isLayout(Operation *op);
/// Whether the op only moves, repeats or leaves out elements of one operand.
bool isRearrangement(Operation *op);
/// Whether the op only moves, repeats, leaves out or joins elements.
bool isMove(Operation *op);
/// Whether the op gives the sum or difference of its operands, one of them,
/// negated or converted: a factor of all of them is one of the result.
bool isAdditive(Operation *op);
/// Whether a conversion keeps every value of its operand.
bool widens(Operation *conversion);
/// Whether the op is a conversion that does not.
bool narrows(Operation *op);
/// Calls `visit` for what an operation reads, inside its regions too.
void forEachRead(Operation *op, function_ref<void(Value)> visit);
/// The operand of a binary operation that goes with `operand`.
Value otherOperand(Operation *op, Value operand);
/// The single operation of a reduction's body, or null.
Operation *combinerOf(Operation *op);
/// Whether a reduction is by one of these operations.
template <typename... CombinerTs> bool reducesBy(Operation *op) {
  return isa_and_nonnull<CombinerTs...>(combinerOf(op));
}
/// The value a loop-invariant block argument of a `while` stands for.
Value lookThroughLoops(Value value);
/// What a value is made of alone: the first of operations of one operand,
/// dynamic slices and barriers behind each other, through loops that hand it
/// on.
Value originOf(Value value);
/// Whether every element is the same number, whatever the arguments.
bool isUniform(Value value);
/// Whether a value is computed from constants and positions alone, by few
/// operations.
bool isMadeOfConstants(Value value);
/// The constant that a gather looks single numbers up in by one index, or null.
DenseElementsAttr lookupTable(Operation *gather);
/// Whether a gather takes whole rows of its operand by one index each.
bool readsRows(Operation *gather);
/// The number, if the value is uniform and an integer constant.
std::optional<int64_t> constantInteger(Value value);
/// Erases what no longer has a use, inside the regions of `root`.
void eraseDead(Operation *root);

} // namespace mlir::sp

#endif // SP_STABLEHLO_OPERATIONS_H
