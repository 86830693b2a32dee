/// How large blocks of rows may be.
#ifndef SP_MEMORY_ROWBLOCKS_H
#define SP_MEMORY_ROWBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

/// Of each region, by its number (`sp-block-rows`), the rows of the largest
/// blocks, which are the fewest, with which a rank needs at most `limit` bytes
/// in the arena; no fewer than in `placed`, a program after Memory in which
/// every region runs in small blocks.
SmallVector<int64_t> chooseBlockRows(func::FuncOp placed, int64_t limit);

} // namespace mlir::sp

#endif // SP_MEMORY_ROWBLOCKS_H
