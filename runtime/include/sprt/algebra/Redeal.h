/// Rows dealt anew: which rows of whom become whose.
#ifndef SPRT_ALGEBRA_REDEAL_H
#define SPRT_ALGEBRA_REDEAL_H

#include "sprt/algebra/Layout.h"

#include <utility>

namespace sprt::algebra {

/// The row of position p by `onto` is the one of position p + by by `from`,
/// where there is one. Both deal to the same members, or `onto` is dense: then
/// every member gets all its rows.
///
///     from contiguous(6 over 2) onto the same, by 1
///     rows     a b c | d e f   ->   b c d | e f .    one row travels
class Redeal {
public:
  /// 0 <= |by| <= Layout::maxLength.
  Redeal(Layout from, Layout onto, int64_t by)
      : from(std::move(from)), onto(std::move(onto)), by(by) {}

  /// Local rows of `giver` and those of `receiver` that they become.
  std::vector<RowPairs> rows(int64_t giver, int64_t receiver) const;
  /// Local rows of a member that somebody gets.
  std::vector<Interval> given(int64_t member) const;
  /// Local rows of a member that somebody gives.
  std::vector<Interval> received(int64_t member) const;
  /// How many rows members send to others than themselves, each as often as
  /// somebody gets it. O(1).
  int64_t rowsToOthers(int64_t member) const;
  /// How many local rows a member has before and after.
  int64_t countBefore(int64_t member) const { return from.count(member); }
  int64_t countAfter(int64_t member) const { return onto.count(taker(member)); }

private:
  int64_t taker(int64_t member) const { return onto.isDense() ? 0 : member; }

  Layout from, onto;
  int64_t by;
};

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_REDEAL_H
