#include "planner/OneGroup.h"

#include "planner/Assignment.h"

#include <algorithm>
#include <optional>

namespace sprt {

namespace {

/// The micro-batch that there is.
constexpr int64_t kOnly = 0;

class OneGroup {
public:
  explicit OneGroup(const Batch &batch)
      : batch(batch), assignment(batch.options), ranks(batch.options.ranks) {}

  void place(BatchDocument document) {
    if (document.degree == 1 && placeWhole(document))
      return;
    // Wider groups need less room on each.
    for (int64_t degree = std::max<int64_t>(document.degree, 2);
         degree <= std::min(ranks, document.length / 2); degree *= 2) {
      document.degree = degree;
      if (placeShared(document))
        return;
    }
    cut(document);
  }

  BatchPlan take() {
    BatchPlan plan = assignment.take();
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<BatchPlan::Work> &own = plan.work[size_t(rank)];
      own.resize(1);
      own.front().group = {0, ranks};
    }
    return plan;
  }

private:
  int64_t roomOf(int64_t rank) const { return assignment.room(rank, kOnly); }

  bool placeWhole(const BatchDocument &document) {
    std::optional<int64_t> least;
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (roomOf(rank) >= document.length &&
          (!least || assignment.load(rank) < assignment.load(*least)))
        least = rank;
    if (least)
      assignment.giveWhole(document, *least, kOnly);
    return least.has_value();
  }

  /// To the neighbours with room that have least to do together.
  bool placeShared(const BatchDocument &document) {
    int64_t needed = 0;
    for (int64_t member = 0; member < document.degree; ++member) {
      int64_t tokens = 0;
      for (const BatchPlan::Piece &piece : piecesOf(document, member))
        tokens += piece.end - piece.begin;
      needed = std::max(needed, tokens);
    }
    int64_t run = 0, load = 0, least = 0;
    std::optional<int64_t> first;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      load += assignment.load(rank);
      if (rank >= document.degree)
        load -= assignment.load(rank - document.degree);
      run = roomOf(rank) >= needed ? run + 1 : 0;
      if (run >= document.degree && (!first || load < least)) {
        first = rank - document.degree + 1;
        least = load;
      }
    }
    if (first)
      assignment.giveShared(document, *first, kOnly);
    return first.has_value();
  }

  void cut(const BatchDocument &document) {
    int64_t next = document.begin, end = next + document.length;
    for (int64_t rank = 0; rank < ranks && next < end; ++rank)
      if (int64_t tokens = std::min(roomOf(rank), end - next); tokens > 0) {
        assignment.give(document, {{document.index, next, next + tokens}}, rank,
                        kOnly);
        next += tokens;
      }
  }

  const Batch &batch;
  Assignment assignment;
  int64_t ranks;
};

} // namespace

Status planOneGroup(const std::vector<int64_t> &lengths,
                    const BatchOptions &options, BatchPlan &plan) {
  Batch batch;
  if (Status failure = batch.read(lengths, options))
    return failure;
  batch.chooseDegrees(100);
  OneGroup group(batch);
  for (const BatchDocument &document : batch.documents)
    group.place(document);
  plan = group.take();
  return Status::success();
}

} // namespace sprt
