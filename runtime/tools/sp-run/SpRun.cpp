// sp-run: runs a compiled program, checks its results, reports what it did.

#include "Checkpoint.h"
#include "Memory.h"
#include "Steps.h"
#include "Timeline.h"

#include <unistd.h>

namespace {

/// Null, which leaves the choice to the session, for an empty text.
const char *given(const std::string &text) {
  return text.empty() ? nullptr : text.c_str();
}

sprt_session_options sessionOptions(const Options &options) {
  sprt_session_options session;
  sprt_session_options_init(&session);
  session.communicator = given(options.communicator);
  session.executor = given(options.executor);
  session.device = given(options.device);
  session.far_directory = given(options.far);
  session.far_limit_bytes = options.farLimit;
  session.threads_per_rank = options.threads;
  session.timeout_seconds = options.timeout;
  if (!options.trace.empty() || !options.svg.empty())
    session.trace = 1;
  else if (!options.report.empty() || options.explicitRepeat)
    session.trace = 2; // times of commands
  session.inject_rank = options.injectRank;
  session.inject_command = options.injectCommand;
  session.inject_stall = options.injectStall;
  return session;
}

bool runAll(const sprt_program *program, sprt_session *session,
            const Options &options, const std::vector<sprt_array> &inputs,
            std::vector<sprt_array> &results, Timings &timings) {
  for (int run = 0; run < options.warmup + options.repeat; ++run) {
    if (failed(sprt_session_run(
            session, inputs.data(), static_cast<int64_t>(inputs.size()),
            results.data(), static_cast<int64_t>(results.size()))))
      return false;
    if (run >= options.warmup && !timings.add(program, session))
      return false;
  }
  return true;
}

/// `out_abandons`: a GPU may still work for a run that has failed, or other
/// processes wait for one that does not begin: whoever started them ends them.
int run(Options options, bool &out_abandons) {
  sprt_program *loaded = nullptr;
  if (failed(sprt_program_load(options.program.c_str(), &loaded)))
    return kFailed;
  ProgramPtr program(loaded);

  bool takesMemory = options.far.empty() || liesInMemory(options.far);
  if (takesMemory && !options.far.empty())
    std::fprintf(stderr,
                 "sp-run: warning: files in \"%s\" lie in memory, which far "
                 "memory is to spare\n",
                 options.far.c_str());
  if (!checkMemory(loaded, !takesMemory))
    return kFailed;
  bool onGpus = std::string(sprt_program_target(loaded)) == "cuda";
  if (std::string wrong = chooseCommunicator(onGpus, options); !wrong.empty()) {
    printError(wrong);
    return kFailed;
  }
  // The session comes first: of processes it tells which one may write files.
  sprt_session_options settings = sessionOptions(options);
  sprt_session *created = nullptr;
  if (failed(sprt_session_create(loaded, &settings, &created)))
    return kFailed;
  SessionPtr session(created);
  bool speaks = sprt_session_rank(created) == 0;
  out_abandons = options.communicator == "mpi" || onGpus;
  if (options.steps > 0 && !applyFeeds(loaded, created, options))
    return kFailed;

  if (speaks)
    if (std::string wrong =
            checkOutputs({options.saveInputs, options.outputs, options.trace,
                          options.svg, options.report, options.batchReport},
                         {options.program, options.inputs, options.check},
                         {options.load, options.save});
        !wrong.empty()) {
      printError(wrong);
      return kFailed;
    }

  std::vector<StateArray> state;
  if (!stateOf(loaded, created, state))
    return kFailed;
  Checkpoint from;
  if (speaks && !options.save.empty() &&
      !prepareSave(options.save, loaded, state))
    return kFailed;
  if (!options.load.empty() && !loadState(options.load, loaded, state, from))
    return kFailed;
  int64_t before = 0;
  if (!options.save.empty() && !countSteps(options.load, from, before))
    return kFailed;
  Options mine = options;
  if (!speaks)
    mine.saveInputs.clear();
  ArraysPtr inputOwner, resultOwner;
  std::vector<sprt_array> inputs, results;
  if (!prepareInputs(loaded, mine, from.arrays, inputOwner, inputs) ||
      !prepareResults(loaded, resultOwner, results))
    return kFailed;
  Timings timings;
  if (!options.batchReport.empty())
    timings.batches.emplace();
  auto runMany = options.steps > 0 ? runSteps : runAll;
  out_abandons = onGpus;
  if (!runMany(loaded, created, options, inputs, results, timings))
    return kFailed;
  out_abandons = false;
  if (!speaks)
    return kDone;

  bool passed = true;
  Errors errors;
  printSummary(loaded, created, options, timings);
  if (!options.save.empty())
    passed &=
        saveState(options.save, state, results, from, before + options.steps);
  if (!options.outputs.empty())
    passed &=
        !failed(sprt_arrays_write(resultOwner.get(), options.outputs.c_str()));
  if (!options.check.empty())
    passed &= checkResults(loaded, options, results, errors);
  if (!options.trace.empty())
    passed &= !failed(sprt_session_write_trace(created, options.trace.c_str()));
  if (!options.svg.empty())
    passed &= writeTimeline(created, options);
  if (!options.report.empty())
    passed &= writeReport(loaded, created, options, timings, errors);
  if (timings.batches)
    passed &= timings.batches->write(options.batchReport);
  return passed ? kDone : kFailed;
}

/// The same, where memory may not suffice for what is asked.
int runGuarded(const Options &options, bool &out_abandons) {
  try {
    return run(options, out_abandons);
  } catch (const std::exception &error) {
    printError(error.what());
    return kFailed;
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  int exitCode = kDone;
  if (!parseOptions(argc, argv, options, exitCode))
    return exitCode;
  bool abandons = false;
  int status = finishPrinting("sp-run", runGuarded(options, abandons));
  // A driver may wait at an ordinary end for a kernel that has none.
  if (abandons)
    _exit(status);
  return status;
}
