#include "executor/Session.h"

#include "communicator/World.h"

namespace sprt {

namespace {

/// Of sprt_session_options::trace.
constexpr int kTimesOnly = 2;

Status checkFar(const Program &program, const sprt_session_options &options) {
  int64_t needed = program.plan->far_bytes, limit = options.far_limit_bytes;
  if (options.far_directory && program.isForDevice())
    return fail(SPRT_UNSUPPORTED)
           << "far memory of a program for GPUs is the host's but got the "
              "directory \""
           << options.far_directory << "\"";
  if (options.far_directory && needed == 0)
    return fail(SPRT_INVALID_ARGUMENT)
           << "the program keeps nothing in far memory but got the directory "
              "\""
           << options.far_directory
           << "\"; leave it out, or compile with "
              "--offload=host where that helps";
  if (limit < 0)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a limit of far memory of 0 or more but got " << limit;
  if (limit > 0 && needed > limit)
    return fail(SPRT_INVALID_ARGUMENT)
           << "a rank needs " << needed << " bytes of far memory, "
           << needed - limit << " more than the limit of " << limit;
  return Status::success();
}

Status checkOptions(const Program &program,
                    const sprt_session_options &options) {
  if (options.threads_per_rank < 0 || options.threads_per_rank > 1024)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected 0 to 1024 threads per rank but got "
           << options.threads_per_rank;
  if (!(options.timeout_seconds >= 0 &&
        options.timeout_seconds <= double(kLongestTimeout)))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a timeout of 0 to " << kLongestTimeout
           << " seconds but got " << options.timeout_seconds;
  if (Status failure = checkFar(program, options))
    return failure;
  if (options.inject_rank < 0)
    return Status::success();
  int64_t commands = static_cast<int64_t>(program.stepOf.size());
  if (options.inject_rank >= program.ranks() || options.inject_command < 0 ||
      options.inject_command >= commands)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a rank below " << program.ranks()
           << " and a command below " << commands
           << " to inject a failure but got " << options.inject_rank << ":"
           << options.inject_command;
  return Status::success();
}

Injection injectionOf(const sprt_session_options &options) {
  return {options.inject_rank, options.inject_command,
          options.inject_stall != 0};
}

std::vector<bool> withData(const sprt_array *results, int64_t count) {
  std::vector<bool> wanted;
  for (int64_t i = 0; i < count; ++i)
    wanted.push_back(results[i].data != nullptr);
  return wanted;
}

} // namespace

Status Session::open(const sprt_session_options &options) {
  if (Status failure = chooseCommunicator(program, options, communicator))
    return failure;
  if (Status failure = checkOptions(program, options))
    return failure;
  tracing = options.trace != 0 && options.trace != kTimesOnly;
  if (Status failure =
          openRanks(program, options, communicator, control, local)) {
    explain(failure);
    // The other processes need not wait for this one.
    if (local.distributed())
      local.world->announceFailure();
    return failure;
  }
  // Whoever computes long need not be stuck: only a caller knows.
  if (options.timeout_seconds > 0)
    control.limit = limitOf(options);
  // A kernel may just have begun when another rank's wait for what it makes
  // did.
  bool waitsForKernels = program.isForDevice() && control.limit;
  for (std::unique_ptr<Rank> &rank : local.ranks) {
    rank->communicator->timeout = (waitsForKernels ? 2 : 1) * limitOf(options);
    rank->injection = injectionOf(options);
    rank->timing = options.trace != 0;
  }
  control.interruptRanks = [this] {
    documents.interrupt();
    for (std::unique_ptr<Rank> &rank : local.ranks) {
      rank->interrupt();
      rank->communicator->interrupt();
    }
  };
  if (local.distributed())
    speaker = local.world->rank;
  if (Status failure = arrays.open(local.distributed(), speaker))
    return failure;
  if (Status failure = documents.open(options, control.stopped))
    return failure;
  return feeds.addDonated();
}

Status Session::run(const sprt_array *inputs, int64_t inputCount,
                    sprt_array *results, int64_t resultCount) {
  if (Status failure = checkAlive())
    return failure;
  if (Status failure =
          arrays.checkInputs(inputs, inputCount, /*mayKeep=*/false))
    return failure;
  if (Status failure = arrays.prepareResults(results, resultCount))
    return failure;
  return execute(inputs, results,
                 std::vector<bool>(program.results.size(), true));
}

Status Session::checkStep(const sprt_array *inputs, int64_t inputCount,
                          const sprt_array *results,
                          int64_t resultCount) const {
  if (Status failure = checkAlive())
    return failure;
  if (Status failure =
          arrays.checkInputs(inputs, inputCount, /*mayKeep=*/hasRun))
    return failure;
  return arrays.checkResults(results, resultCount);
}

Status Session::step(const sprt_array *inputs, int64_t inputCount,
                     sprt_array *results, int64_t resultCount) {
  if (Status failure = checkStep(inputs, inputCount, results, resultCount))
    return failure;
  return execute(inputs, results, withData(results, resultCount));
}

Status Session::start(const sprt_array *inputs, int64_t inputCount,
                      sprt_array *results, int64_t resultCount) {
  if (Status failure = checkStep(inputs, inputCount, results, resultCount))
    return failure;
  beginExecution(inputs, results, withData(results, resultCount));
  return Status::success();
}

Status Session::collect(sprt_array *results, int64_t resultCount) {
  if (Status failure = checkAlive())
    return failure;
  if (!hasRun)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a run before its results are collected";
  if (Status failure = arrays.checkResults(results, resultCount))
    return failure;
  std::vector<bool> wanted = withData(results, resultCount);
  begin([&](Rank &rank) { return arrays.collect(rank, results, wanted); });
  return finish();
}

Status Session::execute(const sprt_array *inputs, const sprt_array *results,
                        std::vector<bool> wanted) {
  beginExecution(inputs, results, std::move(wanted));
  return finishExecution();
}

void Session::beginExecution(const sprt_array *inputs,
                             const sprt_array *results,
                             std::vector<bool> wanted) {
  for (std::unique_ptr<Rank> &rank : local.ranks)
    rank->beginRun(tracing);
  std::vector<sprt_array> given(inputs, inputs + program.inputs.size());
  std::vector<sprt_array> asked(results, results + program.results.size());
  begin([this, given, asked, wanted = std::move(wanted)](Rank &rank) {
    return runRank(rank, given.data(), asked.data(), wanted);
  });
}

Status Session::finishExecution() {
  Status failure = finish();
  hasRun = true;
  if (!failure)
    measured.summarise(local);
  if (runs >= 0)
    ++runs;
  return failure;
}

Status Session::learnDocuments(Rank &rank, const sprt_array *inputs) {
  if (program.plan->documents.empty())
    return Status::success();
  bool reads = &rank == local.ranks.front().get();
  if (reads)
    if (Status failure = documents.read(inputs, feeds, documentsChange))
      return failure;
  Group everyone = allRanks(*rank.communicator);
  if (Status failure = barrier(*rank.communicator, kControlChannel, everyone))
    return failure;
  if (documentsChange)
    rank.show(documents.bindings());
  return local.distributed() ? compareDocuments(rank, everyone)
                             : Status::success();
}

Status Session::compareDocuments(Rank &rank, const Group &everyone) {
  std::vector<std::string> digests;
  if (Status failure = gatherBytes(*rank.communicator, kControlChannel,
                                   everyone, documents.identity(), digests))
    return failure;
  for (size_t other = 0; other < digests.size(); ++other)
    if (digests[other] != digests.front())
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected the same documents in all processes, dealt alike, "
                "but rank 0 and rank "
             << other
             << " were given different ones, or programs that deal them "
                "otherwise";
  return Status::success();
}

Status Session::runRank(Rank &rank, const sprt_array *inputs,
                        const sprt_array *results,
                        const std::vector<bool> &wanted) {
  Communicator &communicator = *rank.communicator;
  Group everyone = allRanks(communicator);
  std::string who = "rank " + std::to_string(rank.number);
  auto blame = [&](Status failure, const char *when) {
    failure->rank = rank.number;
    return std::move(failure).within(who + when);
  };
  if (Status failure = learnDocuments(rank, inputs))
    return blame(std::move(failure), ", reading documents");
  // What feeds an input may lie in another one.
  if (Status failure = feeds.move(rank, inputs))
    return blame(std::move(failure), ", feeding inputs");
  if (Status failure = arrays.place(rank, inputs))
    return blame(std::move(failure), ", placing inputs");
  if (Status failure = barrier(communicator, kControlChannel, everyone))
    return blame(std::move(failure), ", before the first command");
  rank.begun = Clock::now();
  if (Status failure = rank.execute())
    return failure;
  rank.seconds =
      std::chrono::duration<double>(Clock::now() - rank.begun).count();
  if (Status failure = barrier(communicator, kControlChannel, everyone))
    return blame(std::move(failure), ", after the last command");
  if (Status failure = arrays.collect(rank, results, wanted))
    return blame(std::move(failure), ", collecting results");
  if (!local.distributed())
    return Status::success();
  if (Status failure = measured.gather(rank, everyone))
    return blame(std::move(failure), ", collecting statistics");
  return Status::success();
}

Status Session::trace(std::string &out_text) const {
  if (!tracing)
    return fail(SPRT_INVALID_ARGUMENT)
           << "the session was created without trace";
  out_text = measured.trace(local);
  return Status::success();
}

} // namespace sprt
