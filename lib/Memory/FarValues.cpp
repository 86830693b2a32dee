//===- FarValues.cpp - What waits long, to far memory and back -----------===//

#include "FarValues.h"

#include "sp/IR/CarriedValues.h"
#include "sp/IR/Storage.h"
#include "sp/IR/Views.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"

#include <limits>

using namespace mlir;
using namespace mlir::sp;

FarValues::FarValues(func::FuncOp func, const Places &places,
                     double flopsPerByte, const DenseSet<Value> &others)
    : timeline(func.getBody().front()), flopsPerByte(flopsPerByte) {
  for (Operation *op : timeline.all())
    for (Value result : op->getResults())
      if (isTensor(result) && !others.contains(result))
        find(result);
  double most = 0;
  for (const Waiting &waiting : all)
    most += double(waiting.choice.bytes);
  llvm::erase_if(all, [&](const Waiting &waiting) {
    return double(waiting.choice.bytes) < kLeastPart * most;
  });
  llvm::sort(all, [](const Waiting &a, const Waiting &b) {
    return std::tie(a.made, a.id) < std::tie(b.made, b.id);
  });
  while (!schedule())
    ;
  auto startOf = [&](int number) {
    return places.pointsOf(timeline[number]).first;
  };
  for (Waiting &waiting : all)
    waiting.choice.spared.push_back({startOf(waiting.gone),
                                     startOf(waiting.back) - 1,
                                     bytesOf(places.of(waiting.value))});
}

SmallVector<FarChoice *> FarValues::choices() {
  SmallVector<FarChoice *> choices;
  for (Waiting &waiting : all)
    choices.push_back(&waiting.choice);
  return choices;
}

void FarValues::find(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  if (isView(op) || isa<stablehlo::ConstantOp, EmptyOp>(op))
    return;
  // Of each reader where it begins and where it ends to read.
  SmallVector<std::pair<int, int>> readers;
  // What something goes on with lies where that will be.
  bool stays = false;
  timeline.forEachUse(value, [&](OpOperand &use, int number) {
    Operation *user = timeline[number];
    stays |= isa<func::ReturnOp>(user) || isOverwritten(use);
    readers.push_back({number, timeline.endOf(user)});
  });
  if (stays || readers.empty())
    return;
  llvm::sort(readers);
  int made = timeline.endOf(op), last = made;
  for (auto [begin, end] : readers) {
    double wait = timeline.timeOf(begin) - timeline.timeOf(last + 1);
    int64_t bytes = storageBytes(type);
    if (wait >= kLeastWait * double(bytes) * flopsPerByte && bytes > 0)
      all.push_back({value,
                     made,
                     last,
                     begin,
                     static_cast<int>(all.size()),
                     {{}, bytes, wait, true}});
    last = std::max(last, end);
  }
}

bool FarValues::schedule() {
  // Of a value that waits more than once, the first time sends it away.
  DenseMap<Value, std::pair<int, double>> sent;
  double free = 0;
  for (Waiting &waiting : all) {
    auto [known, isNew] = sent.try_emplace(waiting.value);
    if (isNew) {
      double begin = std::max(free, timeline.timeOf(waiting.made + 1));
      free = begin + costOf(waiting);
      known->second = {waiting.made, free};
    }
    waiting.gone = timeline.firstAfter(known->second.second, waiting.last + 1,
                                       waiting.first);
  }
  SmallVector<Waiting *> byUse;
  for (Waiting &waiting : all)
    byUse.push_back(&waiting);
  llvm::sort(byUse, [](Waiting *a, Waiting *b) {
    return std::tie(a->first, a->id) > std::tie(b->first, b->id);
  });
  double next = std::numeric_limits<double>::max();
  for (Waiting *waiting : byUse) {
    next = std::min(next, timeline.timeOf(waiting->first)) - costOf(*waiting);
    waiting->back = std::min(waiting->first, timeline.lastBefore(next));
    if (waiting->back < waiting->gone) {
      all.erase(waiting);
      return false;
    }
  }
  return true;
}

void FarValues::write() {
  llvm::erase_if(all,
                 [](const Waiting &waiting) { return !waiting.choice.goes; });
  // Now that there is less to copy.
  while (!schedule())
    ;
  OpBuilder builder(timeline[0]->getContext());
  struct Sent {
    Value far;
    SmallVector<std::pair<OpOperand *, int>> uses;
  };
  llvm::MapVector<Value, Sent> sent;
  for (const Waiting &waiting : all)
    if (!sent.contains(waiting.value)) {
      Sent &own = sent[waiting.value];
      timeline.forEachUse(waiting.value, [&](OpOperand &use, int number) {
        own.uses.push_back({&use, number});
      });
    }
  for (const Waiting &waiting : all) {
    Sent &own = sent[waiting.value];
    if (own.far)
      continue;
    builder.setInsertionPointAfter(timeline[waiting.made]);
    Location loc = waiting.value.getLoc();
    auto type = cast<RankedTensorType>(waiting.value.getType());
    auto evict = EvictStartOp::create(builder, loc, toFar(type),
                                      TokenType::get(builder.getContext()),
                                      waiting.value);
    own.far = evict.getResult();
    builder.setInsertionPoint(timeline[waiting.gone]);
    WaitOp::create(builder, loc, evict.getToken());
  }
  // Whichever is read first comes first.
  llvm::sort(all, [](const Waiting &a, const Waiting &b) {
    return std::tie(a.first, a.id) < std::tie(b.first, b.id);
  });
  DenseMap<Value, int> again; ///< where what comes next is read
  SmallVector<int> ends(all.size());
  for (size_t i = all.size(); i-- > 0;) {
    auto [known, isNew] = again.try_emplace(all[i].value, INT_MAX);
    ends[i] = known->second;
    known->second = all[i].first;
  }
  for (auto [waiting, end] : llvm::zip_equal(all, ends)) {
    const Sent &own = sent[waiting.value];
    Location loc = waiting.value.getLoc();
    builder.setInsertionPoint(timeline[waiting.back]);
    auto fetch =
        FetchStartOp::create(builder, loc, waiting.value.getType(),
                             TokenType::get(builder.getContext()), own.far);
    builder.setInsertionPoint(timeline[waiting.first]);
    WaitOp::create(builder, loc, fetch.getToken());
    Timeline::Views views{waiting.value, fetch.getResult(), waiting.first};
    for (auto [use, number] : own.uses)
      if (number >= waiting.first && number < end)
        use->set(timeline.viewOf(use->get(), views, builder));
  }
}
