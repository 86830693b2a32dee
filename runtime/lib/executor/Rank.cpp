#include "executor/Rank.h"

namespace sprt {

void RunControl::stop(int64_t rank) {
  int64_t none = -1;
  culprit.compare_exchange_strong(none, rank);
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopped.store(true, std::memory_order_release);
  }
  stopping.notify_all();
  interruptRanks();
}

void Rank::beginRun(bool keepTrace) {
  tracing = keepTrace;
  seconds = busySeconds = 0;
  times.assign(program.stepOf.size(), {});
  for (std::vector<TraceEvent> &stream : trace)
    stream.clear();
}

void Rank::show(const Bindings &ofRun) {
  bindings = &ofRun;
  for (auto &ofStream : reaches)
    ofStream.clear();
}

} // namespace sprt
