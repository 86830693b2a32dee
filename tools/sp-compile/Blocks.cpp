//===- Blocks.cpp - Blocks of rows that fit, and what goes far ------------===//

#include "Blocks.h"

#include "sp/IR/PlacedValues.h"
#include "sp/Memory/RowBlocks.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::sp;

/// How often blocks are made smaller until a rank needs no more than that.
static constexpr int kMostTries = 4;

/// How much more than the least a rank may need.
static int64_t withSlack(int64_t bytes) { return bytes + bytes / 50; }

static func::FuncOp mainOf(OwningOpRef<ModuleOp> &module) {
  return module->lookupSymbol<func::FuncOp>("main");
}

static int64_t arenaOf(OwningOpRef<ModuleOp> &placed) {
  return *bytesOf(mainOf(placed), Space::Arena);
}

namespace {

/// Rows of blocks, and the arena that a rank then needs.
struct Chosen {
  SmallVector<int64_t> rows;
  int64_t bytes = 0;
};

/// What becomes of a partitioned program in Schedule and Memory.
class Trials {
public:
  Trials(ModuleOp partitioned, const CompileOptions &options, RemarkLog &log)
      : partitioned(partitioned), options(options), log(log) {}

  /// Rows with which a rank needs little more than with the smallest blocks:
  /// none where --row-blocks says.
  FailureOr<Chosen> chooseRows(bool goesFar, int64_t arenaBytes);
  /// Up to which size of the arena nothing has to go to far memory for a rank
  /// to keep to `arenaBytes`, if it can: packing takes more than what lives at
  /// once.
  FailureOr<int64_t> chooseNear(ArrayRef<int64_t> rows, int64_t arenaBytes);
  /// The arena with such blocks.
  FailureOr<int64_t> measure(ArrayRef<int64_t> rows, bool goesFar,
                             int64_t nearBytes = 0);

private:
  FailureOr<ModuleOp> schedule(ArrayRef<int64_t> rows);
  FailureOr<OwningOpRef<ModuleOp>> place(ArrayRef<int64_t> rows, bool goesFar,
                                         int64_t nearBytes = 0);
  LogicalResult run(StringRef stage, ModuleOp module,
                    const MemoryChoices &choices);

  ModuleOp partitioned;
  const CompileOptions &options;
  RemarkLog &log;
  std::map<SmallVector<int64_t>, OwningOpRef<ModuleOp>> scheduled;
};

} // namespace

LogicalResult Trials::run(StringRef name, ModuleOp module,
                          const MemoryChoices &choices) {
  // Only what is compiled in the end was decided.
  size_t known = log.lines().size();
  for (const Stage &stage : stagesOf(options, choices)) {
    if (stage.name != name)
      continue;
    PassManager manager(module.getContext());
    stage.build(manager);
    if (failed(manager.run(module)))
      return failure();
  }
  log.truncate(known);
  return success();
}

FailureOr<ModuleOp> Trials::schedule(ArrayRef<int64_t> rows) {
  OwningOpRef<ModuleOp> &known = scheduled[llvm::to_vector(rows)];
  if (known)
    return *known;
  OwningOpRef<ModuleOp> copy = partitioned.clone();
  MemoryChoices choices;
  choices.blockRows.assign(rows.begin(), rows.end());
  if (failed(run("schedule", *copy, choices)))
    return failure();
  known = std::move(copy);
  return *known;
}

FailureOr<OwningOpRef<ModuleOp>>
Trials::place(ArrayRef<int64_t> rows, bool goesFar, int64_t nearBytes) {
  FailureOr<ModuleOp> module = schedule(rows);
  if (failed(module))
    return failure();
  OwningOpRef<ModuleOp> copy = module->clone();
  MemoryChoices choices;
  choices.goesFar = goesFar;
  choices.arenaBytes = nearBytes;
  choices.onlySizes = true;
  if (failed(run("memory", *copy, choices)))
    return failure();
  return copy;
}

