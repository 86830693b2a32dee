#include "sprt/algebra/Documents.h"

#include <algorithm>
#include <map>

namespace sprt::algebra {

namespace {

/// Rows of one side whose runs are met in the order of positions.
class Cursor {
public:
  explicit Cursor(const Documents &documents)
      : rows(documents.rows()), at(rows.size()) {}

  /// The document of a position that is no less than those asked for before.
  int64_t documentOf(size_t row, int64_t position) {
    row = std::min(row, rows.size() - 1);
    while (rows[row][at[row]].positions.end <= position)
      ++at[row];
    return rows[row][at[row]].document;
  }

private:
  const std::vector<Documents::Row> &rows;
  std::vector<size_t> at;
};

/// By row, then by document: where it lies.
using Places = std::vector<std::map<int64_t, std::vector<Interval>>>;

Places placesOf(const Documents &documents) {
  Places places;
  for (const Documents::Row &row : documents.rows()) {
    places.emplace_back();
    for (const Documents::Run &run : row)
      places.back()[run.document].push_back(run.positions);
  }
  return places;
}

/// Steps that a mask may take to cut: more cost more than they save.
constexpr size_t kMostSteps = size_t(1) << 22;

/// Keys that queries of an interval may see.
Interval reachOf(const Bands &mask, const Interval &queries) {
  Interval reach{INT64_MAX, INT64_MIN};
  for (const Band &band : mask.bands()) {
    Band part = intersect(band, {queries.begin, queries.end, band.k0, band.k1,
                                 unboundedBelow, unboundedAbove, band.uniform});
    if (!tighten(part))
      continue;
    reach.begin = std::min(reach.begin, part.k0);
    reach.end = std::max(reach.end, part.k1);
  }
  return reach;
}

/// Those of ascending intervals that meet another one.
void addMeeting(const std::vector<Interval> &from, const Interval &other,
                std::vector<Interval> &out) {
  auto at =
      std::partition_point(from.begin(), from.end(), [&](const Interval &each) {
        return each.end <= other.begin;
      });
  for (; at != from.end() && at->begin < other.end; ++at)
    out.push_back(*at);
}

/// Of a band that shows each of its queries one key, and each key one query:
/// how much further the key is.
std::optional<int64_t> diagonalOf(const Band &band) {
  int64_t offset = band.k0 - band.q0;
  bool isSquare = band.k1 - band.q1 == offset;
  bool isOne =
      band.q1 - band.q0 == 1 || (band.lo == offset && band.hi == offset);
  return isSquare && isOne ? std::optional(offset) : std::nullopt;
}

/// Adds a band to others; documents of one position each make one diagonal.
void addBand(std::vector<Band> &bands, const Band &next) {
  std::optional<int64_t> offset = diagonalOf(next);
  if (offset && !bands.empty()) {
    Band &last = bands.back();
    if (diagonalOf(last) == offset && last.q1 == next.q0 &&
        last.uniform == next.uniform) {
      last = {last.q0, next.q1, last.k0,     next.k1,
              *offset, *offset, next.uniform};
      return;
    }
  }
  bands.push_back(next);
}

/// In order, and those that touch as one.
std::vector<Interval> joined(std::vector<Interval> list) {
  std::sort(list.begin(), list.end(), [](const Interval &a, const Interval &b) {
    return a.begin < b.begin;
  });
  std::vector<Interval> result;
  for (const Interval &next : list)
    if (!result.empty() && next.begin <= result.back().end)
      result.back().end = std::max(result.back().end, next.end);
    else
      result.push_back(next);
  return result;
}

bool equal(const std::vector<Interval> &a, const std::vector<Interval> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Interval &x, const Interval &y) {
                      return x.begin == y.begin && x.end == y.end;
                    });
}

} // namespace

std::optional<Bands> within(const Bands &mask, const Documents &queries,
                            const Documents &keys, size_t most) {
  std::vector<int64_t> cuts;
  for (const Documents::Row &row : queries.rows())
    for (const Documents::Run &run : row)
      cuts.insert(cuts.end(), {run.positions.begin, run.positions.end});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  size_t rows = std::max(queries.rows().size(), keys.rows().size());
  Places places = placesOf(keys);
  Cursor cursor(queries);
  std::vector<Band> bands;
  Interval seeing{0, 0};
  std::vector<Interval> seen;
  size_t steps = 0;
  auto flush = [&] {
    for (const Interval &at : seen)
      for (const Band &band : mask.bands()) {
        Band part =
            intersect(band, {seeing.begin, seeing.end, at.begin, at.end,
                             unboundedBelow, unboundedAbove, band.uniform});
        if (tighten(part))
          addBand(bands, part);
      }
    return bands.size() <= most;
  };
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    std::vector<Interval> next;
    Interval reach = reachOf(mask, {cuts[i], cuts[i + 1]});
    for (size_t row = 0; row < rows; ++row) {
      const auto &ofRow = places[std::min(row, places.size() - 1)];
      auto found = ofRow.find(cursor.documentOf(row, cuts[i]));
      if (found != ofRow.end())
        addMeeting(found->second, reach, next);
    }
    steps += next.size() + mask.bands().size();
    if (steps > kMostSteps)
      return std::nullopt;
    next = joined(std::move(next));
    if (!equal(next, seen)) {
      if (!flush())
        return std::nullopt;
      seeing.begin = cuts[i];
      seen = std::move(next);
    }
    seeing.end = cuts[i + 1];
  }
  if (!flush())
    return std::nullopt;
  return Bands(std::move(bands)).simplified();
}

} // namespace sprt::algebra
