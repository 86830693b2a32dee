// Plans of batches of documents.

#include "sprt/batch.h"

#include "capi/Handles.h"
#include "planner/BatchPlan.h"

#include <algorithm>

using namespace sprt;

struct sprt_batch {
  BatchPlan plan;
  std::vector<sprt_batch_piece> pieces;
  /// By rank, where its pieces begin; then where all end.
  std::vector<size_t> firstOf;
  std::string hash;
};

namespace {

void listPieces(sprt_batch &batch) {
  for (size_t rank = 0; rank < batch.plan.work.size(); ++rank) {
    batch.firstOf.push_back(batch.pieces.size());
    const std::vector<BatchPlan::Work> &own = batch.plan.work[rank];
    for (size_t i = 0; i < own.size(); ++i)
      for (const BatchPlan::Piece &piece : own[i].pieces)
        batch.pieces.push_back({int64_t(rank), int64_t(i), piece.document,
                                piece.begin, piece.end});
  }
  batch.firstOf.push_back(batch.pieces.size());
}

Status checkRank(const sprt_batch *batch, int64_t rank) {
  if (!batch)
    return nullArgument("batch");
  int64_t ranks = int64_t(batch->plan.work.size());
  if (rank < 0 || rank >= ranks)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a rank of [0, " << ranks << ") but got " << rank;
  return Status::success();
}

Status checkPlace(const sprt_batch *batch, int64_t microBatch, int64_t rank) {
  if (Status failure = checkRank(batch, rank))
    return failure;
  int64_t microBatches = batch->plan.microBatches();
  if (microBatch < 0 || microBatch >= microBatches)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a micro-batch of [0, " << microBatches << ") but got "
           << microBatch;
  return Status::success();
}

} // namespace

void sprt_batch_options_init(sprt_batch_options *options) {
  BatchOptions defaults;
  *options = {sizeof *options, defaults.tokenCost, defaults.pairCost,
              defaults.maxMicroBatches, defaults.spread};
}

sprt_status *sprt_batch_plan(const int64_t *lengths, int64_t count,
                             int64_t ranks, int64_t capacity,
                             const sprt_batch_options *options,
                             sprt_batch **out_batch) {
  return guarded([&]() -> Status {
    if (!lengths && count)
      return nullArgument("lengths");
    if (!out_batch)
      return nullArgument("out_batch");
    if (count < 0)
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected at least 0 documents but got " << count;
    BatchOptions given;
    given.ranks = ranks;
    given.capacity = capacity;
    if (options) {
      if (options->size != sizeof *options)
        return wrongSize("sprt_batch_options", sizeof *options, options->size);
      given.tokenCost = options->token_cost;
      given.pairCost = options->pair_cost;
      given.maxMicroBatches = options->max_micro_batches;
      given.spread = options->spread != 0;
    }
    auto batch = std::make_unique<sprt_batch>();
    if (Status failure =
            planBatch({lengths, lengths + count}, given, batch->plan))
      return failure;
    listPieces(*batch);
    batch->hash = batch->plan.hash();
    *out_batch = batch.release();
    return Status::success();
  });
}

void sprt_batch_free(sprt_batch *batch) { delete batch; }

int64_t sprt_batch_micro_batches(const sprt_batch *batch) {
  return batch->plan.microBatches();
}

sprt_status *sprt_batch_rank_micro_batches(const sprt_batch *batch,
                                           int64_t rank,
                                           int64_t *out_microBatches) {
  return guarded([&]() -> Status {
    if (Status failure = checkRank(batch, rank))
      return failure;
    if (!out_microBatches)
      return nullArgument("out_microBatches");
    *out_microBatches = int64_t(batch->plan.work[size_t(rank)].size());
    return Status::success();
  });
}

const sprt_batch_piece *sprt_batch_all_pieces(const sprt_batch *batch,
                                              int64_t *out_count) {
  *out_count = int64_t(batch->pieces.size());
  return batch->pieces.data();
}

sprt_status *sprt_batch_pieces(const sprt_batch *batch, int64_t microBatch,
                               int64_t rank,
                               const sprt_batch_piece **out_pieces,
                               int64_t *out_count) {
  return guarded([&]() -> Status {
    if (Status failure = checkPlace(batch, microBatch, rank))
      return failure;
    if (!out_pieces || !out_count)
      return nullArgument(out_pieces ? "out_count" : "out_pieces");
    const sprt_batch_piece *all = batch->pieces.data();
    const sprt_batch_piece *first = all + batch->firstOf[size_t(rank)];
    const sprt_batch_piece *last = all + batch->firstOf[size_t(rank) + 1];
    *out_pieces = std::partition_point(first, last, [&](const auto &piece) {
      return piece.micro_batch < microBatch;
    });
    const sprt_batch_piece *end =
        std::partition_point(first, last, [&](const auto &piece) {
          return piece.micro_batch <= microBatch;
        });
    *out_count = end - *out_pieces;
    return Status::success();
  });
}

sprt_status *sprt_batch_group(const sprt_batch *batch, int64_t microBatch,
                              int64_t rank, int64_t *out_first,
                              int64_t *out_size) {
  return guarded([&]() -> Status {
    if (Status failure = checkPlace(batch, microBatch, rank))
      return failure;
    if (!out_first || !out_size)
      return nullArgument(out_first ? "out_size" : "out_first");
    const std::vector<BatchPlan::Work> &own = batch->plan.work[size_t(rank)];
    BatchPlan::Span group = size_t(microBatch) < own.size()
                                ? own[size_t(microBatch)].group
                                : BatchPlan::Span{rank, 1};
    *out_first = group.first;
    *out_size = group.size;
    return Status::success();
  });
}

sprt_status *sprt_batch_costs(const sprt_batch *batch, int64_t ranks,
                              int64_t *out_costs) {
  return guarded([&]() -> Status {
    if (!batch)
      return nullArgument("batch");
    if (!out_costs)
      return nullArgument("out_costs");
    const std::vector<int64_t> &costs = batch->plan.costs;
    if (ranks != int64_t(costs.size()))
      return fail(SPRT_INVALID_ARGUMENT) << "expected room for " << costs.size()
                                         << " costs but got " << ranks;
    std::copy(costs.begin(), costs.end(), out_costs);
    return Status::success();
  });
}

const char *sprt_batch_hash(const sprt_batch *batch) {
  return batch->hash.c_str();
}
