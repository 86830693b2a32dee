/// The documents of a batch as planning sees them.
#ifndef SPRT_LIB_PLANNER_BATCH_H
#define SPRT_LIB_PLANNER_BATCH_H

#include "planner/BatchPlan.h"

namespace sprt {

struct BatchDocument {
  int64_t index;
  int64_t begin; ///< its first position
  int64_t length;
  int64_t cost;
  int64_t degree; ///< ranks that share it
  int64_t share;  ///< the cost of the rank that has most of it
};

/// Every sum of lengths or costs fits in 64 bits.
struct Batch {
  BatchOptions options;
  std::vector<BatchDocument> documents; ///< longest first, ties by index
  int64_t mean = 0; ///< of all ranks, with what they have to do besides
  /// No plan's dearest rank costs less: the mean of all ranks, or the largest
  /// share.
  int64_t bound = 0;

  /// What is wrong with the arguments, if anything is. Each document has one
  /// rank then.
  Status read(const std::vector<int64_t> &lengths, const BatchOptions &given);
  /// Spreads documents only so far that each rank has so many percent of the
  /// mean of all, or no further than they need: then 0.
  void chooseDegrees(int64_t percent);

  /// Whether one rank has room for all of it.
  bool fits(const BatchDocument &document) const {
    return document.length <= options.capacity;
  }
  /// How many micro-batches a rank may have.
  int64_t limit() const {
    return options.maxMicroBatches ? options.maxMicroBatches : INT64_MAX;
  }

private:
  Status checkOptions() const;
  Status readLengths(const std::vector<int64_t> &lengths);
  Status checkRoom(int64_t tokens) const;
  int64_t degreeOf(const BatchDocument &document, int64_t target) const;
};

/// What a rank of a group does of a document: positions of the document, one or
/// two pieces.
std::vector<BatchPlan::Piece> piecesOf(const BatchDocument &document,
                                       int64_t member);

/// The cost of positions of a document under a causal mask.
int64_t costOf(const std::vector<BatchPlan::Piece> &pieces,
               const BatchDocument &document, const BatchOptions &options);

} // namespace sprt

#endif // SPRT_LIB_PLANNER_BATCH_H
