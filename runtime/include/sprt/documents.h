/// Documents that are packed into a sequence: what a session knows of those of
/// its last run.
#ifndef SPRT_DOCUMENTS_H
#define SPRT_DOCUMENTS_H

#include "sprt/batch.h"
#include "sprt/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprt_session sprt_session;

/// Of inputs whose equal elements are positions of one document.
typedef struct sprt_documents {
  size_t size;   ///< sizeof(sprt_documents)
  int64_t count; ///< in all rows; 0 where the program tells none apart
  /// Whether pairs of two documents were left out everywhere. They are not
  /// where results feed the input, or documents come back so often that leaving
  /// them out would cost more than it saves.
  int32_t skipped;
  /// Whether each was given to ranks of its own, as far as that goes: where the
  /// program deals documents, and they are known.
  int32_t dealt;
} sprt_documents;

SPRT_API sprt_status *sprt_session_documents(const sprt_session *session,
                                             sprt_documents *out_documents);

/// Which positions of the last run's documents each rank had, by rank, row of
/// the batch (as a micro-batch) and position; documents are numbered from 0 in
/// each row. None where they were not dealt. Valid until the next run.
SPRT_API sprt_status *sprt_session_pieces(const sprt_session *session,
                                          const sprt_batch_piece **out_pieces,
                                          int64_t *out_count);

/// Fills one prediction for each rank of a run with these documents, counted
/// without running it: the bytes that the last run has sent. Sizes are the
/// caller's to set, of each.
SPRT_API sprt_status *sprt_session_predict(const sprt_session *session,
                                           int64_t ranks,
                                           sprt_prediction *out_predictions);

#ifdef __cplusplus
}
#endif

#endif // SPRT_DOCUMENTS_H
