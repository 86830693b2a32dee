#include "sprt/algebra/Bands.h"

#include "Arithmetic.h"

#include <tuple>

namespace sprt::algebra {

static auto tied(const Band &band) {
  return std::tie(band.q0, band.k0, band.lo, band.q1, band.k1, band.hi,
                  band.uniform);
}

bool Band::operator==(const Band &other) const {
  return tied(*this) == tied(other);
}

static Slice toSlice(const Band &band) {
  return {band.q0, band.q1, band.k0, band.k1,     band.lo,
          band.hi, 1,       1,       band.uniform};
}

bool visible(const Band &band, int64_t query, int64_t key) {
  return visible(toSlice(band), query, key);
}

Area area(const Band &band) { return area(toSlice(band)); }

bool tighten(Band &band) {
  Slice slice = toSlice(band);
  if (!tighten(slice))
    return false;
  band = {slice.q0, slice.q1, slice.k0,    slice.k1,
          slice.lo, slice.hi, band.uniform};
  return true;
}

Band intersect(const Band &a, const Band &b) {
  return {std::max(a.q0, b.q0),  std::min(a.q1, b.q1), std::max(a.k0, b.k0),
          std::min(a.k1, b.k1),  std::max(a.lo, b.lo), std::min(a.hi, b.hi),
          a.uniform && b.uniform};
}

Bands Bands::full(int64_t queries, int64_t keys) {
  return window(queries, keys, unboundedBelow, unboundedAbove);
}

Bands Bands::causal(int64_t queries, int64_t keys, int64_t offset) {
  return window(queries, keys, unboundedBelow, offset);
}

Bands Bands::window(int64_t queries, int64_t keys, int64_t lo, int64_t hi) {
  return Bands({{0, queries, 0, keys, lo, hi, false}}).simplified();
}

bool Bands::visible(int64_t query, int64_t key) const {
  return std::any_of(list.begin(), list.end(), [&](const Band &band) {
    return algebra::visible(band, query, key);
  });
}

Area Bands::area() const {
  Area sum = 0;
  for (const Band &band : list)
    sum += algebra::area(band);
  return sum;
}

bool Bands::empty() const {
  return std::all_of(list.begin(), list.end(),
                     [](Band band) { return !tighten(band); });
}

std::optional<std::pair<size_t, size_t>> Bands::overlap() const {
  // By first query, so that the search behind a band ends with its queries.
  std::vector<std::pair<int64_t, size_t>> order;
  for (const Band &band : list)
    order.push_back({band.q0, order.size()});
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size(); ++j) {
      size_t a = order[i].second, b = order[j].second;
      if (list[b].q0 >= list[a].q1)
        break;
      Band both = intersect(list[a], list[b]);
      if (tighten(both))
        return std::pair(std::min(a, b), std::max(a, b));
    }
  return std::nullopt;
}

Bands Bands::simplified() const {
  std::vector<Band> result;
  for (Band band : list)
    if (tighten(band))
      result.push_back(band);
  std::sort(result.begin(), result.end(),
            [](const Band &a, const Band &b) { return tied(a) < tied(b); });
  return Bands(std::move(result));
}

Bands Bands::clipped(int64_t queries, int64_t keys) const {
  std::vector<Band> result = list;
  for (Band &band : result) {
    band.q0 = std::max<int64_t>(band.q0, 0);
    band.q1 = std::min(band.q1, queries);
    band.k0 = std::max<int64_t>(band.k0, 0);
    band.k1 = std::min(band.k1, keys);
  }
  return Bands(std::move(result)).simplified();
}

