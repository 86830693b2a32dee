/// Which rank works on which documents of a packed batch, and when.
///
/// Documents lie one behind another in the arrays of a batch. A rank goes
/// through micro-batches 0, 1, 2, ..., each of at most `capacity` tokens. A
/// document that fits in one lies whole on one rank; a longer one is dealt,
/// zigzag, to the fewest neighbouring ranks that hold it, its group, all of
/// which meet it in one and the same micro-batch:
///
///     lengths 9 3 2 5 4, 3 ranks, capacity 4: positions by micro-batch
///
///             0                      1                       2
///     rank 0  [0,2) [8,9)  of 0-2    [14,16) [18,19) of 0-1  [12,14)
///     rank 1  [2,4) [7,8)  of 0-2    [16,18)         of 0-1  [9,12)
///     rank 2  [4,7)        of 0-2    [19,23)
///
/// Every rank takes its micro-batches in ascending order and is in one group at
/// a time, so that no two ranks wait for each other (gang scheduling).
///
/// What is balanced is the work of a rank over all of its micro-batches: tokens
/// and causally visible pairs, each at its cost. All of it is integers: every
/// process plans the same.
#ifndef SPRT_LIB_PLANNER_BATCHPLAN_H
#define SPRT_LIB_PLANNER_BATCHPLAN_H

#include "support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sprt {

struct BatchOptions {
  static constexpr int64_t maxRanks = 65536;

  int64_t ranks = 1;
  int64_t capacity = 1; ///< tokens of a rank in a micro-batch
  /// In a common unit. By default a pair's share of a decoder of width h =
  /// 4096: a layer with 12 h^2 weights takes 72 h^2 FLOPs a token to train, and
  /// 12 h a pair.
  int64_t tokenCost = 6 * 4096;
  int64_t pairCost = 1;
  int64_t maxMicroBatches = 0; ///< 0: as many as needed
  /// Whether a document may take more ranks than hold it: as many as bring its
  /// cost on each down to the mean of all ranks, where that saves enough pairs
  /// for its tokens to travel.
  bool spread = false;
  /// What ranks have to do besides, in the same unit: of each, or nothing.
  std::vector<int64_t> loads;
};

struct BatchPlan {
  /// Positions [begin, end) of the batch, all of one document.
  struct Piece {
    int64_t document;
    int64_t begin;
    int64_t end;
  };
  /// The ranks [first, first + size) that share a document; of size 1 where
  /// there are whole documents only.
  struct Span {
    int64_t first;
    int64_t size;
  };
  /// A micro-batch of one rank; may have no pieces.
  struct Work {
    Span group;
    std::vector<Piece> pieces; ///< ascending
  };

  std::vector<std::vector<Work>> work; ///< by rank and micro-batch
  std::vector<int64_t> costs;          ///< of each rank, beside its load

  /// Of the rank that has most.
  int64_t microBatches() const;
  /// SHA-256 of the plan, as 64 hexadecimal digits: equal for equal plans.
  std::string hash() const;
};

/// An error says what does not fit, and what would. Documents are placed with
/// regard to balance first; where only so many micro-batches are allowed, and
/// that leaves one without room, with regard to room first.
Status planBatch(const std::vector<int64_t> &lengths,
                 const BatchOptions &options, BatchPlan &plan);

/// Whether the plan says what it should of these documents, which planBatch
/// takes. Shares no code with that: each position is there once, a micro-batch
/// holds at most the capacity, members of a group agree and have equal chunks,
/// all visible pairs are counted once, costs are what they are.
Status checkBatch(const BatchPlan &plan, const std::vector<int64_t> &lengths,
                  const BatchOptions &options);

} // namespace sprt

#endif // SPRT_LIB_PLANNER_BATCHPLAN_H
