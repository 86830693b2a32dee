/// Which operands an operation writes over, and when that is harmless.
///
///   operation           writes over
///   sp.attend onto      the state that it continues, sp.attend_backward the
///                       gradients
///   sp.all_reduce       all it combines
///   while               initial values of what its body changes
///   scf.for             the same; blocks handed on alternate between two slots
///
/// Several values may lie in one place: a reshape in its operand's, what a loop
/// carries unchanged in its initial value's. The *root* is the first of them.
#ifndef SP_LIB_MEMORY_OVERWRITING_H
#define SP_LIB_MEMORY_OVERWRITING_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

inline bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// What an operation goes on with, if any.
SmallVector<Continued, 3> continuedBy(Operation *op);

/// Whether the operation of `operand` writes over it.
bool isOverwritten(OpOperand &operand);

/// Whether nothing needs the value of an overwritten operand any more.
bool mayOverwrite(OpOperand &operand);

/// Whether a body's yielded operand is not the argument that it replaces.
bool changesCarried(OpOperand &yielded);

/// Whether the value lies where an argument of the block lies.
bool carriesArgumentOf(Value value, Block &body);

/// Whether an `scf.for` yields a block that it hands on, in the slot that its
/// argument does not lie in.
bool isHandedOn(OpOperand &yielded);

/// Whether a yielded value can be computed in the place where the loop carries
/// it, or where its branch's result lies.
bool mayYieldInPlace(OpOperand &yielded);

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_OVERWRITING_H
