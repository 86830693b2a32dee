#ifndef SPRT_ALGEBRA_BANDS_H
#define SPRT_ALGEBRA_BANDS_H

#include "sprt/algebra/Layout.h"
#include "sprt/algebra/Ring.h"
#include "sprt/algebra/Slices.h"

#include <optional>
#include <utility>

namespace sprt::algebra {

/// Key j is visible to query i iff q0 <= i < q1, k0 <= j < k1 and
/// i + lo <= j <= i + hi, all in global positions. INT64_MIN and INT64_MAX in
/// `lo` and `hi` mean unbounded. In a `uniform` band every visible pair scores
/// 0, so that a row which sees nothing else gets the mean of its keys.
struct Band {
  int64_t q0 = 0;
  int64_t q1 = 0;
  int64_t k0 = 0;
  int64_t k1 = 0;
  int64_t lo = unboundedBelow;
  int64_t hi = unboundedAbove;
  bool uniform = false;

  bool operator==(const Band &other) const;
  bool operator!=(const Band &other) const { return !(*this == other); }
};

bool visible(const Band &band, int64_t query, int64_t key);
/// How many pairs the band shows; O(1).
Area area(const Band &band);
/// Brings the band to its unique normal form: first and last query see a key,
/// first and last key are seen, a bound that cuts nothing off is unbounded.
/// False if it shows no pair.
bool tighten(Band &band);
/// The pairs of both bands.
Band intersect(const Band &a, const Band &b);

/// A mask: the union of bands that share no pair.
///
///     mask (8 queries, 8 keys)       bands {q0,q1,k0,k1,lo,hi}
///     full                           {0,8,0,8,-inf,inf}
///     causal                         {0,8,0,8,-inf,0}
///     window of 3 behind             {0,8,0,8,-2,0}
///     causal with a prefix of 3      {0,8,0,3,-inf,inf} {0,8,3,8,-inf,0}
///     documents of 5 and 3, causal   {0,5,0,5,-inf,0} {5,8,5,8,-inf,0}
///
/// Restricted to the rows of two ranks, a mask becomes the slices of one step
/// of a strategy. Causal on a zigzag ring of 2 over 12 positions (owner 0 has
/// 0 1 2 9 10 11, owner 1 has 3..8), in local rows:
///
///     queries  keys of   slices {q0,q1,k0,k1,lo,hi}        area
///     owner 0  owner 0   {0,6,0,6,-inf,0}                   21
///     owner 0  owner 1   {3,6,0,6,-inf,inf}                 18
///     owner 1  owner 0   {0,6,0,3,-inf,inf}                 18
///     owner 1  owner 1   {0,6,0,6,-inf,0}                   21
///
/// An empty restriction means that there is nothing to compute, and nothing to
/// transfer either. Over all pairs of owners the slices show each visible pair
/// exactly once, so areas add up: that is the proof of coverage, and the cost
/// model's count of work.
class Bands {
public:
  Bands() = default;
  explicit Bands(std::vector<Band> bands) : list(std::move(bands)) {}

  static Bands full(int64_t queries, int64_t keys);
  /// Query i sees the keys j <= i + offset.
  static Bands causal(int64_t queries, int64_t keys, int64_t offset = 0);
  /// Query i sees the keys i + lo <= j <= i + hi.
  static Bands window(int64_t queries, int64_t keys, int64_t lo, int64_t hi);

  const std::vector<Band> &bands() const { return list; }
  bool operator==(const Bands &other) const { return list == other.list; }
  bool operator!=(const Bands &other) const { return !(*this == other); }

  bool visible(int64_t query, int64_t key) const;
  Area area() const;
  /// Whether no pair is visible.
  bool empty() const;
  /// Two bands (their indices) that share a pair, which no mask may have.
  std::optional<std::pair<size_t, size_t>> overlap() const;

  /// Every band in normal form, without those that show nothing, by query and
  /// then by key.
  Bands simplified() const;
  /// Simplified, and only pairs of queries [0, queries) and keys [0, keys).
  Bands clipped(int64_t queries, int64_t keys) const;

  /// The mask with queries as keys and keys as queries.
  Bands transposed() const;

  /// The slices, in local rows, of the pairs that lie in both lists of rows; in
  /// normal form, pairwise disjoint, in a fixed order.
  std::vector<Slice> restrict(const Ranges &queries, const Ranges &keys) const;
  std::vector<Slice> restrict(const Layout &queries, int64_t queryOwner,
                              const Layout &keys, int64_t keyOwner) const;

  /// The rows of keys of `owner` that bound what queries of `reader` see: from
  /// the first to the last key of each slice.
  std::vector<Interval> seenRows(const Layout &queries, int64_t reader,
                                 const Layout &keys, int64_t owner) const;
  /// How much further than an owner ranks are that see keys of it, others than
  /// itself: numbers below the ranks, ascending. Nothing if there are more than
  /// `most`.
  std::optional<std::vector<int64_t>>
  readerDistances(const Layout &queries, const Layout &keys, size_t most) const;
  /// How many hops the block of keys of `owner` travels along a way, among the
  /// ranks of `above`: as far as one of them, or of those below them, sees a
  /// key of it; 0 if none does.
  int64_t ringReach(const Layout &queries, const Layout &keys, int64_t owner,
                    const RingWay &way, int64_t above) const;

  /// The first and the last diagonal of a mask by which each query i sees the
  /// keys from i + first to i + last; nothing for another one.
  std::optional<std::pair<int64_t, int64_t>> diagonals(int64_t queries,
                                                       int64_t keys) const;
  /// The queries of [0, queries) that see none of the keys [0, keys).
  std::vector<Interval> emptyRows(int64_t queries, int64_t keys) const;
  /// Clipped, and uniform over all keys for every query that sees none: the
  /// mask of a model that fills hidden scores with a large finite number.
  Bands withUniformRows(int64_t queries, int64_t keys) const;

  /// What reports call the mask: "full", "causal" (one bound, any offset),
  /// "window" (one band with a lower bound) or "bands".
  const char *name(int64_t queries, int64_t keys) const;

private:
  /// Owners of queries among whom are all that see a key of `owner`.
  std::vector<Interval> readersNear(const Layout &queries, const Layout &keys,
                                    int64_t owner) const;

  std::vector<Band> list;
};

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_BANDS_H
