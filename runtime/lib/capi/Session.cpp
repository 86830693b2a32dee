#include "capi/SessionCall.h"
#include "executor/Trace.h"
#include "program/StateNames.h"
#include "support/OutputFile.h"

using namespace sprt;

namespace {

/// The argument that may not be NULL but is, or NULL.
const char *findMissing(const sprt_array *inputs, int64_t inputCount,
                        const sprt_array *results, int64_t resultCount) {
  if (inputCount > 0 && !inputs)
    return "inputs";
  return resultCount > 0 && !results ? "results" : nullptr;
}

/// The same of a call that begins a run.
template <typename Body>
sprt_status *beginning(const sprt_session *session, const sprt_array *inputs,
                       int64_t inputCount, const sprt_array *results,
                       int64_t resultCount, const Body &body) {
  return alone(
      session,
      [&](Session::Claim &claim) -> Status {
        if (const char *missing =
                findMissing(inputs, inputCount, results, resultCount))
          return nullArgument(missing);
        return body(claim);
      },
      Session::beginning);
}

} // namespace

void sprt_session_options_init(sprt_session_options *out_options) {
  *out_options = {};
  out_options->size = sizeof *out_options;
  out_options->inject_rank = -1;
}

sprt_status *sprt_session_create(const sprt_program *program,
                                 const sprt_session_options *options,
                                 sprt_session **out_session) {
  return guarded([&]() -> Status {
    if (!program || !out_session)
      return nullArgument(program ? "out_session" : "program");
    sprt_session_options defaults;
    sprt_session_options_init(&defaults);
    if (!options)
      options = &defaults;
    if (options->size != sizeof *options)
      return wrongSize("sprt_session_options", sizeof *options, options->size);
    auto session = std::make_unique<sprt_session>(*program);
    if (Status failure = session->open(*options))
      return failure;
    *out_session = session.release();
    return Status::success();
  });
}

void sprt_session_free(sprt_session *session) { delete session; }

int64_t sprt_session_rank(const sprt_session *session) {
  return session->speaker;
}

const char *sprt_session_communicator(const sprt_session *session) {
  return session->communicator.c_str();
}

sprt_status *sprt_session_run(sprt_session *session, const sprt_array *inputs,
                              int64_t inputCount, sprt_array *results,
                              int64_t resultCount) {
  return beginning(
      session, inputs, inputCount, results, resultCount, [&](auto &) -> Status {
        return session->run(inputs, inputCount, results, resultCount);
      });
}

sprt_status *sprt_session_feed(sprt_session *session, int64_t result,
                               int64_t input) {
  return alone(session, [&](auto &) -> Status {
    return session->feeds.add(result, input);
  });
}

int64_t sprt_session_fed_by(const sprt_session *session, int64_t input) {
  return session->feeds.resultOf(input);
}

sprt_status *sprt_session_state_names(sprt_session *session,
                                      const char **out_names,
                                      int64_t inputCount) {
  return alone(session, [&](auto &) -> Status {
    const auto &all = session->program.inputs;
    if (inputCount != static_cast<int64_t>(all.size()))
      return fail(SPRT_INVALID_ARGUMENT) << "expected places for " << all.size()
                                         << " names but got " << inputCount;
    if (!out_names && inputCount > 0)
      return nullArgument("out_names");
    std::vector<StateInput> fed;
    for (int64_t i = 0; i < inputCount; ++i)
      if (session->feeds.resultOf(i) >= 0)
        fed.push_back({i, all[static_cast<size_t>(i)].parameter->name});
    session->stateNames = nameState(fed);
    std::fill_n(out_names, inputCount, nullptr);
    for (size_t i = 0; i < fed.size(); ++i)
      out_names[fed[i].number] = session->stateNames[i].c_str();
    return Status::success();
  });
}

sprt_status *sprt_session_step(sprt_session *session, const sprt_array *inputs,
                               int64_t inputCount, sprt_array *results,
                               int64_t resultCount) {
  return beginning(
      session, inputs, inputCount, results, resultCount, [&](auto &) -> Status {
        return session->step(inputs, inputCount, results, resultCount);
      });
}

