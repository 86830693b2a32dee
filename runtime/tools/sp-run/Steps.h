/// What --steps runs: a training, whose results feed its inputs.
#ifndef SP_RUN_STEPS_H
#define SP_RUN_STEPS_H

#include "Report.h"

/// Says which results feed which inputs besides those that are donated. False
/// after a diagnostic.
bool applyFeeds(const sprt_program *program, sprt_session *session,
                const Options &options);

/// Runs every step. An input of one axis more than the program's has a batch
/// for each. `results` are those of the last step; the value that a step is
/// about, the first scalar that feeds nothing, is printed where this process
/// speaks.
bool runSteps(const sprt_program *program, sprt_session *session,
              const Options &options, const std::vector<sprt_array> &inputs,
              std::vector<sprt_array> &results, Timings &timings);

#endif // SP_RUN_STEPS_H
