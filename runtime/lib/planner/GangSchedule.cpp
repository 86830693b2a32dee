#include "planner/GangSchedule.h"

#include <algorithm>

namespace sprt {

GangSchedule::Shelf &GangSchedule::shelf(int64_t microBatch) {
  while (int64_t(shelves.size()) <= microBatch) {
    int64_t ranks = assignment.options().ranks;
    shelves.emplace_back();
    shelves.back().isTaken.resize(size_t(ranks));
    shelves.back().longest = ranks;
  }
  return shelves[size_t(microBatch)];
}

int64_t GangSchedule::loadOf(int64_t first) const {
  int64_t load = 0;
  for (int64_t rank = first; rank < first + degree; ++rank)
    load = std::max(load, assignment.load(rank));
  return load;
}

void GangSchedule::findWindows(Shelf &shelf) const {
  shelf.degree = degree;
  shelf.windows.clear();
  int64_t ranks = assignment.options().ranks, run = 0, longest = 0;
  // Ranks of the window that ends here whose load no later one of it exceeds:
  // the first has the largest.
  std::vector<int64_t> peaks(static_cast<size_t>(ranks));
  size_t head = 0, tail = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (shelf.isTaken[size_t(rank)]) {
      run = 0;
      head = tail = 0;
      continue;
    }
    longest = std::max(longest, ++run);
    while (tail > head &&
           assignment.load(peaks[tail - 1]) <= assignment.load(rank))
      --tail;
    peaks[tail++] = rank;
    if (run < degree)
      continue;
    if (peaks[head] <= rank - degree)
      ++head;
    shelf.windows.push_back({assignment.load(peaks[head]), rank - degree + 1});
  }
  shelf.longest = longest;
  std::make_heap(shelf.windows.begin(), shelf.windows.end());
}

const GangSchedule::Window *GangSchedule::least(int64_t microBatch) {
  Shelf &own = shelf(microBatch);
  if (own.longest < degree)
    return nullptr;
  if (own.degree != degree)
    findWindows(own);
  std::vector<Window> &windows = own.windows;
  while (!windows.empty()) {
    Window top = windows.front();
    // What is taken is no shorter than the window: it covers one of its ends.
    bool isFree = !own.isTaken[size_t(top.first)] &&
                  !own.isTaken[size_t(top.first + degree - 1)];
    int64_t load = isFree ? loadOf(top.first) : 0;
    if (isFree && load == top.load)
      return &windows.front();
    std::pop_heap(windows.begin(), windows.end());
    windows.pop_back();
    if (isFree) {
      windows.push_back({load, top.first});
      std::push_heap(windows.begin(), windows.end());
    }
  }
  own.longest = degree - 1;
  return nullptr;
}

void GangSchedule::take(const BatchDocument &document, int64_t microBatch,
                        int64_t first) {
  Shelf &own = shelf(microBatch);
  std::fill_n(own.isTaken.begin() + first, degree, char(true));
  assignment.giveShared(document, first, microBatch);
  used = std::max(used, microBatch + 1);
}

bool GangSchedule::place(const BatchDocument &document) {
  if (degree != document.degree) {
    degree = document.degree;
    below = any = 0;
  }
  // Of those behind the last one used, all are alike.
  int64_t end = std::min(used + 1, limit);
  for (below = std::min(below, end - 1); below < end; ++below)
    if (const Window *window = least(below))
      if (window->load <= target - document.share) {
        take(document, below, window->first);
        return true;
      }
  for (; any < end; ++any)
    if (const Window *window = least(any)) {
      take(document, any, window->first);
      return true;
    }
  return false;
}

} // namespace sprt
