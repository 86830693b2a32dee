#include "sprt/algebra/Layout.h"

#include "Arithmetic.h"

#include <cassert>
#include <charconv>

namespace sprt::algebra {

const char *name(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::contiguous:
    return "contiguous";
  case LayoutKind::zigzag:
    return "zigzag";
  case LayoutKind::striped:
    return "striped";
  }
  return "unknown";
}

std::optional<LayoutKind> parseLayoutKind(std::string_view text) {
  for (LayoutKind kind :
       {LayoutKind::contiguous, LayoutKind::zigzag, LayoutKind::striped})
    if (text == name(kind))
      return kind;
  return std::nullopt;
}

Layout::Layout(LayoutKind kind, int64_t length, int64_t ring, int64_t split,
               int64_t within, LayoutBlocks blocks)
    : dealt(kind), positions(length), whole(within ? within : length),
      owners(ring), parts(split), cut(blocks) {
  assert(check(kind, length, ring, split, within, blocks).empty());
}

Layout Layout::ofBlock() const {
  return Layout(dealt, whole / cut.count, owners, parts);
}

std::string Layout::check(LayoutKind kind, int64_t length, int64_t ring,
                          int64_t split, int64_t within, LayoutBlocks blocks) {
  if (kind != LayoutKind::contiguous && kind != LayoutKind::zigzag &&
      kind != LayoutKind::striped)
    return "expected layout kind 0, 1 or 2 but got " +
           std::to_string(int(kind));
  if (length < 0 || length > maxLength)
    return "expected layout length from 0 to " + std::to_string(maxLength) +
           " but got " + std::to_string(length);
  if (within != 0 && (within < length || within > maxLength))
    return "expected layout within " + std::to_string(length) + " to " +
           std::to_string(maxLength) + " positions but got " +
           std::to_string(within);
  // The bound on each factor keeps their product from overflowing.
  if (ring < 1 || split < 1 || ring > maxRanks || split > maxRanks ||
      ring * split > maxRanks)
    return "expected layout over 1 to " + std::to_string(maxRanks) +
           " ranks but got " + std::to_string(ring) + " owners split in " +
           std::to_string(split);
  if (blocks.count < 1 || blocks.count > maxRanks / (ring * split) ||
      (blocks.apart && blocks.count == 1))
    return "expected layout in blocks for at most " + std::to_string(maxRanks) +
           " owners, in several where they are apart, but got " +
           std::to_string(blocks.count) + " of " + std::to_string(ring) +
           " owners split in " + std::to_string(split);
  int64_t multiple = granule(kind, ring, split) * blocks.count;
  if (blocks.count > 1 && (within ? within : length) % multiple != 0)
    return "expected layout in " + std::to_string(blocks.count) +
           " blocks of a multiple of " + std::to_string(multiple) +
           " positions but got " + std::to_string(within ? within : length);
  return {};
}

int64_t Layout::ringCount(int64_t owner) const {
  if (dealt != LayoutKind::zigzag)
    return Parts{whole, owners}.size(owner);
  Parts chunks{whole, 2 * owners};
  return chunks.size(owner) + chunks.size(2 * owners - 1 - owner);
}

Interval Layout::ringRows(int64_t owner) const {
  Parts rows{ringCount(owner / parts), parts};
  int64_t part = owner % parts;
  return {rows.start(part), rows.start(part) + rows.size(part)};
}

int64_t Layout::count(int64_t owner) const {
  if (owner < 0 || owner >= ranks())
    return 0;
  if (positions == whole)
    return cut.count == 1 ? ringRows(owner).size()
                          : rowsOfBlock() * (cut.apart ? 1 : cut.count);
  return countRows(ranges(owner));
}

int64_t Layout::maxCount() const {
  // A block that is longer than all positions is exchanged as a whole.
  if (cut.count > 1)
    return cut.apart ? rowsOfBlock()
                     : std::min(rowsOfBlock() * cut.count, positions);
  // Contiguous and striped: the first owner is a largest one. Zigzag: with r
  // chunks one larger, the first owner has one of them if r > 0, and the last
  // owner, which holds the two middle chunks, has two if r > ring.
  int64_t largest = ringCount(0);
  if (dealt == LayoutKind::zigzag)
    largest = std::max(largest, ringCount(owners - 1));
  return std::min(Parts{largest, parts}.largest(), positions);
}

Ranges Layout::ranges(int64_t owner) const {
  Ranges result;
  if (owner < 0 || owner >= ranks())
    return result;
  if (cut.count > 1) {
    Layout block = ofBlock();
    int64_t first = cut.apart ? owner / block.ranks() : 0,
            end = cut.apart ? first + 1 : cut.count;
    for (int64_t number = first; number < end; ++number)
      for (Range range : block.ranges(owner % block.ranks())) {
        range.first += number * block.length();
        range.count = indicesIn(range, 0, positions).size();
        append(result, range);
      }
    return result;
  }
  Interval rows = ringRows(owner);
  int64_t ringOwner = owner / parts;
  auto add = [&](Range range) {
    range.count = indicesIn(range, 0, positions).size();
    append(result, range);
  };
  if (dealt == LayoutKind::striped) {
    add({ringOwner + owners * rows.begin, rows.size(), owners});
    return result;
  }
  if (dealt == LayoutKind::contiguous) {
    add({Parts{whole, owners}.start(ringOwner) + rows.begin, rows.size(), 1});
    return result;
  }
  Parts chunks{whole, 2 * owners};
  int64_t base = 0;
  for (int64_t chunk : {ringOwner, 2 * owners - 1 - ringOwner}) {
    int64_t size = chunks.size(chunk);
    int64_t begin = std::clamp<int64_t>(rows.begin - base, 0, size);
    int64_t end = std::clamp<int64_t>(rows.end - base, 0, size);
    add({chunks.start(chunk) + begin, end - begin, 1});
    base += size;
  }
  return result;
}

