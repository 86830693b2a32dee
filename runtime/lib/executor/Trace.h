/// A rank's run in Chrome's trace format.
#ifndef SPRT_LIB_EXECUTOR_TRACE_H
#define SPRT_LIB_EXECUTOR_TRACE_H

#include "executor/Rank.h"

namespace sprt {

/// The events of one rank as JSON objects, separated by commas: a process per
/// rank, a thread per stream, flow arrows from send to receive, and a counter
/// of memory. Each says what it is of, its line in the model, its peers, bytes
/// and FLOPs, as far as they are known. Times count from `origin`.
std::string traceText(const Rank &rank, Clock::time_point origin);

/// The name of a command's operation: "launch", "send_recv", …
const char *kindName(plan::Operation operation);

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_TRACE_H
