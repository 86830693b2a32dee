/// The stages behind Import, as the options say.
#ifndef SP_TOOLS_SPCOMPILE_STAGES_H
#define SP_TOOLS_SPCOMPILE_STAGES_H

#include "Decisions.h"
#include "Options.h"

#include "sp/Codegen/ProgramEmission.h"

#include "mlir/Pass/PassManager.h"

namespace mlir::sp {

struct Stage {
  StringRef name; ///< as --emit names it, where the stage changes anything
  std::function<void(OpPassManager &)> build;
};

/// What memory decides where the options leave it open.
struct MemoryChoices {
  /// Groups in which all-gather takes heads.
  int64_t gatherGroups = 1;
  /// Rows of a block of each region in which rows do not meet.
  SmallVector<int64_t> blockRows;
  /// Bytes of an arena that need no far memory.
  int64_t arenaBytes = 0;
  /// Whether anything lies there, with --offload.
  bool goesFar = true;
  /// Whether updates follow their gradients.
  bool raisesUpdates = false;
  /// Whether nothing but sizes is asked for.
  bool onlySizes = false;
};

/// Plan to Memory. What is chosen after Partition is read when Schedule is
/// built.
std::vector<Stage> stagesOf(const CompileOptions &options,
                            const MemoryChoices &choices);

/// The smallest blocks of rows that the options allow.
SmallVector<int64_t> smallestBlocks(const CompileOptions &options);

struct NeededBytes {
  int64_t arena = 0, others = 0;

  int64_t all() const { return arena + others; }
};

/// What a rank needs: with regions in the smallest blocks of rows or, where
/// `arenaBytes` is not 0, in those that are chosen for so large an arena.
/// `imported` is what Memory makes of it then.
FailureOr<NeededBytes> neededBytes(ModuleOp imported,
                                   const CompileOptions &options,
                                   int64_t arenaBytes, const Target &target,
                                   RemarkLog &log);

/// The fewest groups of heads in which all-gather keeps a rank within
/// --memory-limit, or those that need least where none does: 1 where nothing is
/// to be chosen. `imported` stays as it is; the choice is a remark.
FailureOr<int64_t> chooseGatherGroups(ModuleOp imported,
                                      const CompileOptions &options,
                                      const Target &target, RemarkLog &log);

} // namespace mlir::sp

#endif // SP_TOOLS_SPCOMPILE_STAGES_H
