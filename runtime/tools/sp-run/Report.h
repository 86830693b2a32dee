/// What sp-run says about its runs.
#ifndef SP_RUN_REPORT_H
#define SP_RUN_REPORT_H

#include "BatchReport.h"

#include <optional>

/// Seconds of every timed run or step, and of every command in it.
struct Timings {
  std::vector<double> seconds;
  std::vector<std::vector<double>> commands; ///< by command, then by run
  std::vector<double> values; ///< the scalar that each step printed
  int64_t tokens = 0;         ///< of a step, 0 where nothing tells
  std::optional<BatchReport> batches;

  /// Keeps the numbers of the session's last run. False after a diagnostic.
  bool add(const sprt_program *program, const sprt_session *session);
};

/// The most that a rank needed in the session's last run.
int64_t peakBytes(const sprt_program *program, const sprt_session *session);

double minimum(std::vector<double> values);
double median(std::vector<double> values);

/// A few lines on stdout; the costliest commands where runs were repeated.
void printSummary(const sprt_program *program, const sprt_session *session,
                  const Options &options, const Timings &timings);

/// The JSON report of interface.md. False after a diagnostic.
bool writeReport(const sprt_program *program, const sprt_session *session,
                 const Options &options, const Timings &timings,
                 const Errors &errors);

#endif // SP_RUN_REPORT_H
