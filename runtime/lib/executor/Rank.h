/// One rank of a session: its memory, its end of the communicator, and what it
/// measures while it runs. Executors are its kinds.
#ifndef SPRT_LIB_EXECUTOR_RANK_H
#define SPRT_LIB_EXECUTOR_RANK_H

#include "communicator/Collectives.h"
#include "program/Placement.h"
#include "walk/RankView.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace sprt {

/// Fails or stalls a rank at a command, for tests.
struct Injection {
  int64_t rank = -1;
  int64_t command = -1;
  bool stalls = false;
};

/// What all ranks of a session in this process share.
struct RunControl {
  std::atomic<bool> stopped{false};
  /// The first local rank that failed, or -1.
  std::atomic<int64_t> culprit{-1};
  /// How long a loop or a kernel may take, if not for ever.
  std::optional<std::chrono::duration<double>> limit;
  std::mutex mutex;
  std::condition_variable stopping;
  std::function<void()> interruptRanks;

  /// Ends every wait of every local rank, because `rank` failed, or -1 where
  /// that one will say so itself. Safe to call from any thread, often.
  void stop(int64_t rank);
};

struct CommandTime {
  int64_t runs = 0;
  double seconds = 0;
  double waitSeconds = 0;
};

/// One execution of a command, for the trace.
struct TraceEvent {
  int32_t command;
  std::vector<int64_t> counters; ///< of the loops around it
  Clock::time_point begin;
  Clock::time_point end;
};

class Rank : public RankView {
public:
  Rank(const Program &program, int64_t number,
       std::unique_ptr<Communicator> communicator, RunControl &control)
      : RankView(program, number), communicator(std::move(communicator)),
        control(control) {}
  virtual ~Rank() = default;

  /// Forgets what the last run measured. Before any rank's thread runs.
  virtual void beginRun(bool tracing);
  /// Masks and layouts are others from the next run on. Before any rank's
  /// thread runs.
  virtual void show(const Bindings &ofRun);
  /// Runs the program; returns when every stream is done.
  virtual Status execute() = 0;
  /// The rank gets a thread that gives it work, or that thread ends.
  virtual void beginThread() {}
  virtual void endThread() {}
  /// Ends every wait for the rank's own streams. Any thread may call it.
  virtual void interrupt() = 0;
  /// Bytes of memory that the last run used, and of far memory.
  virtual int64_t peakBytes() const = 0;
  virtual int64_t farPeakBytes() const = 0;

  /// Fills the rank's part of an input.
  virtual Status place(const Placement &placement, const std::byte *global,
                       std::byte *local) = 0;
  /// Brings the rank's part of a result to its places.
  virtual Status collect(const Placement &placement, const std::byte *local,
                         std::byte *global) = 0;
  /// Copies within the arena and far memory, or from constants, before the next
  /// command. The ranges do not overlap.
  virtual Status copy(std::byte *target, const std::byte *source,
                      int64_t bytes) = 0;
  /// Writes bytes of the host to the arena or to far memory, before the next
  /// command.
  virtual Status store(std::byte *target, const std::byte *source,
                       int64_t bytes) = 0;
  /// Part of the arena or of far memory as the host can read it, until the next
  /// call.
  virtual Status fetch(const std::byte *local, int64_t bytes,
                       const std::byte *&out_data) = 0;

  bool isFar(const std::byte *data) const {
    return farData && data >= farData &&
           data < farData + program.plan->far_bytes;
  }

  std::unique_ptr<Communicator> communicator;
  RunControl &control;
  Injection injection;

  Clock::time_point begun; ///< when all ranks were ready
  double seconds = 0;
  double busySeconds = 0; ///< of processors
  /// Bytes copied from far memory and to it; each by one stream.
  int64_t farRead = 0, farWritten = 0;
  std::vector<CommandTime> times; ///< by command; each is written by one stream
  bool timing = false; ///< whether somebody asks for times that cost time
  bool tracing = false;
  std::vector<TraceEvent> trace[kStreams];
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_RANK_H