FailureOr<int64_t> Trials::measure(ArrayRef<int64_t> rows, bool goesFar,
                                   int64_t nearBytes) {
  FailureOr<OwningOpRef<ModuleOp>> placed = place(rows, goesFar, nearBytes);
  if (failed(placed))
    return failure();
  return arenaOf(*placed);
}

FailureOr<Chosen> Trials::chooseRows(bool goesFar, int64_t arenaBytes) {
  FailureOr<int64_t> ofWhole = measure({}, goesFar);
  if (failed(ofWhole))
    return failure();
  Chosen whole{{}, *ofWhole};
  if (options.rowBlocks != 0)
    return whole;
  SmallVector<int64_t> smallest = smallestBlocks(options);
  FailureOr<OwningOpRef<ModuleOp>> cut = place(smallest, goesFar);
  if (failed(cut))
    return failure();
  int64_t ofCut = arenaOf(*cut), least = std::min(whole.bytes, ofCut),
          limit = withSlack(least);
  if (arenaBytes > 0)
    limit = std::min(limit, std::max(least, arenaBytes));
  if (whole.bytes <= limit)
    return whole;
  int64_t aim = limit;
  // Places leave gaps that nobody foresees.
  for (int tries = 0; tries < kMostTries; ++tries) {
    SmallVector<int64_t> rows = chooseBlockRows(mainOf(*cut), aim);
    FailureOr<int64_t> bytes = measure(rows, goesFar);
    if (failed(bytes))
      return failure();
    if (*bytes <= limit)
      return Chosen{rows, *bytes};
    aim -= *bytes - limit;
  }
  return Chosen{smallest, ofCut};
}

FailureOr<int64_t> Trials::chooseNear(ArrayRef<int64_t> rows,
                                      int64_t arenaBytes) {
  int64_t aim = arenaBytes;
  for (int tries = 0; tries < kMostTries && aim > 0; ++tries) {
    FailureOr<int64_t> bytes = measure(rows, /*goesFar=*/true, aim);
    if (failed(bytes))
      return failure();
    if (*bytes <= arenaBytes)
      return aim;
    aim -= *bytes - arenaBytes;
  }
  return 0;
}

LogicalResult mlir::sp::chooseBlocks(ModuleOp partitioned,
                                     const CompileOptions &options,
                                     MemoryChoices &choices, RemarkLog &log) {
  choices.goesFar = false;
  if (!options.offload && options.rowBlocks != 0)
    return success();
  int64_t arenaBytes = choices.arenaBytes;
  Trials trials(partitioned, options, log);
  FailureOr<Chosen> near = trials.chooseRows(/*goesFar=*/false, arenaBytes);
  if (failed(near))
    return failure();
  choices.blockRows = near->rows;
  if (!options.offload)
    return success();

  // Blocks are cheaper than far memory, which does what is left to do if it
  // can.
  bool isLimited = arenaBytes > 0;
  FailureOr<int64_t> bytes = trials.measure(near->rows, /*goesFar=*/true);
  if (failed(bytes))
    return failure();
  Chosen far{near->rows, *bytes};
  if (options.rowBlocks == 0 && (!isLimited || *bytes > arenaBytes)) {
    FailureOr<Chosen> chosen = trials.chooseRows(/*goesFar=*/true, arenaBytes);
    if (failed(chosen))
      return failure();
    if (chosen->bytes < far.bytes)
      far = *chosen;
  }
  // Places leave gaps that nobody foresees.
  if (far.bytes >= near->bytes) {
    remark::missed(
        partitioned.getLoc(),
        remark::RemarkOpts::name("NothingFar").category("sp-compile"))
        << "far memory would not lower the arena's peak";
    return success();
  }
  choices.goesFar = true;
  choices.blockRows = far.rows;
  if (!isLimited)
    return success();
  FailureOr<int64_t> most = trials.chooseNear(far.rows, arenaBytes);
  if (failed(most))
    return failure();
  choices.arenaBytes = *most;
  return success();
}
