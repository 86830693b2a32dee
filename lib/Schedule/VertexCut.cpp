//===- VertexCut.cpp - Minimum cuts of vertices ------------------------===//

#include "VertexCut.h"

#include <algorithm>
#include <deque>

using namespace mlir::sp;

unsigned VertexCut::add(int64_t weight) {
  unsigned vertex = static_cast<unsigned>(arcsFrom.size()) / 2 - 1;
  arcsFrom.resize(arcsFrom.size() + 2);
  addArc(intoOf(vertex), outOf(vertex), weight);
  return vertex;
}

void VertexCut::addArc(unsigned from, unsigned to, int64_t capacity) {
  arcsFrom[from].push_back(static_cast<unsigned>(arcs.size()));
  arcs.push_back({to, capacity});
  arcsFrom[to].push_back(static_cast<unsigned>(arcs.size()));
  arcs.push_back({from, 0});
}

/// Sends as much as a shortest way takes; false where there is none.
bool VertexCut::augment() {
  constexpr unsigned kNone = UINT32_MAX;
  std::vector<unsigned> reachedBy(arcsFrom.size(), kNone);
  std::deque<unsigned> open = {kSource};
  while (!open.empty() && reachedBy[kTarget] == kNone) {
    unsigned node = open.front();
    open.pop_front();
    for (unsigned number : arcsFrom[node]) {
      const Arc &arc = arcs[number];
      if (arc.capacity == 0 || arc.to == kSource || reachedBy[arc.to] != kNone)
        continue;
      reachedBy[arc.to] = number;
      open.push_back(arc.to);
    }
  }
  if (reachedBy[kTarget] == kNone)
    return false;
  auto forEachArc = [&](auto visit) {
    for (unsigned node = kTarget; node != kSource;) {
      unsigned number = reachedBy[node];
      visit(number);
      node = arcs[number ^ 1].to;
    }
  };
  int64_t most = kNever;
  forEachArc(
      [&](unsigned number) { most = std::min(most, arcs[number].capacity); });
  forEachArc([&](unsigned number) {
    arcs[number].capacity -= most;
    arcs[number ^ 1].capacity += most;
  });
  flow += most;
  return true;
}

std::vector<unsigned> VertexCut::find() {
  while (flow < kNever && augment()) {
  }
  std::vector<unsigned> cut;
  if (flow >= kNever)
    return cut;
  // What still reaches the target.
  std::vector<bool> reaches(arcsFrom.size(), false);
  std::deque<unsigned> open = {kTarget};
  reaches[kTarget] = true;
  while (!open.empty()) {
    unsigned node = open.front();
    open.pop_front();
    for (unsigned number : arcsFrom[node]) {
      unsigned before = arcs[number].to;
      if (arcs[number ^ 1].capacity == 0 || reaches[before])
        continue;
      reaches[before] = true;
      open.push_back(before);
    }
  }
  for (unsigned vertex = 0; outOf(vertex) < arcsFrom.size(); ++vertex)
    if (reaches[outOf(vertex)] && !reaches[intoOf(vertex)])
      cut.push_back(vertex);
  return cut;
}
