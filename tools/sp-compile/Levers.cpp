//===- Levers.cpp - What keeps a rank within a limit ----------------------===//

#include "Levers.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::sp;

/// With as many a block of a rank's sequence is a small part of it.
static constexpr int64_t kChunks = 8;

/// From the cheapest on, each with those before.
static std::vector<Levers> leversOf(const CompileOptions &options) {
  std::vector<Levers> all = {{options, "", {}}};
  auto addTo = [&](Levers more, const Twine &text, auto change) {
    change(more.options);
    more.taken += (more.taken.empty() ? "" : " ") + text.str();
    all.push_back(std::move(more));
  };
  if (!options.offloadGiven) {
    const Levers asked = all.front();
    addTo(asked, "--offload=host",
          [](CompileOptions &more) { more.offload = true; });
    addTo(asked, "--offload=host+state", [](CompileOptions &more) {
      more.offload = more.offloadState = true;
    });
  }
  std::vector<Levers> before = {all.back()};
  if (!options.checkpointGiven) {
    addTo(before.front(), "--checkpoint=attention-out",
          [](CompileOptions &more) {
            more.checkpoint = Checkpoint::AttentionOut;
          });
    addTo(before.front(), "--checkpoint=full",
          [](CompileOptions &more) { more.checkpoint = Checkpoint::Full; });
    before.push_back(all.back());
  }
  if (!options.chunksGiven)
    for (const Levers &others : before)
      addTo(others, "--chunks=" + Twine(kChunks),
            [](CompileOptions &more) { more.chunks = kChunks; });
  return all;
}

/// What needs more in the smallest blocks does not fit in others either.
static constexpr double kNearly = 1.25;

FailureOr<Levers> mlir::sp::chooseLevers(ModuleOp model,
                                         const CompileOptions &options,
                                         const Target &target,
                                         ImportStage import, RemarkLog &log) {
  const int64_t limit = *options.memoryLimit;
  size_t known = log.size();
  std::optional<Levers> best;
  std::string tried;
  for (Levers &levers : leversOf(options)) {
    // What a model cannot do is no way out; without levers it is an error.
    bool isAsked = levers.taken.empty();
    ScopedDiagnosticHandler quiet(model.getContext(), [&](Diagnostic &) {
      return isAsked ? failure() : success();
    });
    auto measure = [&](int64_t arenaBytes) -> FailureOr<NeededBytes> {
      OwningOpRef<ModuleOp> copy = model.clone();
      if (failed(import(*copy, levers.options)))
        return failure();
      return neededBytes(*copy, levers.options, arenaBytes, target, log);
    };
    FailureOr<NeededBytes> needed = measure(/*arenaBytes=*/0);
    // Other blocks than the smallest ones may need a little less.
    if (succeeded(needed) && needed->all() > limit &&
        double(needed->all()) <= kNearly * double(limit))
      needed = measure(std::max<int64_t>(limit - needed->others, 1));
    if (failed(needed) && isAsked)
      return failure();
    if (failed(needed))
      continue;
    levers.needed = *needed;
    tried += (tried.empty() ? "" : "; ") +
             (isAsked ? "as asked for" : levers.taken) + " " +
             std::to_string(needed->all()) + " bytes";
    if (!best || levers.needed.all() < best->needed.all())
      best = levers;
    if (levers.needed.all() <= limit)
      break;
  }
  log.truncate(known);
  if (!best->taken.empty())
    remark::passed(model.getLoc(),
                   remark::RemarkOpts::name("Levers").category("sp-compile"))
        << "for a limit of " << remark::metric("limit", limit)
        << " bytes a rank " << best->taken << " is taken, which nobody asked "
        << "for; needed: " << tried;
  return *best;
}
