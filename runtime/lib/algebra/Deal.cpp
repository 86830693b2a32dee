#include "sprt/algebra/Deal.h"

#include <algorithm>
#include <cassert>

namespace sprt::algebra {

namespace {

/// What is wrong with the positions of one owner; adds them to `all`.
std::string checkRows(const Ranges &ranges, int64_t owner,
                      std::vector<Interval> &all) {
  int64_t next = 0;
  for (const Range &range : ranges) {
    if (range.stride != 1 || range.count < 1 || range.first < next)
      return "expected the positions of owner " + std::to_string(owner) +
             " in ranges that ascend but got " + std::to_string(range.count) +
             " from " + std::to_string(range.first) + " on in steps of " +
             std::to_string(range.stride);
    next = range.first + range.count;
    all.push_back({range.first, next});
  }
  return {};
}

std::string checkGroups(const std::vector<OwnerGroup> &groups) {
  auto owners = static_cast<int64_t>(groups.size());
  for (int64_t owner = 0; owner < owners; ++owner) {
    OwnerGroup group = groups[static_cast<size_t>(owner)];
    bool isInside = group.size >= 1 && group.first >= 0 &&
                    group.first <= owner && owner - group.first < group.size &&
                    group.size <= owners - group.first;
    auto isAlike = [&](int64_t other) {
      return groups[static_cast<size_t>(other)] == group;
    };
    if (!isInside || !isAlike(group.first) ||
        !isAlike(group.first + group.size - 1))
      return "expected owner " + std::to_string(owner) +
             " in a group that its members agree on but got " +
             std::to_string(group.size) + " from " +
             std::to_string(group.first) + " on";
  }
  return {};
}

} // namespace

std::string Deal::check(const std::vector<Ranges> &ranges,
                        const std::vector<OwnerGroup> &groups) {
  if (ranges.empty() || ranges.size() != groups.size())
    return "expected owners with a group each but got " +
           std::to_string(ranges.size()) + " owners and " +
           std::to_string(groups.size()) + " groups";
  std::vector<Interval> all;
  for (size_t owner = 0; owner < ranges.size(); ++owner)
    if (std::string flaw =
            checkRows(ranges[owner], static_cast<int64_t>(owner), all);
        !flaw.empty())
      return flaw;
  std::sort(all.begin(), all.end(), [](const Interval &a, const Interval &b) {
    return a.begin < b.begin;
  });
  int64_t next = 0;
  for (const Interval &piece : all) {
    if (piece.begin != next)
      return "expected each position once but " +
             std::string(piece.begin > next ? "nobody has position "
                                            : "two have position ") +
             std::to_string(std::min(piece.begin, next));
    next = piece.end;
  }
  return checkGroups(groups);
}

Deal::Deal(std::vector<Ranges> ranges, std::vector<OwnerGroup> groupsOfOwners)
    : held(std::move(ranges)), groups(std::move(groupsOfOwners)) {
  assert(check(held, groups).empty());
  for (int64_t owner = 0; owner < owners(); ++owner) {
    int64_t row = 0;
    for (const Range &range : held[static_cast<size_t>(owner)]) {
      pieces.push_back({range.first + range.count, {owner, row}, range.first});
      row += range.count;
    }
    counts.push_back(row);
    positions += row;
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece &a, const Piece &b) { return a.end < b.end; });
}

Deal::Place Deal::find(int64_t position) const {
  assert(position >= 0 && position < positions && "no such position");
  const Piece &piece = *std::upper_bound(
      pieces.begin(), pieces.end(), position,
      [](int64_t wanted, const Piece &one) { return wanted < one.end; });
  return {piece.first.owner, piece.first.row + position - piece.begin};
}

} // namespace sprt::algebra
