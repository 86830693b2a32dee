/// Batches of packed documents: which rank works on which of them, and when.
///
/// The documents of a batch lie one behind another in its arrays. A rank goes
/// through its micro-batches in ascending order, each of at most `capacity`
/// tokens. A document that fits in one lies whole on one rank. A longer one is
/// dealt zigzag to the fewest neighbouring ranks that hold it, its group, all
/// in one micro-batch; a rank is in at most one group at a time.
///
/// A batch is immutable: any thread may ask it anything until it is freed.
/// Equal arguments make equal batches, in every process.
#ifndef SPRT_BATCH_H
#define SPRT_BATCH_H

#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprt_batch sprt_batch;

typedef struct sprt_batch_options {
  size_t size; ///< sizeof(sprt_batch_options)
  /// What a token and a causally visible pair cost, in a common unit. By
  /// default 24576 and 1: the FLOPs that a decoder of width 4096 takes to
  /// train, of which a pair takes 12 times the width and a token 72 times its
  /// square.
  int64_t token_cost;
  int64_t pair_cost;
  int64_t max_micro_batches; ///< 0 (default): as many as needed
  /// Whether a document may take more ranks than hold it: as many as bring its
  /// cost on each down to the mean of all ranks, where that saves 256 pairs a
  /// token. Not by default.
  int32_t spread;
} sprt_batch_options;

/// Positions [begin, end) of the batch, all of one document, that a rank works
/// on in a micro-batch.
typedef struct sprt_batch_piece {
  int64_t rank;
  int64_t micro_batch;
  int64_t document;
  int64_t begin;
  int64_t end;
} sprt_batch_piece;

/// Sets the size and the defaults.
SPRT_API void sprt_batch_options_init(sprt_batch_options *options);

/// Plans `count` documents of so many tokens each; NULL stands for default
/// options. The caller frees the batch.
SPRT_API sprt_status *sprt_batch_plan(const int64_t *lengths, int64_t count,
                                      int64_t ranks, int64_t capacity,
                                      const sprt_batch_options *options,
                                      sprt_batch **out_batch);
SPRT_API void sprt_batch_free(sprt_batch *batch);

/// Micro-batches of the rank that has most, or of one rank.
SPRT_API int64_t sprt_batch_micro_batches(const sprt_batch *batch);
SPRT_API sprt_status *sprt_batch_rank_micro_batches(const sprt_batch *batch,
                                                    int64_t rank,
                                                    int64_t *out_microBatches);

/// All pieces, by rank, micro-batch and position.
SPRT_API const sprt_batch_piece *sprt_batch_all_pieces(const sprt_batch *batch,
                                                       int64_t *out_count);
/// Those of a rank in a micro-batch, ascending; none behind its last one.
SPRT_API sprt_status *sprt_batch_pieces(const sprt_batch *batch,
                                        int64_t microBatch, int64_t rank,
                                        const sprt_batch_piece **out_pieces,
                                        int64_t *out_count);

/// The first rank of the group that a rank is in, and how many there are: the
/// rank by itself where it has whole documents only.
SPRT_API sprt_status *sprt_batch_group(const sprt_batch *batch,
                                       int64_t microBatch, int64_t rank,
                                       int64_t *out_first, int64_t *out_size);

/// What each rank's tokens and pairs cost, in all its micro-batches.
SPRT_API sprt_status *sprt_batch_costs(const sprt_batch *batch, int64_t ranks,
                                       int64_t *out_costs);

/// SHA-256 of the plan, 64 hexadecimal digits: the same wherever the plan is.
SPRT_API const char *sprt_batch_hash(const sprt_batch *batch);

#ifdef __cplusplus
}
#endif

#endif // SPRT_BATCH_H
