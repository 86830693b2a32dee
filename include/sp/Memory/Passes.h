/// Memory: values to offsets in a rank's arena.
///
/// What the stage says: a `#sp.place` of every tensor, and the size of each
/// space (sp/IR/Attributes.h).
#ifndef SP_MEMORY_PASSES_H
#define SP_MEMORY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/IR/SP.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Memory/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/Memory/Passes.h.inc"

struct MemoryOptions {
  /// What is computed while a byte is copied to far memory; 0: nothing lies
  /// there.
  int64_t farFlopsPerByte = 0;
  /// Bytes up to which an arena needs none.
  int64_t arenaBytes = 0;
  /// Whether donated arguments may lie there.
  bool farState = false;
  /// Whether only the size of each space is asked for.
  bool onlySizes = false;
};

/// Adds the stage: far memory, copies, offsets, verify where there are any.
void buildMemoryPipeline(OpPassManager &pm, const MemoryOptions &options = {});
void registerMemoryPipeline();

} // namespace mlir::sp

#endif // SP_MEMORY_PASSES_H