/// Cuts a band to one range of queries and one of keys; rows are numbered from
/// `row0` and `key0`. False if nothing is visible.
static bool restrictTo(const Band &band, const Range &queries, int64_t row0,
                       const Range &keys, int64_t key0, Slice &s) {
  Interval rows = indicesIn(queries, band.q0, band.q1);
  Interval columns = indicesIn(keys, band.k0, band.k1);
  s = {rows.begin, rows.end,       columns.begin, columns.end, band.lo,
       band.hi,    queries.stride, keys.stride,   band.uniform};
  // Query first + stride * a, key first' + stride' * b: the bounds move by the
  // difference of the first positions.
  Wide shift = Wide(queries.first) - keys.first;
  if (s.lo != unboundedBelow)
    s.lo = saturate(s.lo + shift);
  if (s.hi != unboundedAbove)
    s.hi = saturate(s.hi + shift);
  if (!tighten(s))
    return false;
  s.q0 += row0;
  s.q1 += row0;
  s.k0 += key0;
  s.k1 += key0;
  shift = Wide(s.kStride) * key0 - Wide(s.qStride) * row0;
  if (s.lo != unboundedBelow)
    s.lo = saturate(s.lo + shift);
  if (s.hi != unboundedAbove)
    s.hi = saturate(s.hi + shift);
  return true;
}

std::vector<Slice> Bands::restrict(const Ranges &queries,
                                   const Ranges &keys) const {
  std::vector<Slice> result, ofBand;
  for (const Band &band : list) {
    ofBand.clear();
    int64_t row0 = 0;
    for (const Range &rows : queries) {
      int64_t key0 = 0;
      for (const Range &columns : keys) {
        Slice slice;
        if (restrictTo(band, rows, row0, columns, key0, slice))
          ofBand.push_back(slice);
        key0 += columns.count;
      }
      row0 += rows.count;
    }
    join(ofBand);
    result.insert(result.end(), ofBand.begin(), ofBand.end());
  }
  return result;
}

std::vector<Slice> Bands::restrict(const Layout &queries, int64_t queryOwner,
                                   const Layout &keys, int64_t keyOwner) const {
  return restrict(queries.ranges(queryOwner), keys.ranges(keyOwner));
}

std::vector<Interval> Bands::emptyRows(int64_t queries, int64_t keys) const {
  // In normal form every query of a band's interval sees a key, and
  // bands come by first query.
  std::vector<Interval> rows;
  int64_t covered = 0;
  for (const Band &band : clipped(queries, keys).list) {
    if (band.q0 > covered)
      rows.push_back({covered, band.q0});
    covered = std::max(covered, band.q1);
  }
  if (covered < queries)
    rows.push_back({covered, queries});
  return rows;
}

Bands Bands::withUniformRows(int64_t queries, int64_t keys) const {
  std::vector<Band> result = clipped(queries, keys).list;
  for (Interval rows : emptyRows(queries, keys))
    result.push_back(
        {rows.begin, rows.end, 0, keys, unboundedBelow, unboundedAbove, true});
  return Bands(std::move(result)).simplified();
}

std::optional<std::pair<int64_t, int64_t>>
Bands::diagonals(int64_t queries, int64_t keys) const {
  Bands clip = clipped(queries, keys);
  if (clip.list.size() != 1 || clip.list[0].uniform)
    return std::nullopt;
  Band band = clip.list[0];
  // The normal form drops bounds that cut nothing off its own rectangle; the
  // outermost diagonals of that rectangle stand for them.
  int64_t lo = band.lo != unboundedBelow ? band.lo : band.k0 - (band.q1 - 1);
  int64_t hi = band.hi != unboundedAbove ? band.hi : band.k1 - 1 - band.q0;
  if (clip != window(queries, keys, lo, hi))
    return std::nullopt;
  return std::pair(lo, hi);
}

const char *Bands::name(int64_t queries, int64_t keys) const {
  Bands clip = clipped(queries, keys);
  if (clip == full(queries, keys))
    return "full";
  auto between = diagonals(queries, keys);
  if (!between)
    return "bands";
  return clip == causal(queries, keys, between->second) ? "causal" : "window";
}

Bands Bands::transposed() const {
  auto negated = [](int64_t bound) {
    if (bound == unboundedBelow)
      return unboundedAbove;
    return bound == unboundedAbove ? unboundedBelow : -bound;
  };
  std::vector<Band> turned;
  for (const Band &band : list)
    turned.push_back({band.k0, band.k1, band.q0, band.q1, negated(band.hi),
                      negated(band.lo), band.uniform});
  return Bands(std::move(turned));
}

