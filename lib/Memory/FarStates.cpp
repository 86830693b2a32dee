//===- FarStates.cpp - State in far memory but for its update ------------===//

#include "FarStates.h"

#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/IR/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace mlir::sp;

FarStates::FarStates(func::FuncOp func, const Places &places,
                     double flopsPerByte, bool isPaced)
    : func(func), timeline(func.getBody().front()), flopsPerByte(flopsPerByte) {
  for (BlockArgument argument : func.getArguments())
    if (std::optional<unsigned> result =
            donatedTo(func, argument.getArgNumber()))
      find(argument, *result);
  double most = 0;
  for (const State &state : all)
    most += double(state.choice.bytes);
  llvm::erase_if(all, [&](const State &state) {
    return double(state.choice.bytes) < kLeastPart * most;
  });
  if (isPaced)
    pace();
  schedule();
  auto startOf = [&](int number) {
    return places.pointsOf(timeline[number]).first;
  };
  int64_t end = places.pointsOf(timeline.all().back()).second;
  for (State &state : all) {
    Value result = timeline.all().back()->getOperand(state.result);
    state.choice.spared.push_back(
        {0, startOf(state.back) - 1, bytesOf(places.of(state.argument))});
    state.choice.spared.push_back(
        {startOf(state.gone), end, bytesOf(places.of(result))});
  }
}

void FarStates::find(BlockArgument argument, unsigned result) {
  Operation *end = timeline.all().back();
  Value next = end->getOperand(result);
  auto type = cast<RankedTensorType>(argument.getType());
  int64_t bytes = storageBytes(type);
  Operation *op = next.getDefiningOp();
  if (!op || next.getType() != type || type.getRank() == 0 || bytes == 0 ||
      op->getBlock() != end->getBlock() || isView(op) || argument.use_empty())
    return;
  int first = timeline.numberOf(end), last = timeline.endOf(op);
  int made = last, returned = 0;
  bool stays = false;
  timeline.forEachUse(argument, [&](OpOperand &use, int number) {
    stays |= timeline[number] == end || isOverwritten(use);
    first = std::min(first, number);
  });
  timeline.forEachUse(next, [&](OpOperand &use, int number) {
    stays |= isOverwritten(use);
    if (timeline[number] == end)
      ++returned;
    else
      last = std::max(last, timeline.endOf(timeline[number]));
  });
  double wait = timeline.timeOf(first);
  if (!stays && returned == 1 && made >= first &&
      wait >= kLeastWait * double(bytes) * flopsPerByte)
    all.push_back(
        {argument, result, first, made, last, {{}, bytes, wait, true}});
}

/// Between two updates there is time for what the second one needs.
void FarStates::pace() {
  std::map<int, double> copies;
  for (const State &state : all)
    copies[state.first] += costOf(state);
  int before = -1;
  for (auto [update, cost] : copies) {
    double between = timeline.timeOf(update) - timeline.timeOf(before + 1);
    if (before >= 0 && between < cost)
      timeline.delay(before, cost - between);
    before = update;
  }
}

/// Fetches as late as they may, evictions as soon.
void FarStates::schedule() {
  llvm::sort(all, [](const State &a, const State &b) {
    return std::make_pair(a.first, a.result) >
           std::make_pair(b.first, b.result);
  });
  double next = std::numeric_limits<double>::max();
  for (State &state : all) {
    next = std::min(next, timeline.timeOf(state.first)) - costOf(state);
    state.back = std::min(state.first, timeline.lastBefore(next));
  }
  llvm::sort(all, [](const State &a, const State &b) {
    return std::make_pair(a.made, a.result) < std::make_pair(b.made, b.result);
  });
  double free = 0;
  int end = static_cast<int>(timeline.all().size()) - 1;
  for (State &state : all) {
    free = std::max(free, timeline.timeOf(state.made + 1)) + costOf(state);
    state.gone = timeline.firstAfter(free, state.last + 1, end);
  }
}

SmallVector<FarChoice *> FarStates::choices() {
  SmallVector<FarChoice *> choices;
  for (State &state : all)
    choices.push_back(&state.choice);
  return choices;
}

/// Erases what is a view of a value, which nobody reads any more.
static void eraseViews(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (isView(user)) {
      eraseViews(user->getResult(0));
      user->erase();
    }
}

void FarStates::write() {
  llvm::erase_if(all, [](const State &state) { return !state.choice.goes; });
  if (all.empty())
    return;
  schedule();
  OpBuilder builder(func.getContext());
  auto token = TokenType::get(builder.getContext());
  Operation *end = timeline.all().back();
  SmallVector<Type> inputs(func.getArgumentTypes()),
      results(func.getResultTypes());
  for (State &state : all) {
    Location loc = state.argument.getLoc();
    auto near = cast<RankedTensorType>(state.argument.getType());
    SmallVector<OpOperand *> uses;
    timeline.forEachUse(state.argument,
                        [&](OpOperand &use, int) { uses.push_back(&use); });
    state.argument.setType(toFar(near));
    inputs[state.argument.getArgNumber()] = toFar(near);
    results[state.result] = toFar(near);

    builder.setInsertionPoint(timeline[state.back]);
    auto fetch =
        FetchStartOp::create(builder, loc, near, token, state.argument);
    builder.setInsertionPoint(timeline[state.first]);
    WaitOp::create(builder, loc, fetch.getToken());
    Timeline::Views views{state.argument, fetch.getResult(), state.first};
    for (OpOperand *use : uses)
      use->set(timeline.viewOf(use->get(), views, builder));
    eraseViews(state.argument);

    builder.setInsertionPointAfter(timeline[state.made]);
    auto evict = EvictRowsStartOp::create(
        builder, loc, toFar(near), token, end->getOperand(state.result),
        state.argument, arith::ConstantIndexOp::create(builder, loc, 0),
        /*dim=*/0);
    builder.setInsertionPoint(timeline[state.gone]);
    WaitOp::create(builder, loc, evict.getToken());
    end->setOperand(state.result, evict.getResult());
  }
  func.setFunctionType(builder.getFunctionType(inputs, results));
}
