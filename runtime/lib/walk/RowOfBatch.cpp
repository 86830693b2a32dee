#include "walk/RowOfBatch.h"

namespace sprt {

Status RowOfBatch::goTo(const plan::CommandT &command, const Scope &scope) {
  auto rows = static_cast<int64_t>(all->rows.size());
  int64_t next = -1;
  if (command.row && rows > 0) {
    if (Status failure = evaluate(*command.row, scope, next))
      return failure;
    // One row of numbers serves all.
    if (rows == 1)
      next = 0;
    if (next < 0 || next >= rows)
      return fail(SPRT_DAMAGED)
             << "row " << next << " of a batch of " << rows << " rows";
  }
  row = next;
  return Status::success();
}

} // namespace sprt
