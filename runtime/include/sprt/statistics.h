/// What a session measured in its last run.
#ifndef SPRT_STATISTICS_H
#define SPRT_STATISTICS_H

#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprt_session sprt_session;

/// Of the last run; "bytes sent" are those to other ranks, "peak" is the
/// touched part of the rank's arena and of one thread's scratch memory.
typedef struct sprt_rank_statistics {
  size_t size;
  int64_t bytes_sent;
  int64_t peak_bytes;
  double seconds;
  int64_t far_peak_bytes;    ///< the touched part of far memory
  int64_t far_read_bytes;    ///< copied from there
  int64_t far_written_bytes; ///< copied to there
  /// Processor time of the rank's threads, whoever else has the processors; 0
  /// on a GPU.
  double busy_seconds;
} sprt_rank_statistics;

SPRT_API sprt_status *
sprt_session_rank_statistics(const sprt_session *session, int64_t rank,
                             sprt_rank_statistics *out_statistics);

/// One command of the last run, over the ranks here; of a GPU with `trace`.
typedef struct sprt_command_statistics {
  size_t size;
  const char *name;
  const char *kind;    ///< "launch", "attend", "gemm", …
  const char *stream;  ///< "compute", "comm", "back", "in" or "out"
  int64_t runs;        ///< of the rank that ran it most often
  double seconds;      ///< working, of the slowest rank, summed over its runs
  double wait_seconds; ///< waiting for events before it, of the same rank
} sprt_command_statistics;

SPRT_API sprt_status *
sprt_session_command_statistics(const sprt_session *session, int64_t command,
                                sprt_command_statistics *out_statistics);

/// Wall-clock seconds of the last run, from the last rank's start to the last
/// end.
SPRT_API double sprt_session_seconds(const sprt_session *session);

/// Writes the last run's events in Chrome's trace format.
SPRT_API sprt_status *sprt_session_write_trace(const sprt_session *session,
                                               const char *path);
/// The same as text. The caller frees it with sprt_buffer_free.
SPRT_API sprt_status *sprt_session_trace_text(const sprt_session *session,
                                              char **out_text);

#ifdef __cplusplus
}
#endif

#endif // SPRT_STATISTICS_H
