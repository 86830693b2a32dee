//===- Arena.cpp - What lies where in a rank's arena ----------------------===//

#include "Arena.h"

using namespace mlir;
using namespace mlir::sp;

Held Held::part(int64_t begin, int64_t size) const {
  Held rows{begin, size, {}, space};
  for (const Piece &piece : pieces)
    if (piece.begin < rows.end() && piece.end > begin)
      rows.pieces.push_back({std::max(piece.begin, begin),
                             std::min(piece.end, rows.end()), piece.content});
  return rows;
}

Held Held::with(const Held &other) const {
  Held all{offset, bytes, {}, space};
  llvm::append_range(all.pieces, part(offset, other.offset - offset).pieces);
  llvm::append_range(all.pieces, other.pieces);
  llvm::append_range(all.pieces, part(other.end(), end() - other.end()).pieces);
  return all;
}

Held Arena::make(Space space, int64_t offset, int64_t bytes,
                 Operation *writer) {
  writers[++lastContent] = writer;
  Held made{offset, bytes, {}, space};
  if (bytes > 0)
    made.pieces.push_back({offset, offset + bytes, lastContent});
  return made;
}

/// Makes a range begin at `offset` if one lies across it.
void Arena::cutAt(Ranges &ranges, int64_t offset) {
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
  if (held.space == Space::Constants)
    return;
  Ranges &ranges = spaces[held.space];
  for (const Held::Piece &piece : held.pieces) {
    cutAt(ranges, piece.begin);
    cutAt(ranges, piece.end);
    ranges.erase(ranges.lower_bound(piece.begin),
                 ranges.lower_bound(piece.end));
    ranges[piece.begin] = {piece.end, piece.content};
  }
}

std::optional<Operation *> Arena::findDamage(const Held &held) const {
  if (held.space == Space::Constants)
    return std::nullopt;
  const Ranges &ranges = spaces.find(held.space)->second;
  for (const Held::Piece &piece : held.pieces)
    if (std::optional<Operation *> damage = findDamage(ranges, piece))
      return damage;
  return std::nullopt;
}

std::optional<Operation *> Arena::findDamage(const Ranges &ranges,
                                             const Held::Piece &piece) const {
  for (int64_t at = piece.begin; at < piece.end;) {
    auto next = ranges.upper_bound(at);
    if (next == ranges.begin() || std::prev(next)->second.end <= at)
      return nullptr;
    const Range &range = std::prev(next)->second;
    if (range.content != piece.content)
      return writers.lookup(range.content);
    at = range.end;
  }
  return std::nullopt;
}
