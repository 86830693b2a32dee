/// What ranks have been given so far.
#ifndef SPRT_LIB_PLANNER_ASSIGNMENT_H
#define SPRT_LIB_PLANNER_ASSIGNMENT_H

#include "planner/Batch.h"

namespace sprt {

class Assignment {
public:
  explicit Assignment(const BatchOptions &options);

  const BatchOptions &options() const { return given; }
  /// The cost of a rank, and its load.
  int64_t load(int64_t rank) const { return plan.costs[size_t(rank)]; }
  int64_t tokens(int64_t rank) const { return held[size_t(rank)]; }
  /// How many micro-batches a rank has.
  int64_t count(int64_t rank) const {
    return int64_t(plan.work[size_t(rank)].size());
  }
  /// Tokens for which a micro-batch of a rank has room.
  int64_t room(int64_t rank, int64_t microBatch) const {
    const std::vector<int64_t> &own = rooms[size_t(rank)];
    return size_t(microBatch) < own.size() ? own[size_t(microBatch)]
                                           : given.capacity;
  }

  /// Pieces of a document to a rank that has room for them.
  void give(const BatchDocument &document,
            const std::vector<BatchPlan::Piece> &pieces, int64_t rank,
            int64_t microBatch);
  /// All of a document to one rank, which has room for it.
  void giveWhole(const BatchDocument &document, int64_t rank,
                 int64_t microBatch);
  /// A document to its group, which begins with rank `first` and has no other
  /// one in this micro-batch.
  void giveShared(const BatchDocument &document, int64_t first,
                  int64_t microBatch);

  /// What has come of it, pieces in order.
  BatchPlan take();

private:
  /// Gives the rank micro-batches up to this one.
  BatchPlan::Work &open(int64_t rank, int64_t microBatch);

  BatchOptions given;
  BatchPlan plan;
  std::vector<std::vector<int64_t>> rooms; ///< by rank and micro-batch
  std::vector<int64_t> held;
};

} // namespace sprt

#endif // SPRT_LIB_PLANNER_ASSIGNMENT_H
