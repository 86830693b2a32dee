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

/// Lets stay what raises no point above the highest that is left, or above
/// `arenaBytes`: the smallest and what waits least first.
static void keepNear(Places &places, int64_t last, int64_t arenaBytes,
                     ArrayRef<FarChoice *> choices) {
  LiveBytes live(last + 1);
  for (const Place &place : places.all())
    if (place.space == Space::Arena && place.end >= 0)
      live.add(place.begin, place.end, bytesOf(place));
  auto move = [&](const FarChoice &choice, bool goes) {
    for (auto [first, last, bytes] : choice.spared)
      live.add(first, last, goes ? -bytes : bytes);
  };
  for (FarChoice *choice : choices)
    move(*choice, true);
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
    FarStates states(*func, places, double(flopsPerByte));
    SmallVector<FarChoice *> choices = stacks.choices();
    llvm::append_range(choices, values.choices());
    if (state)
      llvm::append_range(choices, states.choices());
    Operation *end = func->getBody().front().getTerminator();
    keepNear(places, places.pointsOf(end).second, arenaBytes, choices);
    int64_t number = 0, bytes = 0;
    for (FarChoice *choice : choices)
      if (choice->goes) {
        ++number;
        bytes += choice->bytes;
      }
    bool isEmpty = choices.empty();
    values.write();
    if (state)
      states.write();
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
};

} // namespace

#undef DEBUG_TYPE
