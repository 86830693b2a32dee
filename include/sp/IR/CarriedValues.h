/// What loops carry, and which operands an operation writes over.
///
///   operation           writes over
///   sp.attend onto      the state that it continues, sp.attend_backward the
///                       gradients
///   sp.all_reduce       all it combines
///   while               initial values of what its body changes
///   scf.for             the same; blocks handed on alternate between two slots
#ifndef SP_IR_CARRIEDVALUES_H
#define SP_IR_CARRIEDVALUES_H

#include "sp/IR/SP.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::sp {

inline bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// One value that an `scf.for` or a `stablehlo.while` carries.
struct Carried {
  Operation *loop;
  unsigned index;

  Value init() const;
  /// Of the body.
  Value argument() const;
  Value result() const { return loop->getResult(index); }
  OpOperand &yielded() const;
  bool isUnchanged() const { return yielded().get() == argument(); }
};

bool isLoop(Operation *op);

/// How often the body of a loop that counts by one from a constant runs at
/// most: up to a constant, or over the ranks of a group.
std::optional<int64_t> mostTrips(scf::ForOp loop);

/// The carried value that a loop's operand starts, if it is one.
std::optional<Carried> startedBy(OpOperand &operand);

/// The carried value that a result or an argument of a loop's region is.
std::optional<Carried> carriedBy(Value value);

/// Whether a body's yielded operand is not the argument that it replaces.
bool changesCarried(OpOperand &yielded);

/// What an operation goes on with, if any.
SmallVector<Continued, 3> continuedBy(Operation *op);

/// Whether the operation of `operand` writes over it.
bool isOverwritten(OpOperand &operand);

} // namespace mlir::sp

#endif // SP_IR_CARRIEDVALUES_H
