/// Streams of the fake CUDA driver, for its sources.
#ifndef SP_TEST_RUNTIME_FAKECUDASTREAMS_H
#define SP_TEST_RUNTIME_FAKECUDASTREAMS_H

#include "FakeCuda.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <cuda.h>

extern "C" sprt::test::FakeCuda *fakeCuda();

namespace sprt::test {

using Work = std::vector<std::function<void()>>;
struct Stream;
/// How much of each stream's work comes before.
using Seen = std::map<const Stream *, int>;

struct Capture {
  bool valid = true, ended = false;
  std::atomic<int> callers{0};
  Stream *origin = nullptr;
  std::set<Stream *> streams;
  Work work;
};
using Clock = std::chrono::steady_clock;
/// When what hangs is done.
constexpr Clock::time_point kNever = Clock::time_point::max();

struct Stream {
  std::atomic<int> looks{0}; ///< since it was given work
  Clock::time_point done;    ///< when it is done with its work
  std::shared_ptr<Capture> capture;
  Seen seen;
};
struct Event {
  bool timed = false;
  bool recorded = false;  ///< in a stream, not a graph
  Clock::time_point time; ///< when the host recorded it
  Clock::time_point done; ///< when it is reached
  std::shared_ptr<Capture> capture;
  Seen seen;
};

/// Guards all of them.
extern std::recursive_mutex streamMutex;
using StreamLock = std::lock_guard<std::recursive_mutex>;

inline Stream &of(CUstream stream) {
  return *reinterpret_cast<Stream *>(stream);
}

/// Calls on streams and memory need the thread's context.
CUresult entered();
inline bool captured(CUstream stream) { return of(stream).capture != nullptr; }
/// Ends a capture that a call has spoilt.
CUresult invalidate(CUstream stream, CUresult result);
/// Whether a stream is not done yet.
bool busy(CUstream stream);
/// Returns once no stream is busy, or after the caller's patience.
void waitForStreams();
/// For a kernel that is run: when it ends.
void takeTime(bool hangs);
/// Does work unless the stream hangs.
void perform(CUstream stream, const Work &work);
/// Does work at once, or keeps it for a graph.
CUresult submit(CUstream stream, const std::function<void()> &work);

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKECUDASTREAMS_H
