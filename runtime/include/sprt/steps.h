/// Steps of a training: one program that a session runs again and again.
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

#ifdef __cplusplus
}
#endif

#endif // SPRT_STEPS_H
