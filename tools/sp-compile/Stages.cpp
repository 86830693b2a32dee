//===- Stages.cpp - Plan to Verify, and groups that fit in memory ---------===//

#include "Blocks.h"

#include "sp/Codegen/ProgramEmission.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/SP.h"
#include "sp/Memory/Passes.h"
#include "sp/Partition/Passes.h"
#include "sp/Plan/Passes.h"
#include "sp/Plan/Strategies.h"
#include "sp/Schedule/Passes.h"
#include "sp/Verify/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::sp;

/// What is computed while a byte is copied to far memory, in round numbers: by
/// an H100 over PCIe 5, or by cores to memory or a fast disk that they share.
static int64_t farFlopsPerByte(const CompileOptions &options) {
  if (!options.offload)
    return 0;
  return options.cuda ? 12000 : 128;
}

std::vector<Stage> mlir::sp::stagesOf(const CompileOptions &options,
                                      const MemoryChoices &choices) {
  AssignMeshPassOptions mesh{options.mesh, options.seqAxis, options.batchAxis,
                             options.tensorAxis};
  PlanAttentionPassOptions plan;
  plan.strategy = options.strategy;
  plan.layout = options.layout;
  plan.heads = options.heads;
  plan.inner = options.inner;
  plan.headGroups = std::max<int64_t>(options.headGroups, 1);
  plan.gatherGroups = choices.gatherGroups;
  plan.turns = options.chunks;
  plan.tokensPerRank = options.tokensPerRank;
  plan.bidirectional = options.bidirectional;
  plan.placement = options.placement;
  plan.backward = options.backward;
  PropagateShardingsPassOptions shardings;
  shardings.shard = llvm::to_vector(options.shard);
  DealParametersPassOptions parameters{options.zero, options.zeroAxes};
  return {
      {"plan", [=](OpPassManager &pm) { buildPlanPipeline(pm, mesh, plan); }},
      {"partition",
       [=](OpPassManager &pm) {
         buildPartitionPipeline(pm, shardings, parameters);
       }},
      {"schedule",
       [&](OpPassManager &pm) {
         buildSchedulePipeline(pm, {options.cuda.has_value(), options.rowBlocks,
                                    choices.blockRows, choices.raisesUpdates});
       }},
      {"memory",
       [&](OpPassManager &pm) {
         buildMemoryPipeline(
             pm, {choices.goesFar ? farFlopsPerByte(options) : 0,
                  choices.arenaBytes, options.offloadState, choices.onlySizes});
       }},
      {"verify", buildVerifyPipeline}};
}

/// So many rows keep products efficient.
static int64_t leastRows(const CompileOptions &options) {
  return options.cuda ? 2048 : 256;
}

SmallVector<int64_t> mlir::sp::smallestBlocks(const CompileOptions &options) {
  if (options.rowBlocks != 0)
    return {};
  return {leastRows(options)};
}

//===----------------------------------------------------------------------===//
// Groups of heads that fit in memory
//===----------------------------------------------------------------------===//

namespace {

/// What comes of gathering heads in some number of groups.
struct Trial {
  /// Kv heads of each attention whose heads come in that many groups.
  SmallVector<int64_t> kvHeads;
  int64_t bytes = 0; ///< that a rank needs
};

} // namespace

static SmallVector<int64_t> findGatheredHeads(ModuleOp planned) {
  SmallVector<int64_t> kvHeads;
  auto findIn = [&](auto op) {
    int64_t count = op.getKey().getType().getDimSize(2);
    bool isEven = op.getQuery().getType().getDimSize(2) % count == 0;
    if (isEven && op.getPlan()->getGather() > 1)
      kvHeads.push_back(count);
  };
  planned.walk([&](AttentionOp op) { findIn(op); });
  planned.walk([&](AttentionBackwardOp op) { findIn(op); });
  return kvHeads;
}

