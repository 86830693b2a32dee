//===- MemoryPeak.cpp - When most of a rank's memory is in use ------------===//

#include "MemoryPeak.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::sp;
using nlohmann::json;

int64_t mlir::sp::sumOf(const MemoryStack &stack) {
  return std::accumulate(stack.begin(), stack.end(), int64_t(0));
}

MemoryStack MemoryBeside::stack() const {
  MemoryStack stack = {};
  stack[size_t(MemoryKind::Constants)] = constantBytes;
  stack[size_t(MemoryKind::Scratch)] = scratchBytes;
  return stack;
}

MemoryInUse::MemoryInUse(const LivePlaces &places, const MemoryKinds &kinds,
                         Space space, const MemoryStack &always)
    : kinds(kinds), always(always), stacks(places.points()) {
  std::vector<MemoryStack> changes(places.points() + 1);
  for (const LivePlace &place : places.all()) {
    if (place.space != space)
      continue;
    size_t kind = size_t(kinds.of(place));
    changes[place.first][kind] += place.bytes;
    changes[place.last + 1][kind] -= place.bytes;
    if (place.bytes > 0)
      ours.push_back(&place);
  }
  MemoryStack live = always;
  for (int64_t point = 0; point < places.points(); ++point) {
    for (size_t kind = 0; kind < kMemoryKinds; ++kind)
      live[kind] += changes[point][kind];
    stacks[point] = live;
    if (sumOf(live) > sumOf(stacks[fullest]))
      fullest = point;
  }
}

std::vector<AlikePlaces> MemoryInUse::atPeak() const {
  std::map<std::pair<MemoryKind, std::string>, AlikePlaces> groups;
  for (const LivePlace *place : ours) {
    if (fullest < place->first || place->last < fullest)
      continue;
    MemoryKind kind = kinds.of(*place);
    std::string name = kinds.nameOf(*place), key;
    for (char letter : name)
      key += llvm::isDigit(letter) ? '0' : letter;
    AlikePlaces &group = groups[{kind, key}];
    if (group.count++ == 0)
      group = {name, kind, 1, 0};
    group.bytes += place->bytes;
  }
  std::vector<AlikePlaces> all;
  for (const auto &[key, group] : groups)
    all.push_back(group);
  for (size_t kind = 0; kind < kMemoryKinds; ++kind)
    if (always[kind] > 0)
      all.push_back(
          {nameOf(MemoryKind(kind)).str(), MemoryKind(kind), 1, always[kind]});
  llvm::sort(all, [](const AlikePlaces &a, const AlikePlaces &b) {
    return std::tuple(-a.bytes, a.kind, a.name) <
           std::tuple(-b.bytes, b.kind, b.name);
  });
  return all;
}

json mlir::sp::describePeak(ModuleOp module, ArrayRef<NotedArgument> arguments,
                            const MemoryBeside &beside) {
  auto func = module.lookupSymbol<func::FuncOp>("main");
  LivePlaces places(func);
  MemoryKinds kinds(func, places, arguments);
  json list = json::array();
  for (const AlikePlaces &alike :
       MemoryInUse(places, kinds, Space::Arena, beside.stack()).atPeak())
    list.push_back({{"kind", nameOf(alike.kind)},
                    {"name", alike.name},
                    {"count", alike.count},
                    {"bytes", alike.bytes}});
  return list;
}
