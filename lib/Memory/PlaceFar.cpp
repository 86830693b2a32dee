//===- PlaceFar.cpp - What waits long lies in far memory ------------------===//

#include "FarStacks.h"
#include "FarStates.h"
#include "FarValues.h"
#include "LiveBytes.h"

#include "sp/IR/Program.h"
#include "sp/Memory/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "sp-place-far"

namespace mlir::sp {
#define GEN_PASS_DEF_PLACEFARPASS
#include "sp/Memory/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// How much more memory is worth a wait for copies.
static constexpr double kMuchMore = 1.02;

/// What is in use where all of these go.
static LiveBytes liveWith(const Places &places, int64_t last,
                          ArrayRef<FarChoice *> choices) {
  LiveBytes live(last + 1);
  for (const Place &place : places.all())
    if (place.space == Space::Arena && place.end >= 0)
      live.add(place.begin, place.end, bytesOf(place));
  for (const FarChoice *choice : choices)
    for (auto [first, last, bytes] : choice->spared)
      live.add(first, last, -bytes);
  return live;
}

/// Lets stay what raises no point above the highest that is left, or above
/// `arenaBytes`: the smallest and what waits least first.
static void keepNear(const Places &places, int64_t last, int64_t arenaBytes,
                     ArrayRef<FarChoice *> choices) {
  LiveBytes live = liveWith(places, last, choices);
  auto move = [&](const FarChoice &choice, bool goes) {
    for (auto [first, last, bytes] : choice.spared)
      live.add(first, last, goes ? -bytes : bytes);
  };
  int64_t most = std::max(arenaBytes, live.most(0, last));
  SmallVector<std::pair<double, size_t>> order;
  for (auto [number, choice] : llvm::enumerate(choices))
    order.emplace_back(double(choice->bytes) * choice->wait, number);
  llvm::sort(order);
  for (auto [worth, number] : order) {
    FarChoice *choice = choices[number];
    move(*choice, false);
    choice->goes = llvm::any_of(choice->spared, [&](auto &spared) {
      return live.most(spared.first, spared.last) > most;
    });
    if (choice->goes)
      move(*choice, true);
  }
}

namespace {

struct PlaceFarPass : mlir::sp::impl::PlaceFarPassBase<PlaceFarPass> {
  using PlaceFarPassBase::PlaceFarPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func))
      return signalPassFailure();
    Places places(*func);
    FarStacks stacks(*func, places, double(flopsPerByte));
    FarValues values(*func, places, double(flopsPerByte), stacks.values());
    Operation *end = func->getBody().front().getTerminator();
    int64_t last = places.pointsOf(end).second;
    SmallVector<FarChoice *> choices = stacks.choices();
    llvm::append_range(choices, values.choices());
    std::optional<FarStates> states = chooseStates(*func, places, choices);
    if (states)
      llvm::append_range(choices, states->choices());
    keepNear(places, last, arenaBytes, choices);
    int64_t number = 0, bytes = 0;
    for (FarChoice *choice : choices)
      if (choice->goes) {
        ++number;
        bytes += choice->bytes;
      }
    bool isEmpty = choices.empty();
    values.write();
    if (states)
      states->write();
    stacks.write();
    if (number > 0)
      remark::passed(func->getLoc(),
                     remark::RemarkOpts::name("Far").category(DEBUG_TYPE))
          << remark::metric("values", number) << " times a value, of "
          << remark::metric("bytes", bytes)
          << " bytes together, waits in far memory for its next use";
    else if (isEmpty)
      remark::missed(
          func->getLoc(),
          remark::RemarkOpts::name("NothingWaits").category(DEBUG_TYPE))
          << "nothing waits long enough for far memory: that is a value which "
             "is not read while "
          << remark::metric("flops", int64_t(kLeastWait * flopsPerByte))
          << " FLOPs are computed for each of its bytes";
    else
      remark::missed(
          func->getLoc(),
          remark::RemarkOpts::name("NothingFar").category(DEBUG_TYPE))
          << "far memory would not lower the arena's peak, at which nothing "
             "waits long enough";
  }

  /// Copies that are hidden, or paced where only that lowers the peak.
  std::optional<FarStates> chooseStates(func::FuncOp func, const Places &places,
                                        ArrayRef<FarChoice *> others) const {
    if (!state)
      return std::nullopt;
    Operation *end = func.getBody().front().getTerminator();
    int64_t last = places.pointsOf(end).second;
    auto peakWith = [&](FarStates &states) {
      SmallVector<FarChoice *> choices(others);
      llvm::append_range(choices, states.choices());
      return liveWith(places, last, choices).most(0, last);
    };
    FarStates hidden(func, places, double(flopsPerByte), /*isPaced=*/false),
        paced(func, places, double(flopsPerByte), /*isPaced=*/true);
    int64_t enough = std::max<int64_t>(arenaBytes, peakWith(paced));
    bool isLower = double(peakWith(hidden)) > kMuchMore * double(enough);
    return std::optional<FarStates>(std::in_place,
                                    std::move(isLower ? paced : hidden));
  }
};

} // namespace

#undef DEBUG_TYPE
