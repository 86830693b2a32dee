/// What the streams of one rank tell each other: events and decisions.
///
/// All streams walk the same program and count, for each event, the recorders
/// they pass, whoever runs them. A wait is therefore "event e recorded n
/// times", and loops, skipped commands and conditionals need no more than that.
/// What depends on data (a While, a Case) is decided by the stream that owns
/// the command; the others read the i-th decision.
///
/// When every stream waits for another, nothing can ever come: that is a status
/// at once, not a timeout.
#ifndef SPRT_LIB_EXECUTOR_EVENTBOARD_H
#define SPRT_LIB_EXECUTOR_EVENTBOARD_H

#include "support/Status.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace sprt {

class EventBoard {
public:
  EventBoard(size_t events, int streams)
      : recorded(events), waits(static_cast<size_t>(streams)) {}

  /// Sleeps until `event` has been recorded `count` times.
  Status await(int stream, uint32_t event, int64_t count);
  void record(uint32_t event);

  /// Sleeps until decision number `index` was made.
  Status awaitDecision(int stream, size_t index, int64_t &out_value);
  void decide(int64_t value);

  /// The stream has no more commands.
  void finish(int stream);
  /// Ends every wait, present and future.
  void interrupt();

private:
  struct Wait {
    enum { none, event, decision, finished } kind = none;
    uint32_t number = 0;
    int64_t count = 0;
  };

  bool satisfied(const Wait &wait) const;
  bool deadlocked() const;
  Status sleep(std::unique_lock<std::mutex> &lock, int stream,
               const Wait &wait);

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int64_t> recorded;
  std::vector<int64_t> decisions;
  std::vector<Wait> waits; ///< by stream
  bool stopped = false;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_EVENTBOARD_H
