/// Which key/value head a query head reads, and which ones a rank needs.
///
/// Query head h of H reads kv head floor(h * Hk / H) of Hk. When Hk divides H
/// that is grouped-query attention; otherwise groups differ by one head:
///
///     H = 8, Hk = 2    query head  0 1 2 3 4 5 6 7
///                      kv head     0 0 0 0 1 1 1 1
///     H = 7, Hk = 3    query head  0 1 2 3 4 5 6
///                      kv head     0 0 0 1 1 2 2
///
/// Heads are dealt to ranks by a contiguous Layout like positions are. A rank
/// with query heads [h0, h1) holds the kv heads they read, so that where ranks
/// outnumber kv heads some ranks hold the same one.
#ifndef SPRT_ALGEBRA_HEADS_H
#define SPRT_ALGEBRA_HEADS_H

#include "sprt/algebra/Layout.h"

namespace sprt::algebra {

/// The kv head that query head `head` of `headsTotal` reads.
constexpr int64_t kvHeadOf(int64_t head, int64_t headsTotal, int64_t kvTotal) {
  return head * kvTotal / headsTotal;
}

/// The kv heads that query heads [heads.begin, heads.end) read; none for none.
constexpr Interval kvHeadsOf(Interval heads, int64_t headsTotal,
                             int64_t kvTotal) {
  if (heads.end <= heads.begin)
    return {};
  return {kvHeadOf(heads.begin, headsTotal, kvTotal),
          kvHeadOf(heads.end - 1, headsTotal, kvTotal) + 1};
}

/// The kv heads of `kvTotal` that a rank holds whose query heads `heads` deals.
inline Interval heldHeads(const Layout &heads, int64_t rank, int64_t kvTotal) {
  int64_t count = heads.count(rank),
          first = count ? heads.toGlobal(rank, 0) : 0;
  return kvHeadsOf({first, first + count}, heads.length(), kvTotal);
}

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_HEADS_H
