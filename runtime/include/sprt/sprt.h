/// The C ABI of the runtime: load a program, run it on ranks, read what it did.
///
/// Handles are opaque. Pointers returned by queries belong to the handle.
/// Structs begin with their size: set it to sizeof before the call.
///
/// Which thread may call what:
///
///   - A program is immutable once loaded. Any thread may call anything of it
///     at any time but sprt_program_free, before which its sessions are freed.
///   - A session does one thing at a time, on whichever thread. A call while
///     another one or a run is under way changes nothing and returns SPRT_BUSY;
///     threads that want to run at once have a session each, of one program.
///     Any thread may call sprt_session_interrupt, sprt_session_rank,
///     sprt_session_communicator, sprt_session_seconds, sprt_session_runs and
///     sprt_session_fed_by at any time. sprt_session_free ends what is under
///     way, and waits for it; no call may begin once it has.
///   - A status and a set of arrays are used by one thread at a time.
///   - No call may be made by a signal handler.
#ifndef SPRT_SPRT_H
#define SPRT_SPRT_H

#include "sprt/arrays.h"
#include "sprt/files.h"
#include "sprt/kernel.h"
#include "sprt/plan.h"
#include "sprt/statistics.h"
#include "sprt/steps.h"
#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Version of the library ("0.1.0") and of its ABI.
SPRT_API const char *sprt_version(void);
SPRT_API uint32_t sprt_abi_version(void);

//===- Programs -----------------------------------------------------------===//

typedef struct sprt_program sprt_program;

/// Loads model.spx: trailer, content hash, ABI version, plan and CPU features
/// are checked before anything of it can run.
SPRT_API sprt_status *sprt_program_load(const char *path,
                                        sprt_program **out_program);

/// Finds a kernel by symbol, or returns NULL. Of a program for GPUs it is asked
/// for images (data), and for kernels that the program can be emulated with
/// (sprt/cuda/Emulated.h), as such pointers too.
typedef sprt_kernel (*sprt_kernel_lookup)(const char *symbol, void *context);

/// A program from a plan in memory. The plan is copied; `constants` (64-byte
/// aligned, at least as long as the plan says, NULL when it has none) must
/// outlive the program. `lookup` is called before this returns. Only an
/// artifact says what its kernels touch: here the caller answers for what the
/// plan hands to them.
SPRT_API sprt_status *sprt_program_create(const void *plan, size_t planBytes,
                                          const void *constants,
                                          sprt_kernel_lookup lookup,
                                          void *context,
                                          sprt_program **out_program);
SPRT_API void sprt_program_free(sprt_program *program);

SPRT_API int64_t sprt_program_ranks(const sprt_program *program);
/// The mesh as "dp=2,sp=4".
SPRT_API const char *sprt_program_mesh(const sprt_program *program);
/// "cpu" or "cuda": the executor that runs it.
SPRT_API const char *sprt_program_target(const sprt_program *program);
SPRT_API int64_t sprt_program_command_count(const sprt_program *program);
/// What a rank's peak memory is promised not to exceed, with constants.
SPRT_API int64_t sprt_program_peak_bytes(const sprt_program *program);
/// What its far memory is promised not to exceed; 0: it needs none.
SPRT_API int64_t sprt_program_far_bytes(const sprt_program *program);

/// An input or result as the user sees it: global.
typedef struct sprt_parameter {
  size_t size;
  const char *name;
  sprt_dtype dtype;
  int32_t dimensions;
  const int64_t *shape;
  int64_t donated_to; ///< result that an input is given for, or -1
} sprt_parameter;

SPRT_API int64_t sprt_program_input_count(const sprt_program *program);
SPRT_API int64_t sprt_program_result_count(const sprt_program *program);
SPRT_API sprt_status *sprt_program_input(const sprt_program *program,
                                         int64_t index,
                                         sprt_parameter *out_parameter);
SPRT_API sprt_status *sprt_program_result(const sprt_program *program,
                                          int64_t index,
                                          sprt_parameter *out_parameter);
/// The rank that computes one element (row-major number) of a result.
SPRT_API sprt_status *sprt_program_result_rank(const sprt_program *program,
                                               int64_t result, int64_t element,
                                               int64_t *out_rank);

/// The plan as text, for people. The caller frees it with sprt_buffer_free.
SPRT_API sprt_status *sprt_program_text(const sprt_program *program,
                                        char **out_text);

//===- Sessions -----------------------------------------------------------===//

typedef struct sprt_session sprt_session;

typedef struct sprt_session_options {
  size_t size;
  /// NULL: "local" for executor "cuda", which takes "nccl" too; "thread" for
  /// "cpu", which takes "mpi" too.
  const char *communicator;
  const char *executor;     ///< "cpu" or "cuda"; NULL: what the program is for
  int32_t threads_per_rank; ///< 0: the cores divided by this machine's ranks
  /// How long a rank waits for another, and how long a loop or a kernel of it
  /// may take, at most 10^6 s; 0: it waits 300 s and computes for ever.
  double timeout_seconds;
  int32_t trace;       ///< 1: events for sprt_session_write_trace; 2: times
  int64_t inject_rank; ///< -1: none; else this rank fails at inject_command
  int64_t inject_command;
  int32_t inject_stall; ///< 1: it stalls there instead of failing
  /// Of executor "cuda": the number of a GPU, or "emulated", which orders its
  /// work by SPRT_EMULATION_SEED of the environment, and is a GPU of
  /// SPRT_EMULATION_ARCHITECTURE (sm_80). NULL: "0", with "nccl" the number of
  /// this process on its machine.
  const char *device;
  /// Of executor "cpu", where the program keeps something in far memory: the
  /// directory of a file for each rank, gone with the session. NULL: memory.
  const char *far_directory;
  int64_t far_limit_bytes; ///< most of it a rank may need; 0: any
} sprt_session_options;

/// Fills in defaults, size included.
SPRT_API void sprt_session_options_init(sprt_session_options *out_options);

/// Ranks of communicators "thread" and "local" are threads of this process.
/// With "mpi" and "nccl" this process is one rank, and every process creates
/// and runs its session alike. "nccl" finds the others through MPI under
/// mpirun, else through RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT of the
/// environment; it connects to the port after MASTER_PORT, or to SPRT_PORT,
/// which process 0 opens on the interface of MASTER_ADDR. Processes prove to
/// each other that they know SPRT_SECRET of the environment, a text of the
/// run's own; connections that do not are dropped.
SPRT_API sprt_status *sprt_session_create(const sprt_program *program,
                                          const sprt_session_options *options,
                                          sprt_session **out_session);
/// Ends a run that is under way. After a failed run under MPI this ends every
/// process of the world, once the others had time to report.
SPRT_API void sprt_session_free(sprt_session *session);

/// The rank that this process speaks for: 0, or the one that it is. Results,
/// statistics of all ranks and the trace arrive at rank 0.
SPRT_API int64_t sprt_session_rank(const sprt_session *session);

/// The communicator that connects the ranks: "thread", "mpi", "local" or
/// "nccl".
SPRT_API const char *sprt_session_communicator(const sprt_session *session);

/// Runs once on global arrays, in the program's order; returns when every local
/// rank is done and results are in place. A result whose `data` is NULL is
/// allocated by the library (sprt_buffer_free); its dtype and shape are filled
/// in. Inputs are only read. A failed session may not run again.
SPRT_API sprt_status *sprt_session_run(sprt_session *session,
                                       const sprt_array *inputs,
                                       int64_t inputCount, sprt_array *results,
                                       int64_t resultCount);

#ifdef __cplusplus
}
#endif

#endif // SPRT_SPRT_H
