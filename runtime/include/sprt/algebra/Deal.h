/// Which positions of a sequence each owner of a ring holds, where no formula
/// says it.
///
///     documents 0..4, 5..6, 7..11; 3 owners, of which 0 and 1 share the first
///
///     owner 0   {(0, 2, 1), (5, 2, 1)}    group 0 to 1
///     owner 1   {(2, 3, 1)}               group 0 to 1
///     owner 2   {(7, 5, 1)}               group 2
#ifndef SPRT_ALGEBRA_DEAL_H
#define SPRT_ALGEBRA_DEAL_H

#include "sprt/algebra/Ranges.h"

#include <string>

namespace sprt::algebra {

/// Neighbouring owners [first, first + size), which hand their blocks round
/// among themselves.
struct OwnerGroup {
  int64_t first = 0;
  int64_t size = 1;

  bool operator==(const OwnerGroup &other) const {
    return first == other.first && size == other.size;
  }
};

class Deal {
public:
  struct Place {
    int64_t owner = 0;
    int64_t row = 0;
  };

  /// An entry for each owner. The arguments must pass `check`.
  Deal(std::vector<Ranges> ranges, std::vector<OwnerGroup> groups);

  /// What is wrong with such a deal, as a diagnostic: positions that are not
  /// there once each, rows that do not ascend, members of a group that disagree
  /// about it. Empty if nothing is.
  static std::string check(const std::vector<Ranges> &ranges,
                           const std::vector<OwnerGroup> &groups);

  int64_t owners() const { return static_cast<int64_t>(held.size()); }
  int64_t length() const { return positions; }
  const Ranges &ranges(int64_t owner) const {
    return held[static_cast<size_t>(owner)];
  }
  int64_t count(int64_t owner) const {
    return counts[static_cast<size_t>(owner)];
  }
  OwnerGroup group(int64_t owner) const {
    return groups[static_cast<size_t>(owner)];
  }
  /// Who holds a position, 0 <= position < length(), and in which row.
  Place find(int64_t position) const;

  bool operator==(const Deal &other) const {
    return held == other.held && groups == other.groups;
  }

private:
  /// Positions that lie one behind another with one owner.
  struct Piece {
    int64_t end;
    Place first;
    int64_t begin;
  };

  std::vector<Ranges> held;
  std::vector<OwnerGroup> groups;
  std::vector<int64_t> counts;
  std::vector<Piece> pieces; ///< by position
  int64_t positions = 0;
};

} // namespace sprt::algebra

#endif // SPRT_ALGEBRA_DEAL_H
