/// When what was communicated is there.
#ifndef SP_IR_WAITS_H
#define SP_IR_WAITS_H

#include "sp/IR/SP.h"

namespace mlir::sp {

/// That every start in `region` has exactly one wait, in its block, and that
/// nobody uses its results before; and that what is made ahead, for the next
/// turn of a loop, is read by that alone.
LogicalResult checkWaits(Region &region);

} // namespace mlir::sp

#endif // SP_IR_WAITS_H
