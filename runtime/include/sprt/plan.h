/// Plans without an artifact: what they say, and what a run of one does.
#ifndef SPRT_PLAN_H
#define SPRT_PLAN_H

#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A plan as text, for people. The caller frees it with sprt_buffer_free.
SPRT_API sprt_status *sprt_plan_text(const void *plan, size_t planBytes,
                                     char **out_text);

/// What one rank does in one run of a plan, counted without running it.
typedef struct sprt_prediction {
  size_t size;               ///< sizeof(sprt_prediction)
  int64_t bytes_sent;        ///< to other ranks
  int64_t flops;             ///< of matrix products and attention, or INT64_MAX
  int64_t touched_bytes;     ///< of the arena, in whole pages
  int32_t exact;             ///< whether no decision of data changes bytes_sent
  int64_t far_touched_bytes; ///< of far memory, in whole pages
  int64_t far_read_bytes;    ///< copied from there
  int64_t far_written_bytes; ///< copied to there
  /// What sprt_rank_statistics::peak_bytes is not to exceed: what is touched of
  /// the arena (all of it on a GPU), scratch memory and constants.
  int64_t peak_bytes;
} sprt_prediction;

/// Fills one prediction for each of the plan's `ranks`. `signatures` are those
/// of the artifact's kernels (see artifact.h), or null. Sizes are the caller's
/// to set, of each.
SPRT_API sprt_status *sprt_plan_predict(const void *plan, size_t planBytes,
                                        const void *signatures,
                                        size_t signatureBytes, int64_t ranks,
                                        sprt_prediction *out_predictions);

#ifdef __cplusplus
}
#endif

#endif // SPRT_PLAN_H
