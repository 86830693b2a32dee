#include "executor/Measurements.h"

#include "executor/Trace.h"

#include <algorithm>
#include <cstring>

namespace sprt {

static RankReport reportOf(const Rank &rank) {
  // Each rank needs the constants, though those of one process share them.
  int64_t peakBytes = rank.peakBytes() + rank.program.plan->constant_bytes;
  return {rank.communicator->bytesSent(),
          peakBytes,
          rank.seconds,
          rank.farPeakBytes(),
          rank.farRead,
          rank.farWritten,
          rank.busySeconds};
}

Status Measurements::gather(const Rank &rank, const Group &everyone) {
  RankReport mine = reportOf(rank);
  std::string text(reinterpret_cast<const char *>(&mine), sizeof mine);
  std::vector<std::string> all;
  if (Status failure =
          gatherBytes(*rank.communicator, kControlChannel, everyone, text, all))
    return failure;
  reports.assign(static_cast<size_t>(rank.program.ranks()), {});
  reports[static_cast<size_t>(rank.number)] = mine;
  for (size_t i = 0; i < all.size(); ++i)
    std::memcpy(&reports[i], all[i].data(), sizeof mine);
  if (!rank.tracing)
    return Status::success();
  traces.clear();
  return gatherBytes(*rank.communicator, kControlChannel, everyone,
                     traceText(rank, rank.begun), traces);
}

void Measurements::summarise(const LocalRanks &local) {
  if (!local.distributed()) {
    reports.clear();
    for (const std::unique_ptr<Rank> &rank : local.ranks)
      reports.push_back(reportOf(*rank));
  }
  double longest = 0;
  for (const RankReport &report : reports)
    longest = std::max(longest, report.seconds);
  seconds = longest;
  times.assign(local.ranks.front()->times.size(), {});
  for (const std::unique_ptr<Rank> &rank : local.ranks)
    for (size_t command = 0; command < times.size(); ++command) {
      const CommandTime &time = rank->times[command];
      CommandTime &slowest = times[command];
      int64_t runs = std::max(slowest.runs, time.runs);
      if (time.seconds > slowest.seconds)
        slowest = time;
      slowest.runs = runs;
    }
}

std::string Measurements::trace(const LocalRanks &local) const {
  std::vector<std::string> texts = traces;
  if (!local.distributed()) {
    Clock::time_point origin = local.ranks.front()->begun;
    for (const std::unique_ptr<Rank> &rank : local.ranks)
      origin = std::min(origin, rank->begun);
    for (const std::unique_ptr<Rank> &rank : local.ranks)
      texts.push_back(traceText(*rank, origin));
  }
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "{\"traceEvents\": [\n" : ",\n") + text;
  return all + "\n]}\n";
}

} // namespace sprt
