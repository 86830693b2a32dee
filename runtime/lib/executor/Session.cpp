#include "executor/Session.h"

#include "communicator/World.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sprt {

namespace {

/// How long a rank that shares its core should be left on it at a time.
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(20);

/// Asks the scheduler for such slices, for this thread: attention works out of
/// the core's own cache, which another rank has filled when it comes back.
/// Linux before 6.12 does not heed it.
void askForSlices() {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.runtime = static_cast<uint64_t>(kSlice.count());
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

} // namespace

Session::~Session() {
  // Local ranks must be gone before the world that carries their messages.
  ranks.clear();
}

Status Session::run(const sprt_array *inputs, int64_t inputCount,
                    sprt_array *results, int64_t resultCount) {
  if (failed)
    return fail(SPRT_FAILED) << "this session has failed; create a new one";
  if (Status failure = checkInputs(inputs, inputCount, /*mayKeep=*/false))
    return failure;
  if (Status failure = prepareResults(results, resultCount))
    return failure;
  return execute(inputs, results,
                 std::vector<bool>(program.results.size(), true));
}

Status Session::execute(const sprt_array *inputs, sprt_array *results,
                        const std::vector<bool> &wanted) {
  for (std::unique_ptr<Rank> &rank : ranks)
    rank->beginRun(tracing);
  Status failure = onRanks(
      [&](Rank &rank) { return runRank(rank, inputs, results, wanted); });
  hasRun = true;
  if (!failed)
    summarise();
  return failure;
}

Status Session::onRanks(const std::function<Status(Rank &)> &body) {
  for (std::unique_ptr<Rank> &rank : ranks)
    rank->beginThread();
  std::vector<Status> statuses(ranks.size());
  std::vector<std::thread> threads;
  try {
    for (size_t i = 0; i < ranks.size(); ++i)
      threads.emplace_back([&, i] {
        if (sharesCores)
          askForSlices();
        statuses[i] = body(*ranks[i]);
        // A rank that others ended is not to blame.
        if (statuses[i])
          control.stop(statuses[i]->consequence ? -1 : ranks[i]->number);
        ranks[i]->endThread();
      });
  } catch (const std::system_error &error) {
    size_t first = threads.size();
    statuses[first] = fail(SPRT_FAILED).about(ranks[first]->number)
                      << "rank " << ranks[first]->number
                      << ": no thread for it: " << error.what();
    control.stop(ranks[first]->number);
  }
  for (std::thread &thread : threads)
    thread.join();
  for (Status &status : statuses)
    explain(status);
  Status failure = merge(std::move(statuses));
  failed = static_cast<bool>(failure);
  return failure;
}

Status Session::runRank(Rank &rank, const sprt_array *inputs,
                        sprt_array *results, const std::vector<bool> &wanted) {
  Communicator &communicator = *rank.communicator;
  Group everyone = allRanks(communicator);
  std::string who = "rank " + std::to_string(rank.number);
  auto blame = [&](Status failure, const char *when) {
    failure->rank = rank.number;
    return std::move(failure).within(who + when);
  };
  // What feeds an input may lie in another one.
  if (Status failure = feedInputs(rank, inputs))
    return blame(std::move(failure), ", feeding inputs");
  if (Status failure = placeInputs(rank, inputs))
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
  if (Status failure = collectResults(rank, results, wanted))
    return blame(std::move(failure), ", collecting results");
  if (!distributed())
    return Status::success();
  if (Status failure = gatherReports(rank, everyone))
    return blame(std::move(failure), ", collecting statistics");
  return Status::success();
}

void Session::explain(Status &status) const {
  if (!status || !status->consequence)
    return;
  int64_t culprit = distributed() ? world->culprit() : control.culprit.load();
  if (culprit < 0)
    return;
  status->text += " because rank " + std::to_string(culprit) + " ended the run";
  if (status->peer < 0)
    status->peer = culprit;
}

Status Session::merge(std::vector<Status> statuses) const {
  constexpr size_t kMostLines = 16;
  Status merged;
  size_t failures = 0;
  for (bool consequence : {false, true})
    for (Status &status : statuses) {
      if (!status || status->consequence != consequence)
        continue;
      if (++failures == 1)
        merged = Status(*status.operator->());
      else if (failures <= kMostLines)
        merged->text += "\n" + status->text;
    }
  if (failures > kMostLines)
    merged->text +=
        "\nand " + std::to_string(failures - kMostLines) + " more ranks";
  return merged;
}

void Session::summarise() {
  if (!distributed()) {
    reports.clear();
    for (const std::unique_ptr<Rank> &rank : ranks)
      reports.push_back(reportOf(*rank));
  }
  seconds = 0;
  for (const RankReport &report : reports)
    seconds = std::max(seconds, report.seconds);
  times.assign(program.stepOf.size(), {});
  for (const std::unique_ptr<Rank> &rank : ranks)
    for (size_t command = 0; command < times.size(); ++command) {
      const CommandTime &time = rank->times[command];
      CommandTime &slowest = times[command];
      int64_t runs = std::max(slowest.runs, time.runs);
      if (time.seconds > slowest.seconds)
        slowest = time;
      slowest.runs = runs;
    }
}

Status Session::writeTrace(const std::string &path) const {
  if (!tracing)
    return fail(SPRT_INVALID_ARGUMENT)
           << "the session was created without trace";
  std::vector<std::string> texts = traces;
  if (!distributed() && !ranks.empty()) {
    Clock::time_point origin = ranks.front()->begun;
    for (const std::unique_ptr<Rank> &rank : ranks)
      origin = std::min(origin, rank->begun);
    for (const std::unique_ptr<Rank> &rank : ranks)
      texts.push_back(traceText(*rank, origin));
  }
  std::vector<std::string_view> pieces;
  for (const std::string &text : texts) {
    pieces.push_back(pieces.empty() ? "{\"traceEvents\": [\n" : ",\n");
    pieces.push_back(text);
  }
  pieces.push_back("\n]}\n");
  return writeOutput(path, pieces);
}

} // namespace sprt
