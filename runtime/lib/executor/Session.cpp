#include "executor/Session.h"

#include "communicator/World.h"
#include "support/OutputFile.h"

#include <algorithm>

namespace sprt {

Status Session::run(const sprt_array *inputs, int64_t inputCount,
                    sprt_array *results, int64_t resultCount) {
  if (Status failure = checkAlive())
    return failure;
  if (Status failure = checkInputs(inputs, inputCount, /*mayKeep=*/false))
    return failure;
  if (Status failure = prepareResults(results, resultCount))
    return failure;
  return execute(inputs, results,
                 std::vector<bool>(program.results.size(), true));
}

Status Session::execute(const sprt_array *inputs, const sprt_array *results,
                        std::vector<bool> wanted) {
  beginExecution(inputs, results, std::move(wanted));
  return finishExecution();
}

void Session::beginExecution(const sprt_array *inputs,
                             const sprt_array *results,
                             std::vector<bool> wanted) {
  for (std::unique_ptr<Rank> &rank : ranks)
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
    summarise();
  if (runs >= 0)
    ++runs;
  return failure;
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

void Session::summarise() {
  if (!distributed()) {
    reports.clear();
    for (const std::unique_ptr<Rank> &rank : ranks)
      reports.push_back(reportOf(*rank));
  }
  double longest = 0;
  for (const RankReport &report : reports)
    longest = std::max(longest, report.seconds);
  seconds = longest;
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