static FailureOr<Trial> tryGroups(ModuleOp module, ArrayRef<Stage> stages,
                                  const Target &target) {
  Trial trial;
  for (const Stage &stage : stages) {
    PassManager manager(module.getContext());
    stage.build(manager);
    if (failed(manager.run(module)))
      return failure();
    if (stage.name != "plan")
      continue;
    trial.kvHeads = findGatheredHeads(module);
    if (trial.kvHeads.empty())
      return trial;
  }
  FailureOr<int64_t> scratch = scratchBytesOf(module, target);
  if (failed(scratch))
    return failure();
  trial.bytes = placedBytesOf(module) + *scratch;
  return trial;
}

FailureOr<NeededBytes> mlir::sp::neededBytes(ModuleOp imported,
                                             const CompileOptions &options,
                                             int64_t arenaBytes,
                                             const Target &target,
                                             RemarkLog &log) {
  FailureOr<int64_t> groups =
      chooseGatherGroups(imported, options, target, log);
  if (failed(groups))
    return failure();
  MemoryChoices choices{*groups, smallestBlocks(options), arenaBytes};
  choices.raisesUpdates = options.offloadState;
  for (const Stage &stage : stagesOf(options, choices)) {
    if (stage.name == "schedule" && arenaBytes > 0 &&
        failed(chooseBlocks(imported, options, choices, log)))
      return failure();
    PassManager manager(imported.getContext());
    stage.build(manager);
    if (stage.name != "verify" && failed(manager.run(imported)))
      return failure();
  }
  FailureOr<int64_t> scratch = scratchBytesOf(imported, target);
  if (failed(scratch))
    return failure();
  func::FuncOp main = imported.lookupSymbol<func::FuncOp>("main");
  return NeededBytes{*bytesOf(main, Space::Arena),
                     *bytesOf(main, Space::Constants) + *scratch};
}

/// The next number of groups that makes the largest one of an attention
/// smaller; nothing where all are single heads.
static std::optional<int64_t> moreGroups(ArrayRef<int64_t> kvHeads,
                                         int64_t groups) {
  std::optional<int64_t> next;
  for (int64_t count : kvHeads) {
    int64_t largest = llvm::divideCeil(count, groups);
    if (largest == 1)
      continue;
    int64_t more = llvm::divideCeil(count, largest - 1);
    next = std::min(next.value_or(more), more);
  }
  return next;
}

FailureOr<int64_t> mlir::sp::chooseGatherGroups(ModuleOp imported,
                                                const CompileOptions &options,
                                                const Target &target,
                                                RemarkLog &log) {
  const Strategy *strategy = findStrategy(options.strategy);
  bool isOpen =
      options.memoryLimit && options.headGroups == 0 &&
      (options.strategy == "auto" || (strategy && strategy->gathersKeys));
  if (!isOpen)
    return 1;
  size_t known = log.size();
  int64_t best = 1, least = 0, whole = 0;
  for (std::optional<int64_t> groups = 1; groups;) {
    OwningOpRef<ModuleOp> copy = imported.clone();
    MemoryChoices choices{*groups, smallestBlocks(options)};
    choices.raisesUpdates = options.offloadState;
    FailureOr<Trial> trial =
        tryGroups(*copy, stagesOf(options, choices), target);
    if (failed(trial))
      return failure();
    // Only what is compiled in the end was decided.
    log.truncate(known);
    if (trial->kvHeads.empty())
      return 1;
    if (*groups == 1)
      whole = least = trial->bytes;
    if (trial->bytes < least) {
      best = *groups;
      least = trial->bytes;
    }
    if (trial->bytes <= *options.memoryLimit)
      break;
    groups = moreGroups(trial->kvHeads, *groups);
  }
  if (best > 1)
    remark::passed(
        imported.getLoc(),
        remark::RemarkOpts::name("HeadsGrouped").category("sp-compile"))
        << "heads are gathered in " << remark::metric("groups", best)
        << " groups: a rank then needs " << remark::metric("bytes", least)
        << " bytes, with all heads at once "
        << remark::metric("wholeBytes", whole) << " bytes, and may use "
        << remark::metric("limit", *options.memoryLimit) << " bytes";
  return best;
}