sprt_status *sprt_session_start(sprt_session *session, const sprt_array *inputs,
                                int64_t inputCount, sprt_array *results,
                                int64_t resultCount) {
  return beginning(session, inputs, inputCount, results, resultCount,
                   [&](Session::Claim &claim) -> Status {
                     if (Status failure = session->start(inputs, inputCount,
                                                         results, resultCount))
                       return failure;
                     claim.keepRunning();
                     return Status::success();
                   });
}

sprt_status *sprt_session_wait(sprt_session *session, double seconds,
                               int32_t *out_done) {
  return guarded([&]() -> Status {
    if (!session || !out_done)
      return nullArgument(session ? "out_done" : "session");
    bool done = true;
    Status failure = session->wait(seconds, done);
    *out_done = done;
    return failure;
  });
}

int64_t sprt_session_runs(const sprt_session *session) { return session->runs; }

void sprt_session_interrupt(sprt_session *session) {
  if (session)
    session->interrupt();
}

sprt_status *sprt_session_collect(sprt_session *session, sprt_array *results,
                                  int64_t resultCount) {
  return alone(session, [&](auto &) -> Status {
    if (const char *missing = findMissing(nullptr, 0, results, resultCount))
      return nullArgument(missing);
    return session->collect(results, resultCount);
  });
}

sprt_status *
sprt_session_rank_statistics(const sprt_session *session, int64_t rank,
                             sprt_rank_statistics *out_statistics) {
  return alone(session, [&](auto &) -> Status {
    if (out_statistics->size != sizeof *out_statistics)
      return wrongSize("sprt_rank_statistics", sizeof *out_statistics,
                       out_statistics->size);
    if (rank < 0 ||
        static_cast<size_t>(rank) >= session->measured.reports.size())
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected a rank below " << session->measured.reports.size()
             << " after a run but got " << rank;
    const RankReport &report =
        session->measured.reports[static_cast<size_t>(rank)];
    out_statistics->bytes_sent = report.bytesSent;
    out_statistics->far_peak_bytes = report.farPeakBytes;
    out_statistics->far_read_bytes = report.farRead;
    out_statistics->far_written_bytes = report.farWritten;
    out_statistics->peak_bytes = report.peakBytes;
    out_statistics->seconds = report.seconds;
    out_statistics->busy_seconds = report.busySeconds;
    return Status::success();
  });
}

sprt_status *
sprt_session_command_statistics(const sprt_session *session, int64_t command,
                                sprt_command_statistics *out_statistics) {
  return alone(session, [&](auto &) -> Status {
    if (out_statistics->size != sizeof *out_statistics)
      return wrongSize("sprt_command_statistics", sizeof *out_statistics,
                       out_statistics->size);
    if (command < 0 ||
        static_cast<size_t>(command) >= session->measured.times.size())
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected a command below " << session->measured.times.size()
             << " after a run but got " << command;
    const plan::CommandT &described =
        *session->program.stepOf[static_cast<size_t>(command)]->command;
    const CommandTime &time =
        session->measured.times[static_cast<size_t>(command)];
    out_statistics->name = described.name.c_str();
    out_statistics->kind = kindName(described.operation.type);
    out_statistics->stream = plan::EnumNameStream(described.stream);
    out_statistics->runs = time.runs;
    out_statistics->seconds = time.seconds;
    out_statistics->wait_seconds = time.waitSeconds;
    return Status::success();
  });
}

double sprt_session_seconds(const sprt_session *session) {
  return session->measured.seconds;
}

sprt_status *sprt_session_write_trace(const sprt_session *session,
                                      const char *path) {
  return alone(session, [&](auto &) -> Status {
    if (!path)
      return nullArgument("path");
    std::string text;
    if (Status failure = session->trace(text))
      return failure;
    return writeOutput(path, {text});
  });
}

sprt_status *sprt_session_trace_text(const sprt_session *session,
                                     char **out_text) {
  return alone(session, [&](auto &) -> Status {
    if (!out_text)
      return nullArgument("out_text");
    std::string text;
    if (Status failure = session->trace(text))
      return failure;
    return copyText(text, out_text);
  });
}