int64_t Layout::toGlobal(int64_t owner, int64_t row) const {
  assert(row >= 0 && row < count(owner) && "owner does not hold that row");
  if (cut.count > 1) {
    Layout block = ofBlock();
    int64_t number = cut.apart ? owner / block.ranks() : row / rowsOfBlock();
    return number * block.length() +
           block.toGlobal(owner % block.ranks(), row % rowsOfBlock());
  }
  row += ringRows(owner).begin;
  owner /= parts;
  switch (dealt) {
  case LayoutKind::contiguous:
    break;
  case LayoutKind::striped:
    return owner + owners * row;
  case LayoutKind::zigzag: {
    Parts chunks{whole, 2 * owners};
    if (row < chunks.size(owner))
      return chunks.start(owner) + row;
    return chunks.start(2 * owners - 1 - owner) + row - chunks.size(owner);
  }
  }
  return Parts{whole, owners}.start(owner) + row;
}

Layout::Place Layout::toLocal(int64_t position) const {
  assert(position >= 0 && position < positions && "no such position");
  Place place;
  if (cut.count > 1) {
    Layout block = ofBlock();
    int64_t number = position / block.length();
    place = block.toLocal(position % block.length());
    (cut.apart ? place.owner : place.row) +=
        number * (cut.apart ? block.ranks() : rowsOfBlock());
    return place;
  }
  switch (dealt) {
  case LayoutKind::contiguous: {
    Parts blocks{whole, owners};
    place.owner = blocks.find(position);
    place.row = position - blocks.start(place.owner);
    break;
  }
  case LayoutKind::striped:
    place = {position % owners, position / owners};
    break;
  case LayoutKind::zigzag: {
    Parts chunks{whole, 2 * owners};
    int64_t chunk = chunks.find(position);
    place.owner = std::min(chunk, 2 * owners - 1 - chunk);
    place.row = position - chunks.start(chunk);
    if (chunk != place.owner)
      place.row += chunks.size(place.owner);
    break;
  }
  }
  Parts rows{ringCount(place.owner), parts};
  int64_t part = rows.find(place.row);
  return {place.owner * parts + part, place.row - rows.start(part)};
}

std::vector<Interval> Layout::rowsIn(int64_t owner, int64_t lo,
                                     int64_t hi) const {
  return algebra::rowsIn(ranges(owner), lo, hi);
}

bool Layout::operator==(const Layout &other) const {
  return positions == other.positions && whole == other.whole &&
         owners == other.owners && parts == other.parts &&
         (cut == other.cut || (isDense() && other.isDense())) &&
         (dealt == other.dealt || owners == 1);
}

std::string Layout::str() const {
  std::string text = std::string(name(dealt)) + "(" + std::to_string(positions);
  if (whole != positions)
    text += " within " + std::to_string(whole);
  text += " over " + std::to_string(owners);
  if (parts != 1)
    text += "x" + std::to_string(parts);
  if (cut.count != 1)
    text +=
        " in " + std::to_string(cut.count) + (cut.apart ? " turns" : " blocks");
  return text + ")";
}

/// Takes `prefix` from the front of `text`.
static bool consume(std::string_view &text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

static bool consume(std::string_view &text, int64_t &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return false;
  text.remove_prefix(size_t(end - text.data()));
  return true;
}

std::optional<Layout> Layout::parse(std::string_view text) {
  size_t paren = text.find('(');
  if (paren == std::string_view::npos)
    return std::nullopt;
  std::optional<LayoutKind> kind = parseLayoutKind(text.substr(0, paren));
  text.remove_prefix(paren + 1);
  int64_t length = 0, within = 0, ring = 1, split = 1;
  if (!kind || !consume(text, length) ||
      (consume(text, " within ") && !consume(text, within)) ||
      !consume(text, " over ") || !consume(text, ring))
    return std::nullopt;
  if (consume(text, "x") && !consume(text, split))
    return std::nullopt;
  LayoutBlocks blocks;
  if (consume(text, " in ")) {
    if (!consume(text, blocks.count) || blocks.count == 1)
      return std::nullopt;
    blocks.apart = consume(text, " turns");
    if (!blocks.apart && !consume(text, " blocks"))
      return std::nullopt;
  }
  if (text != ")" || !check(*kind, length, ring, split, within, blocks).empty())
    return std::nullopt;
  return Layout(*kind, length, ring, split, within, blocks);
}

} // namespace sprt::algebra
