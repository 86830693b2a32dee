/// Groups of ranks for documents that do not fit on one.
#ifndef SPRT_LIB_PLANNER_GANGSCHEDULE_H
#define SPRT_LIB_PLANNER_GANGSCHEDULE_H

#include "planner/Assignment.h"

namespace sprt {

/// Gives documents, longest first, to neighbouring ranks that are in no other
/// group of a micro-batch: in the earliest micro-batch where some are free
/// whose load stays below the target, the least loaded of these; where none
/// has them, in the earliest where any are free.
class GangSchedule {
public:
  GangSchedule(Assignment &assignment, int64_t microBatches, int64_t target)
      : assignment(assignment), limit(microBatches), target(target) {}

  /// False if no micro-batch has room.
  bool place(const BatchDocument &document);

private:
  /// Neighbouring ranks, as many as the degree.
  struct Window {
    int64_t load; ///< of the rank that has most
    int64_t first;

    bool operator<(const Window &other) const {
      // Of a heap whose top is the least one.
      return load != other.load ? load > other.load : first > other.first;
    }
  };
  /// Which ranks are in a group of a micro-batch.
  struct Shelf {
    std::vector<char> isTaken; ///< by rank
    int64_t longest = 0;       ///< no more neighbours are free
    int64_t degree = 0;        ///< that the windows have
    /// A heap. Loads may have grown and ranks been taken since.
    std::vector<Window> windows;
  };

  Shelf &shelf(int64_t microBatch);
  void findWindows(Shelf &shelf) const;
  int64_t loadOf(int64_t first) const;
  /// The least loaded free ranks of a micro-batch, or null.
  const Window *least(int64_t microBatch);
  void take(const BatchDocument &document, int64_t microBatch, int64_t first);

  Assignment &assignment;
  int64_t limit;
  int64_t target;
  std::vector<Shelf> shelves;
  /// Micro-batches with a group.
  int64_t used = 0;
  /// Of the last document. Longer ones came before, so that those of a shelf
  /// are as long at least.
  int64_t degree = 0;
  /// The first micro-batches where ranks below the target, or any, may be free
  /// for such a degree.
  int64_t below = 0;
  int64_t any = 0;
};

} // namespace sprt

#endif // SPRT_LIB_PLANNER_GANGSCHEDULE_H
