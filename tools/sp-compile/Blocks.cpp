//===- Blocks.cpp - Blocks, updates and far memory that need least --------===//

#include "Blocks.h"

#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
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

/// What Schedule is told.
struct Scheduled {
  SmallVector<int64_t> rows; ///< of blocks
  bool raisesUpdates = false;

  bool operator<(const Scheduled &other) const {
    return std::tie(rows, raisesUpdates) <
           std::tie(other.rows, other.raisesUpdates);
  }
};

/// The same, and the arena that a rank then needs.
struct Chosen {
  Scheduled how;
  int64_t bytes = 0;
};

/// What becomes of a partitioned program in Schedule and Memory.
class Trials {
public:
  Trials(ModuleOp partitioned, const CompileOptions &options, RemarkLog &log)
      : partitioned(partitioned), options(options), log(log) {}

  /// Rows with which a rank needs little more than with the smallest blocks:
  /// none where --row-blocks says. Updates are raised where that needs less.
  FailureOr<Chosen> choose(bool goesFar, int64_t arenaBytes);
  /// Up to which size of the arena nothing has to go to far memory for a rank
  /// to keep to `arenaBytes`, if it can: packing takes more than what lives at
  /// once.
  FailureOr<int64_t> chooseNear(const Scheduled &how, int64_t arenaBytes);
  /// The arena.
  FailureOr<int64_t> measure(const Scheduled &how, bool goesFar,
                             int64_t nearBytes = 0);

private:
  FailureOr<ModuleOp> schedule(const Scheduled &how);
  FailureOr<OwningOpRef<ModuleOp>> place(const Scheduled &how, bool goesFar,
                                         int64_t nearBytes = 0);
  LogicalResult run(StringRef stage, ModuleOp module,
                    const MemoryChoices &choices);
  FailureOr<Chosen> chooseRows(bool raisesUpdates, bool goesFar,
                               int64_t arenaBytes);

  ModuleOp partitioned;
  const CompileOptions &options;
  RemarkLog &log;
  std::map<Scheduled, OwningOpRef<ModuleOp>> scheduled;
};

} // namespace

LogicalResult Trials::run(StringRef name, ModuleOp module,
                          const MemoryChoices &choices) {
  // Only what is compiled in the end was decided.
  size_t known = log.size();
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

FailureOr<ModuleOp> Trials::schedule(const Scheduled &how) {
  OwningOpRef<ModuleOp> &known = scheduled[how];
  if (known)
    return *known;
  OwningOpRef<ModuleOp> copy = partitioned.clone();
  MemoryChoices choices;
  choices.blockRows = how.rows;
  choices.raisesUpdates = how.raisesUpdates;
  if (failed(run("schedule", *copy, choices)))
    return failure();
  known = std::move(copy);
  return *known;
}

FailureOr<OwningOpRef<ModuleOp>>
Trials::place(const Scheduled &how, bool goesFar, int64_t nearBytes) {
  FailureOr<ModuleOp> module = schedule(how);
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

FailureOr<int64_t> Trials::measure(const Scheduled &how, bool goesFar,
                                   int64_t nearBytes) {
  FailureOr<OwningOpRef<ModuleOp>> placed = place(how, goesFar, nearBytes);
  if (failed(placed))
    return failure();
  return arenaOf(*placed);
}

/// Whether the program gives back anything in the place of an argument.
static bool hasUpdates(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (unsigned number = 0; number < main.getNumArguments(); ++number)
    if (donatedTo(main, number))
      return true;
  return false;
}

FailureOr<Chosen> Trials::choose(bool goesFar, int64_t arenaBytes) {
  FailureOr<Chosen> late = chooseRows(false, goesFar, arenaBytes);
  if (failed(late) || !hasUpdates(partitioned))
    return late;
  FailureOr<Chosen> early = chooseRows(true, goesFar, arenaBytes);
  if (failed(early))
    return failure();
  return early->bytes < late->bytes ? early : late;
}

FailureOr<Chosen> Trials::chooseRows(bool raisesUpdates, bool goesFar,
                                     int64_t arenaBytes) {
  Scheduled how{{}, raisesUpdates};
  FailureOr<int64_t> ofWhole = measure(how, goesFar);
  if (failed(ofWhole))
    return failure();
  Chosen whole{how, *ofWhole};
  if (options.rowBlocks != 0)
    return whole;
  how.rows = smallestBlocks(options);
  FailureOr<OwningOpRef<ModuleOp>> cut = place(how, goesFar);
  if (failed(cut))
    return failure();
  Chosen smallest{how, arenaOf(*cut)};
  int64_t least = std::min(whole.bytes, smallest.bytes),
          limit = withSlack(least);
  if (arenaBytes > 0)
    limit = std::min(limit, std::max(least, arenaBytes));
  if (whole.bytes <= limit)
    return whole;
  int64_t aim = limit;
  // Places leave gaps that nobody foresees.
  for (int tries = 0; tries < kMostTries; ++tries) {
    how.rows = chooseBlockRows(mainOf(*cut), aim);
    FailureOr<int64_t> bytes = measure(how, goesFar);
    if (failed(bytes))
      return failure();
    if (*bytes <= limit)
      return Chosen{how, *bytes};
    aim -= *bytes - limit;
  }
  return smallest;
}

FailureOr<int64_t> Trials::chooseNear(const Scheduled &how,
                                      int64_t arenaBytes) {
  int64_t aim = arenaBytes;
  for (int tries = 0; tries < kMostTries && aim > 0; ++tries) {
    FailureOr<int64_t> bytes = measure(how, /*goesFar=*/true, aim);
    if (failed(bytes))
      return failure();
    if (*bytes <= arenaBytes)
      return aim;
    aim -= *bytes - arenaBytes;
  }
  return 0;
}

static void take(MemoryChoices &choices, const Chosen &chosen) {
  choices.blockRows = chosen.how.rows;
  choices.raisesUpdates = chosen.how.raisesUpdates;
}

LogicalResult mlir::sp::chooseBlocks(ModuleOp partitioned,
                                     const CompileOptions &options,
                                     MemoryChoices &choices, RemarkLog &log) {
  choices.goesFar = false;
  if (options.rowBlocks != 0 && !options.offload && !hasUpdates(partitioned))
    return success();
  int64_t arenaBytes = choices.arenaBytes;
  Trials trials(partitioned, options, log);
  FailureOr<Chosen> near = trials.choose(/*goesFar=*/false, arenaBytes);
  if (failed(near))
    return failure();
  take(choices, *near);
  if (!options.offload)
    return success();

  // Blocks are cheaper than far memory, which does what is left to do if it
  // can.
  bool isLimited = arenaBytes > 0;
  FailureOr<int64_t> bytes = trials.measure(near->how, /*goesFar=*/true);
  if (failed(bytes))
    return failure();
  Chosen far{near->how, *bytes};
  if (!isLimited || *bytes > arenaBytes) {
    FailureOr<Chosen> chosen = trials.choose(/*goesFar=*/true, arenaBytes);
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
  take(choices, far);
  if (!isLimited)
    return success();
  FailureOr<int64_t> most = trials.chooseNear(far.how, arenaBytes);
  if (failed(most))
    return failure();
  choices.arenaBytes = *most;
  return success();
}
