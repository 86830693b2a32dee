/// One rank of a session: its memory, its end of the communicator, and what it
/// measures while it runs.
#ifndef SPRT_LIB_EXECUTOR_RANK_H
#define SPRT_LIB_EXECUTOR_RANK_H

#include "communicator/Collectives.h"
#include "executor/EventBoard.h"
#include "executor/Region.h"
#include "executor/TilePool.h"
#include "program/Program.h"

#include <atomic>
#include <map>
#include <tuple>

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
  std::mutex mutex;
  std::condition_variable stopping;
  std::function<void()> interruptRanks;

  /// Ends every wait of every local rank, because `rank` failed. Safe to call
  /// from any thread, often.
  void stop(int64_t rank);
};

/// The slices of one attention step, in the form that its kernel reads.
struct SliceTable {
  std::vector<sprt_slice> slices;
  /// Blocks of queries, heaviest first.
  std::vector<int64_t> order;
  /// Of local rows, where a score function reads them.
  std::vector<int32_t> queryPositions, keyPositions;
};

struct CommandTime {
  int64_t runs = 0;
  double seconds = 0;
  double waitSeconds = 0;
};

/// One execution of a command, for the trace.
struct TraceEvent {
  int32_t command;
  int64_t step; ///< innermost loop counter, or -1
  Clock::time_point begin;
  Clock::time_point end;
};

class Rank {
public:
  Rank(const Program &program, int64_t number,
       std::unique_ptr<Communicator> communicator, RunControl &control)
      : program(program), number(number),
        coordinates(program.coordinates(number)),
        communicator(std::move(communicator)), control(control) {}

  /// Reserves arena and scratch memory and starts `threads` - 1 helpers.
  Status allocate(int threads);
  /// Forgets what the last run measured.
  void beginRun(bool tracing);
  /// Walks the program on every stream; returns when they are done.
  Status execute();

  /// Touched bytes of the arena and of the most used scratch memory.
  int64_t peakBytes() const;

  /// Where a view lies, checked against its space.
  Status resolve(const plan::ViewT &view, const Scope &scope,
                 std::byte *&out_data) const;
  /// The ranks that differ from this one in a factor's coordinate only.
  Group groupOf(uint32_t factor) const;
  std::byte *scratch(int worker) const {
    return scratches[static_cast<size_t>(worker)].data();
  }

  const Program &program;
  const int64_t number;
  const std::vector<int64_t> coordinates;
  std::unique_ptr<Communicator> communicator;
  RunControl &control;
  Injection injection;
  Region arena;
  std::unique_ptr<TilePool> pool;
  std::unique_ptr<EventBoard> events;

  Clock::time_point begun; ///< when all ranks were ready
  double seconds = 0;
  std::vector<CommandTime> times; ///< by command; each is written by one stream
  bool tracing = false;
  std::vector<TraceEvent> trace[kStreams];
  /// By stream, then by command and owners.
  std::map<std::tuple<int32_t, int64_t, int64_t>, SliceTable> slices[kStreams];
  /// By stream, then by command, owner and window: how far along a ring a block
  /// is needed.
  std::map<std::tuple<int32_t, int64_t, int64_t>, int64_t> reaches[kStreams];

private:
  std::vector<Region> scratches;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_RANK_H
