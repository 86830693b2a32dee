/// Operations whose result is not there for itself.
#ifndef SP_IR_VIEWS_H
#define SP_IR_VIEWS_H

#include "mlir/IR/Operation.h"

namespace mlir::sp {

/// Whether `op` gives a view of its first operand: another shape, or some rows.
bool isView(Operation *op);

/// What the value has another shape of, or itself.
Value viewedBy(Value value);

} // namespace mlir::sp

#endif // SP_IR_VIEWS_H
