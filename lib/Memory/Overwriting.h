/// When an operation may write over an operand (sp/IR/CarriedValues.h).
///
/// Several values may lie in one place: a reshape in its operand's, what a loop
/// carries unchanged in its initial value's. The *root* is the first of them.
#ifndef SP_LIB_MEMORY_OVERWRITING_H
#define SP_LIB_MEMORY_OVERWRITING_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "sp/IR/CarriedValues.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// Whether nothing needs the value of an overwritten operand any more.
bool mayOverwrite(OpOperand &operand);

/// Whether the value lies where an argument of the block lies.
bool carriesArgumentOf(Value value, Block &body);

/// Whether an `scf.for` yields a block that it hands on, in the slot that its
/// argument does not lie in.
bool isHandedOn(OpOperand &yielded);

/// Whether a yielded value can be computed in the place where the loop carries
/// it, or where its branch's result lies.
bool mayYieldInPlace(OpOperand &yielded);

/// Whether the rows that are put into a stack can be computed there.
bool mayPutInPlace(PutOp put);

} // namespace mlir::sp

#endif // SP_LIB_MEMORY_OVERWRITING_H