std::vector<Interval> Bands::readersNear(const Layout &queries,
                                         const Layout &keys,
                                         int64_t owner) const {
  std::vector<Interval> near;
  auto add = [&](const Band &band, int64_t first, int64_t last) {
    first = std::max(first, band.k0);
    last = std::min(last, band.k1 - 1);
    if (first > last)
      return;
    int64_t lo = band.hi == unboundedAbove
                     ? band.q0
                     : saturate(std::max<Wide>(band.q0, Wide(first) - band.hi));
    int64_t hi =
        band.lo == unboundedBelow
            ? band.q1
            : saturate(std::min<Wide>(band.q1, Wide(last) - band.lo + 1));
    for (Interval owners : ownersNear(queries, lo, hi))
      near.push_back(owners);
  };
  for (const Range &range : keys.ranges(owner))
    for (const Band &band : list) {
      int64_t last = range.at(range.count - 1);
      // Keys that lie as far apart as an owner's queries have readers alike.
      bool areAlike =
          range.stride > 1 && queries.kind() == LayoutKind::striped &&
          range.stride == queries.ranks() && band.lo != unboundedBelow &&
          band.hi != unboundedAbove && Wide(band.hi) - band.lo < range.stride;
      if (!areAlike) {
        add(band, range.first, last);
        continue;
      }
      int64_t ranks = queries.ranks(),
              first =
                  (range.first % ranks - band.hi % ranks + 2 * ranks) % ranks,
              end = first + band.hi - band.lo + 1;
      near.push_back({first, std::min(end, ranks)});
      near.push_back({0, end - ranks});
    }
  return near;
}

std::vector<Interval> Bands::seenRows(const Layout &queries, int64_t reader,
                                      const Layout &keys, int64_t owner) const {
  std::vector<Interval> rows;
  for (const Slice &slice : restrict(queries, reader, keys, owner))
    rows.push_back({slice.k0, slice.k1});
  std::sort(rows.begin(), rows.end(), [](const Interval &a, const Interval &b) {
    return a.begin < b.begin;
  });
  std::vector<Interval> joined;
  for (const Interval &each : rows)
    if (!joined.empty() && each.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, each.end);
    else
      joined.push_back(each);
  return joined;
}

std::optional<std::vector<int64_t>>
Bands::readerDistances(const Layout &queries, const Layout &keys,
                       size_t most) const {
  int64_t ranks = keys.ranks();
  std::vector<int64_t> found;
  for (int64_t owner = 0; owner < ranks; ++owner)
    for (Interval near : readersNear(queries, keys, owner))
      for (int64_t reader = near.begin; reader < near.end; ++reader) {
        int64_t distance = (reader - owner + ranks) % ranks;
        auto at = std::lower_bound(found.begin(), found.end(), distance);
        bool isKnown = at != found.end() && *at == distance;
        if (distance == 0 || isKnown ||
            restrict(queries, reader, keys, owner).empty())
          continue;
        if (found.size() == most)
          return std::nullopt;
        found.insert(at, distance);
      }
  return found;
}

int64_t Bands::ringReach(const Layout &queries, const Layout &keys,
                         int64_t owner, const RingWay &way,
                         int64_t above) const {
  std::vector<Interval> near = readersNear(queries, keys, owner);
  auto isSeen = [&](int64_t hop) {
    int64_t digit = way.digit(way.moved(owner, hop * way.step));
    int64_t first = way.first + (above * way.size + digit) * way.stride;
    for (Interval readers : near) {
      int64_t end = std::min(first + way.stride, readers.end);
      for (int64_t reader = std::max(first, readers.begin); reader < end;
           ++reader)
        if (!restrict(queries, reader, keys, owner).empty())
          return true;
    }
    return false;
  };
  int64_t reach = std::min(way.hops, way.size - 1);
  while (reach > 0 && !isSeen(reach))
    --reach;
  return std::max<int64_t>(reach, 0);
}

} // namespace sprt::algebra
