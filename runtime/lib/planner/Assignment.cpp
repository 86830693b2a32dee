#include "planner/Assignment.h"

#include <algorithm>

namespace sprt {

Assignment::Assignment(const BatchOptions &options) : given(options) {
  size_t ranks = size_t(options.ranks);
  plan.work.resize(ranks);
  plan.costs = options.loads;
  plan.costs.resize(ranks);
  rooms.resize(ranks);
  held.resize(ranks);
}

BatchPlan::Work &Assignment::open(int64_t rank, int64_t microBatch) {
  std::vector<BatchPlan::Work> &own = plan.work[size_t(rank)];
  while (int64_t(own.size()) <= microBatch) {
    own.push_back({{rank, 1}, {}});
    rooms[size_t(rank)].push_back(given.capacity);
  }
  return own[size_t(microBatch)];
}

void Assignment::give(const BatchDocument &document,
                      const std::vector<BatchPlan::Piece> &pieces, int64_t rank,
                      int64_t microBatch) {
  BatchPlan::Work &work = open(rank, microBatch);
  for (const BatchPlan::Piece &piece : pieces) {
    rooms[size_t(rank)][size_t(microBatch)] -= piece.end - piece.begin;
    held[size_t(rank)] += piece.end - piece.begin;
  }
  plan.costs[size_t(rank)] += costOf(pieces, document, given);
  work.pieces.insert(work.pieces.end(), pieces.begin(), pieces.end());
}

void Assignment::giveWhole(const BatchDocument &document, int64_t rank,
                           int64_t microBatch) {
  give(document,
       {{document.index, document.begin, document.begin + document.length}},
       rank, microBatch);
}

void Assignment::giveShared(const BatchDocument &document, int64_t first,
                            int64_t microBatch) {
  for (int64_t member = 0; member < document.degree; ++member) {
    int64_t rank = first + member;
    give(document, piecesOf(document, member), rank, microBatch);
    open(rank, microBatch).group = {first, document.degree};
  }
}

BatchPlan Assignment::take() {
  for (std::vector<BatchPlan::Work> &own : plan.work)
    for (BatchPlan::Work &work : own)
      std::sort(work.pieces.begin(), work.pieces.end(),
                [](const BatchPlan::Piece &a, const BatchPlan::Piece &b) {
                  return a.begin < b.begin;
                });
  for (size_t rank = 0; rank < given.loads.size(); ++rank)
    plan.costs[rank] -= given.loads[rank];
  return std::move(plan);
}

} // namespace sprt
