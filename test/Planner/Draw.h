/// Random batches, and plans as text.
#ifndef SP_TEST_PLANNER_DRAW_H
#define SP_TEST_PLANNER_DRAW_H

#include "planner/BatchPlan.h"

#include <algorithm>
#include <random>

namespace sprt {

struct Case {
  std::vector<int64_t> lengths;
  BatchOptions options;
};

class Draw {
public:
  explicit Draw(uint64_t seed) : bits(seed) {}

  /// Of [low, high].
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(bits);
  }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[number(0, int64_t(values.size()) - 1)];
  }

  /// Documents that fit, in as many micro-batches as they need.
  Case batch() {
    Case drawn;
    BatchOptions &options = drawn.options;
    options.ranks = number(1, oneOf({1, 3, 8, 64}));
    options.capacity = number(1, oneOf({1, 7, 64, 1000}));
    options.tokenCost = oneOf({0, 1, 24576});
    options.pairCost = oneOf({0, 1, 3});
    options.spread = number(0, 3) == 0;
    int64_t most = options.ranks * options.capacity;
    int64_t kind = number(0, 5), count = number(0, oneOf({3, 30, 300}));
    int64_t small = std::min(most, 2 * options.ranks + 1);
    if (kind == 0)
      drawn.lengths = {most};
    for (int64_t i = 0; kind > 0 && i < count; ++i)
      drawn.lengths.push_back(kind == 1   ? 1
                              : kind == 2 ? prime(most)
                              : kind == 3 ? number(1, most)
                                          : number(1, small));
    if (kind == 5)
      drawn.lengths.push_back(number(1, most));
    return drawn;
  }

private:
  /// One of the largest ones up to `most`, or 1.
  int64_t prime(int64_t most) {
    int64_t found = number(1, most);
    for (int64_t factor = 2; factor * factor <= found; ++factor)
      if (found % factor == 0) {
        --found;
        factor = 1;
      }
    return found;
  }

  std::mt19937_64 bits;
};

/// A line a rank: "0-2: [0,2) [8,9) | [9,12)", where 0-2 is a group.
inline std::string text(const BatchPlan &plan) {
  std::string all;
  for (size_t rank = 0; rank < plan.work.size(); ++rank) {
    for (const BatchPlan::Work &work : plan.work[rank]) {
      all += "|";
      if (work.group.size > 1)
        all += " " + std::to_string(work.group.first) + "-" +
               std::to_string(work.group.first + work.group.size - 1) + ":";
      for (const BatchPlan::Piece &piece : work.pieces)
        all += " [" + std::to_string(piece.begin) + "," +
               std::to_string(piece.end) + ")";
    }
    all += "\n";
  }
  return all;
}

inline std::string text(const Status &status) {
  return status ? status->text : "";
}

} // namespace sprt

#endif // SP_TEST_PLANNER_DRAW_H
