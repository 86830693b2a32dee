/// The turns of loops within loops.
#ifndef SPRT_LIB_WALK_TURNS_H
#define SPRT_LIB_WALK_TURNS_H

#include <cstdint>
#include <utility>
#include <vector>

namespace sprt {

/// First and last turn but one of loops, the outermost first.
using LoopBounds = std::vector<std::pair<int64_t, int64_t>>;

/// How many turns there are, or the largest number where they are more.
inline int64_t turnsOf(const LoopBounds &loops) {
  int64_t turns = 1;
  for (auto [lower, upper] : loops)
    if (lower >= upper)
      return 0;
  for (auto [lower, upper] : loops) {
    int64_t own = 0;
    if (__builtin_sub_overflow(upper, lower, &own) ||
        __builtin_mul_overflow(turns, own, &turns))
      return INT64_MAX;
  }
  return turns;
}
/// The counters of the first turn.
inline std::vector<int64_t> firstTurn(const LoopBounds &loops) {
  std::vector<int64_t> counters;
  for (auto [lower, upper] : loops)
    counters.push_back(lower);
  return counters;
}
/// Goes on to the next turn; false after the last one.
inline bool nextTurn(const LoopBounds &loops, std::vector<int64_t> &counters) {
  for (size_t depth = loops.size(); depth-- > 0;) {
    if (++counters[depth] < loops[depth].second)
      return true;
    counters[depth] = loops[depth].first;
  }
  return false;
}

} // namespace sprt

#endif // SPRT_LIB_WALK_TURNS_H
