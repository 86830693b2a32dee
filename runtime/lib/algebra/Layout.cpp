#include "sprt/algebra/Layout.h"

#include "Arithmetic.h"

#include <cassert>

namespace sprt::algebra {

namespace {

/// Whether mirrored chunks are dealt.
bool isMirrored(LayoutKind kind) {
  return kind == LayoutKind::zigzag || kind == LayoutKind::batch;
}

/// Whether positions are cut into blocks before they are dealt. Of a batch,
/// where only documents say who has which, owners' rows are.
bool isInBlocks(const Layout &layout) {
  return layout.blocks().count > 1 && layout.kind() != LayoutKind::batch;
}

/// How each block is dealt.
Layout blockOf(const Layout &layout) {
  return Layout(layout.kind(), layout.within() / layout.blocks().count,
                layout.ring(), layout.split());
}

/// How many rows of each block an owner has, of a batch at most.
int64_t rowsOfBlock(const Layout &layout) {
  if (layout.kind() == LayoutKind::batch)
    return layout.holds() / layout.blocks().count;
  return layout.within() / layout.blocks().count / layout.ring() /
         layout.split();
}

/// Rows of a ring owner, of all positions that are dealt.
int64_t ringCount(const Layout &layout, int64_t owner) {
  if (layout.deal())
    return layout.deal()->count(owner);
  int64_t whole = layout.within(), owners = layout.ring();
  if (!isMirrored(layout.kind()))
    return Parts{whole, owners}.size(owner);
  Parts chunks{whole, 2 * owners};
  return chunks.size(owner) + chunks.size(2 * owners - 1 - owner);
}

/// The blocks of which an owner has rows, and its number in each.
Interval blocksOf(const Layout &layout, int64_t owner) {
  auto [count, apart] = layout.blocks();
  int64_t own = owner / (layout.ring() * layout.split());
  return apart ? Interval{own, own + 1} : Interval{0, count};
}
int64_t ownerInBlock(const Layout &layout, int64_t owner) {
  return owner % (layout.ring() * layout.split());
}

/// Which rows of a ring owner are of a block.
Interval blockRows(const Layout &layout, int64_t owner, int64_t block) {
  int64_t all = ringCount(layout, owner);
  if (layout.blocks().count == 1)
    return {0, all};
  int64_t size = rowsOfBlock(layout) * layout.split();
  return {std::min(block * size, all), std::min((block + 1) * size, all)};
}

/// Those of them that an owner holds.
Interval ringRows(const Layout &layout, int64_t owner, int64_t block) {
  Interval all = blockRows(layout, owner / layout.split(), block);
  Parts rows{all.size(), layout.split()};
  int64_t part = owner % layout.split(), begin = all.begin + rows.start(part);
  return {begin, begin + rows.size(part)};
}

/// Positions of a ring owner's rows.
Ranges ringRanges(const Layout &layout, int64_t owner) {
  if (layout.deal())
    return layout.deal()->ranges(owner);
  int64_t whole = layout.within(), owners = layout.ring(),
          count = ringCount(layout, owner);
  if (layout.kind() == LayoutKind::striped)
    return {{owner, count, owners}};
  if (layout.kind() == LayoutKind::contiguous)
    return {{Parts{whole, owners}.start(owner), count, 1}};
  Parts chunks{whole, 2 * owners};
  Ranges mirrored;
  for (int64_t chunk : {owner, 2 * owners - 1 - owner})
    mirrored.push_back({chunks.start(chunk), chunks.size(chunk), 1});
  return mirrored;
}

/// Who of the ring holds a position.
Layout::Place ringPlace(const Layout &layout, int64_t position) {
  if (layout.deal())
    return layout.deal()->find(position);
  int64_t whole = layout.within(), owners = layout.ring();
  switch (layout.kind()) {
  case LayoutKind::contiguous:
    break;
  case LayoutKind::striped:
    return {position % owners, position / owners};
  case LayoutKind::zigzag:
  case LayoutKind::batch: {
    Parts chunks{whole, 2 * owners};
    int64_t chunk = chunks.find(position);
    Layout::Place place{std::min(chunk, 2 * owners - 1 - chunk),
                        position - chunks.start(chunk)};
    if (chunk != place.owner)
      place.row += chunks.size(place.owner);
    return place;
  }
  }
  Parts blocks{whole, owners};
  int64_t owner = blocks.find(position);
  return {owner, position - blocks.start(owner)};
}

} // namespace

Layout::Layout(LayoutKind kind, int64_t length, int64_t ring, int64_t split,
               int64_t within, LayoutBlocks blocks, int64_t holds)
    : dealt(kind), positions(length), whole(within ? within : length),
      owners(ring), parts(split), cut(blocks), capacity(holds) {
  assert(check(kind, length, ring, split, within, blocks, holds).empty());
}

Layout Layout::dealtAs(std::shared_ptr<const Deal> deal) const {
  assert(!deal || checkDeal(*this, *deal).empty());
  Layout result = *this;
  result.table = std::move(deal);
  return result;
}

OwnerGroup Layout::group(int64_t ringOwner) const {
  return table && ringOwner >= 0 && ringOwner < owners ? table->group(ringOwner)
                                                       : OwnerGroup{0, owners};
}

std::string Layout::check(LayoutKind kind, int64_t length, int64_t ring,
                          int64_t split, int64_t within, LayoutBlocks blocks,
                          int64_t holds) {
  if (kind < LayoutKind::contiguous || kind > LayoutKind::batch)
    return "expected layout kind 0, 1, 2 or 3 but got " +
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
  bool isBatch = kind == LayoutKind::batch;
  int64_t dealt = within ? within : length;
  if (isBatch
          ? holds < 1 || holds > maxLength ||
                holds <
                    Layout(LayoutKind::zigzag, dealt, ring, split).maxCount()
          : holds != 0)
    return "expected layout of batches alone to hold a number of rows that is "
           "enough for " +
           std::to_string(dealt) + " positions over " +
           std::to_string(ring * split) + " owners but got " +
           std::to_string(holds);
  if (isBatch && holds % blocks.count != 0)
    return "expected layout of a batch in " + std::to_string(blocks.count) +
           " blocks to hold a multiple of so many rows but got " +
           std::to_string(holds);
  int64_t multiple = granule(kind, ring, split) * blocks.count;
  if (!isBatch && blocks.count > 1 && dealt % multiple != 0)
    return "expected layout in " + std::to_string(blocks.count) +
           " blocks of a multiple of " + std::to_string(multiple) +
           " positions but got " + std::to_string(dealt);
  return {};
}

int64_t Layout::count(int64_t owner) const {
  if (owner < 0 || owner >= ranks())
    return 0;
  if (positions != whole)
    return countRows(ranges(owner));
  if (isInBlocks(*this))
    return rowsOfBlock(*this) * (cut.apart ? 1 : cut.count);
  int64_t rows = 0;
  Interval blocks = blocksOf(*this, owner);
  for (int64_t block = blocks.begin; block < blocks.end; ++block)
    rows += ringRows(*this, ownerInBlock(*this, owner), block).size();
  return rows;
}

int64_t Layout::maxCount() const {
  if (dealt == LayoutKind::batch)
    return std::min(cut.apart ? rowsOfBlock(*this) : capacity, positions);
  // A block that is longer than all positions is exchanged as a whole.
  if (cut.count > 1)
    return cut.apart ? rowsOfBlock(*this)
                     : std::min(rowsOfBlock(*this) * cut.count, positions);
  // Contiguous and striped: the first owner is a largest one. Zigzag: with r
  // chunks one larger, the first owner has one of them if r > 0, and the last
  // owner, which holds the two middle chunks, has two if r > ring.
  int64_t largest = ringCount(*this, 0);
  if (isMirrored(dealt))
    largest = std::max(largest, ringCount(*this, owners - 1));
  return std::min(Parts{largest, parts}.largest(), positions);
}

Ranges Layout::ranges(int64_t owner) const {
  Ranges result;
  if (owner < 0 || owner >= ranks())
    return result;
  Interval blocks = blocksOf(*this, owner);
  owner = ownerInBlock(*this, owner);
  if (isInBlocks(*this)) {
    Layout block = blockOf(*this);
    for (int64_t number = blocks.begin; number < blocks.end; ++number)
      for (Range range : block.ranges(owner)) {
        range.first += number * block.length();
        range.count = indicesIn(range, 0, positions).size();
        append(result, range);
      }
    return result;
  }
  Ranges all = ringRanges(*this, owner / parts);
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    Interval rows = ringRows(*this, owner, block);
    int64_t base = 0;
    for (Range range : all) {
      int64_t begin = std::clamp<int64_t>(rows.begin - base, 0, range.count);
      int64_t end = std::clamp<int64_t>(rows.end - base, 0, range.count);
      base += range.count;
      range = {range.at(begin), end - begin, range.stride};
      range.count = indicesIn(range, 0, positions).size();
      append(result, range);
    }
  }
  return result;
}

