#include "sprt/algebra/Redeal.h"

namespace sprt::algebra {

std::vector<RowPairs> Redeal::rows(int64_t giver, int64_t receiver) const {
  return pairRows(from.ranges(giver), onto.ranges(taker(receiver)), by);
}

std::vector<Interval> Redeal::given(int64_t member) const {
  return from.rowsIn(member, by, by + onto.length());
}

std::vector<Interval> Redeal::received(int64_t member) const {
  return onto.rowsIn(taker(member), -by, from.length() - by);
}

int64_t Redeal::rowsToOthers(int64_t member) const {
  int64_t sent = 0;
  for (Interval each : given(member))
    sent += each.size();
  if (onto.isDense())
    return sent * (from.ranks() - 1);
  for (const RowPairs &kept : rows(member, member))
    sent -= kept.a.count;
  return sent;
}

} // namespace sprt::algebra
