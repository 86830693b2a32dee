//===- Arena.cpp - What lies where in a rank's arena ----------------------===//

#include "Arena.h"

using namespace mlir;
using namespace mlir::sp;

Held Arena::make(int64_t offset, int64_t bytes, Operation *writer) {
  writers[++lastContent] = writer;
  return {offset, bytes, lastContent, false};
}

/// Makes a range begin at `offset` if one lies across it.
void Arena::cutAt(int64_t offset) {
  auto next = ranges.upper_bound(offset);
  if (next == ranges.begin())
    return;
  auto &[begin, range] = *std::prev(next);
  if (begin == offset || range.end <= offset)
    return;
  Range rest = range;
  range.end = offset;
  ranges[offset] = rest;
}

void Arena::put(const Held &held) {
  if (held.isConstant || held.bytes == 0)
    return;
  int64_t end = held.offset + held.bytes;
  cutAt(held.offset);
  cutAt(end);
  ranges.erase(ranges.lower_bound(held.offset), ranges.lower_bound(end));
  ranges[held.offset] = {end, held.content};
}

std::optional<Operation *> Arena::findDamage(const Held &held) const {
  if (held.isConstant || held.bytes == 0)
    return std::nullopt;
  auto range = ranges.find(held.offset);
  if (range == ranges.end()) {
    auto next = ranges.upper_bound(held.offset);
    bool isCovered =
        next != ranges.begin() && std::prev(next)->second.end > held.offset;
    if (!isCovered)
      return nullptr;
    return writers.lookup(std::prev(next)->second.content);
  }
  if (range->second.content != held.content)
    return writers.lookup(range->second.content);
  int64_t end = held.offset + held.bytes;
  if (range->second.end == end)
    return std::nullopt;
  auto next = std::next(range);
  if (next == ranges.end() || next->first >= end)
    return nullptr;
  return writers.lookup(next->second.content);
}
