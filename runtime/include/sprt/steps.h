/// Steps of a training: one program that a session runs again and again; and
/// runs that their caller need not wait for.
///
/// Results of a step are inputs of the next one, and stay on their ranks
/// meanwhile. The result that is an input of the next step *feeds* it.
///
///     step 1    inputs x, w             results loss, w'
///     step 2    inputs x, w = w'        results loss, w'
#ifndef SPRT_STEPS_H
#define SPRT_STEPS_H

#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sprt_session sprt_session;

/// From now on a result feeds an input, for which both have one type and shape
/// and are dealt to ranks alike. Donated inputs are fed so from the beginning;
/// this takes the place of what fed the input before.
SPRT_API sprt_status *sprt_session_feed(sprt_session *session, int64_t result,
                                        int64_t input);
/// The result that feeds an input, or -1; of no such input too.
SPRT_API int64_t sprt_session_fed_by(const sprt_session *session,
                                     int64_t input);
/// What a checkpoint calls what feeds each input: its path without quotes,
/// `weights.0.qkv` for `state['weights'][0]['qkv']`; no two alike. NULL where
/// nothing feeds the input. The session keeps the names until it is asked
/// again.
SPRT_API sprt_status *sprt_session_state_names(sprt_session *session,
                                               const char **out_names,
                                               int64_t inputCount);

/// Runs the next step, as `sprt_session_run` would, but an input whose `data`
/// is NULL is the result that feeds it, of the last run or step, else what it
/// was; the first one needs all. A result whose `data` is NULL stays on its
/// ranks. Where ranks are processes, all of them leave out the same arrays, and
/// rank 0 alone receives.
SPRT_API sprt_status *sprt_session_step(sprt_session *session,
                                        const sprt_array *inputs,
                                        int64_t inputCount, sprt_array *results,
                                        int64_t resultCount);

/// Brings results of the last run or step, but those whose `data` is NULL. A
/// matter of all processes, as a step is.
SPRT_API sprt_status *sprt_session_collect(sprt_session *session,
                                           sprt_array *results,
                                           int64_t resultCount);

/// Ends the run, step or collection that is under way, if any: the call that
/// waits for it returns SPRT_INTERRUPTED as soon as every rank has left its
/// kernel, which ranks on CPUs do within a fraction of a second, or success
/// where it was done before. The session may not run again.
SPRT_API void sprt_session_interrupt(sprt_session *session);

/// Begins what sprt_session_step does, and returns; a first step
/// that is given all inputs is a run. The memory of inputs and results, not the
/// structs, belongs to the run until sprt_session_wait has said that it is
/// done.
SPRT_API sprt_status *sprt_session_start(sprt_session *session,
                                         const sprt_array *inputs,
                                         int64_t inputCount,
                                         sprt_array *results,
                                         int64_t resultCount);
/// Sleeps until the run that sprt_session_start began is done, but no longer
/// than `seconds` unless these are negative. `out_done`: 0 while it goes on;
/// else it has ended, if there was one, and the status is its own.
SPRT_API sprt_status *sprt_session_wait(sprt_session *session, double seconds,
                                        int32_t *out_done);

/// Runs and steps that are done; -1 once something has failed or was
/// interrupted, after which the session may not run again.
SPRT_API int64_t sprt_session_runs(const sprt_session *session);

#ifdef __cplusplus
}
#endif

#endif // SPRT_STEPS_H
