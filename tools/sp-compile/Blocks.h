/// Blocks of rows that fit in memory, when updates run, and what goes far.
#ifndef SP_TOOLS_SPCOMPILE_BLOCKS_H
#define SP_TOOLS_SPCOMPILE_BLOCKS_H

#include "Stages.h"

namespace mlir::sp {

/// Chooses rows of blocks with which a rank needs at most 2 % more than with
/// the smallest ones, and where that can be no more than `arenaBytes`, if not
/// 0: none where --row-blocks says, or all regions are short. Updates follow
/// their gradients at once where less is needed so. With far memory,
/// if that helps, `arenaBytes` becomes what may live at once, so that it fits
/// when packed. `partitioned` stays as it is.
LogicalResult chooseBlocks(ModuleOp partitioned, const CompileOptions &options,
                           MemoryChoices &choices, RemarkLog &log);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_BLOCKS_H
