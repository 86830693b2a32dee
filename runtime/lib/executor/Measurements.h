/// What the ranks of a session measured in its last run.
#ifndef SPRT_LIB_EXECUTOR_MEASUREMENTS_H
#define SPRT_LIB_EXECUTOR_MEASUREMENTS_H

#include "executor/LocalRanks.h"

namespace sprt {

/// What one rank reports of a run; travels to rank 0 as bytes.
struct RankReport {
  int64_t bytesSent = 0;
  int64_t peakBytes = 0;
  double seconds = 0;
  int64_t farPeakBytes = 0, farRead = 0, farWritten = 0;
  double busySeconds = 0;
};

class Measurements {
public:
  /// Rank 0 learns what the other processes measured. Every rank calls this.
  Status gather(const Rank &rank, const Group &everyone);
  /// What the local ranks measured, when their threads have ended.
  void summarise(const LocalRanks &local);
  /// The run as a trace, of every rank: a file of JSON.
  std::string trace(const LocalRanks &local) const;

  std::vector<RankReport> reports;
  std::vector<CommandTime> times; ///< of the slowest local rank, by command
  std::atomic<double> seconds{0};

private:
  std::vector<std::string> traces; ///< of every rank, where ranks are processes
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_MEASUREMENTS_H