int64_t Layout::toGlobal(int64_t owner, int64_t row) const {
  assert(row >= 0 && row < count(owner) && "owner does not hold that row");
  int64_t block = 0;
  if (cut.count > 1) {
    block = cut.apart ? blocksOf(*this, owner).begin : row / rowsOfBlock(*this);
    owner = ownerInBlock(*this, owner);
    row %= rowsOfBlock(*this);
  }
  if (isInBlocks(*this))
    return block * blockOf(*this).length() +
           blockOf(*this).toGlobal(owner, row);
  row += ringRows(*this, owner, block).begin;
  owner /= parts;
  if (table)
    return positionOf(table->ranges(owner), row);
  switch (dealt) {
  case LayoutKind::contiguous:
    break;
  case LayoutKind::striped:
    return owner + owners * row;
  case LayoutKind::zigzag:
  case LayoutKind::batch: {
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
  int64_t block = 0;
  if (isInBlocks(*this)) {
    int64_t size = blockOf(*this).length();
    block = position / size;
    place = blockOf(*this).toLocal(position % size);
  } else {
    place = ringPlace(*this, position);
    if (cut.count > 1)
      block = place.row / (rowsOfBlock(*this) * parts);
    Interval all = blockRows(*this, place.owner, block);
    Parts rows{all.size(), parts};
    place.row -= all.begin;
    int64_t part = rows.find(place.row);
    place = {place.owner * parts + part, place.row - rows.start(part)};
  }
  (cut.apart ? place.owner : place.row) +=
      block * (cut.apart ? owners * parts : rowsOfBlock(*this));
  return place;
}

std::vector<Interval> Layout::rowsIn(int64_t owner, int64_t lo,
                                     int64_t hi) const {
  return algebra::rowsIn(ranges(owner), lo, hi);
}

std::vector<Interval> ownersNear(const Layout &layout, int64_t lo, int64_t hi) {
  int64_t owners = layout.ring();
  lo = std::max<int64_t>(lo, 0);
  hi = std::min(hi, layout.length());
  if (lo >= hi)
    return {};
  std::vector<Interval> near;
  auto add = [&](int64_t first, int64_t last) {
    if (first <= last)
      near.push_back({first * layout.split(), (last + 1) * layout.split()});
  };
  bool isRound = layout.kind() == LayoutKind::striped && hi - lo >= owners;
  if (layout.blocks().count > 1 || layout.deal() || isRound ||
      layout.kind() == LayoutKind::batch) {
    near.push_back({0, layout.ranks()});
  } else if (layout.kind() == LayoutKind::contiguous) {
    add(ringPlace(layout, lo).owner, ringPlace(layout, hi - 1).owner);
  } else if (layout.kind() == LayoutKind::zigzag) {
    Parts chunks{layout.within(), 2 * owners};
    int64_t first = chunks.find(lo), last = chunks.find(hi - 1),
            mirror = 2 * owners - 1;
    add(first, std::min(last, owners - 1));
    add(mirror - last, mirror - std::max(first, owners));
  } else {
    int64_t first = lo % owners, last = (hi - 1) % owners;
    add(first, first <= last ? last : owners - 1);
    if (first > last)
      add(0, last);
  }
  return near;
}

bool Layout::operator==(const Layout &other) const {
  return positions == other.positions && whole == other.whole &&
         owners == other.owners && parts == other.parts &&
         (cut == other.cut || (isDense() && other.isDense())) &&
         (dealt == other.dealt || owners == 1) && capacity == other.capacity &&
         (table == other.table ||
          (table && other.table && *table == *other.table));
}

std::string checkDeal(const Layout &layout, const Deal &deal) {
  if (layout.kind() != LayoutKind::batch)
    return "expected a layout of batches but got " + layout.str();
  if (deal.owners() != layout.ring() || deal.length() != layout.within())
    return "expected " + std::to_string(layout.within()) + " positions for " +
           std::to_string(layout.ring()) + " owners but got " +
           std::to_string(deal.length()) + " for " +
           std::to_string(deal.owners());
  int64_t most = layout.holds() * layout.split();
  for (int64_t owner = 0; owner < deal.owners(); ++owner)
    if (deal.count(owner) > most)
      return "expected at most " + std::to_string(most) +
             " positions of an owner but " + std::to_string(owner) + " has " +
             std::to_string(deal.count(owner));
  return {};
}

} // namespace sprt::algebra
