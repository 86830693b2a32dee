/// The threads of one rank, which share the tiles of a kernel.
///
/// The caller is worker 0 and starts at once; helpers sleep between jobs and
/// join when they wake, so that a short job costs its caller one wake-up call.
/// Tiles are handed out in order, in chunks that are soon done: put the
/// heaviest first. Once `stop` is set, or the limit is over, no more are: the
/// run has ended, and what they make is not read.
#ifndef SPRT_LIB_TILES_TILEPOOL_H
#define SPRT_LIB_TILES_TILEPOOL_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace sprt {

/// Processor time of the calling thread.
double threadSeconds();

class TilePool {
public:
  /// work(first, last, worker) does tiles [first, last).
  using Work = std::function<void(int64_t, int64_t, int)>;

  explicit TilePool(int threads, const std::atomic<bool> *stop = nullptr);
  TilePool(const TilePool &) = delete;
  TilePool &operator=(const TilePool &) = delete;
  ~TilePool();

  int threads() const { return static_cast<int>(helpers.size()) + 1; }

  /// How long each run may take, if not for ever. Between two runs.
  void setLimit(std::optional<std::chrono::duration<double>> seconds) {
    limit = seconds;
  }

  /// Processor time of the helpers so far.
  double helperSeconds();

  /// For work that takes long between two chunks, which is then left undone.
  bool stopped();

  /// Returns once all tiles are done, or none is handed out. One thread at a
  /// time may call.
  void run(int64_t tiles, const Work &work);
  /// Whether the last run has left work undone because of the limit.
  bool isLate() const { return late; }

private:
  struct Job {
    const Work *work;
    int64_t tiles;
    int64_t grain; ///< of the largest chunk
    std::atomic<int64_t> next;
    int active; ///< helpers inside, guarded by the mutex
  };

  void drain(Job &job, int worker);
  void help(int worker);

  const std::atomic<bool> *const stop;
  std::optional<std::chrono::duration<double>> limit;
  std::chrono::steady_clock::time_point end; ///< of a run that has a limit
  std::atomic<bool> late{false};
  std::mutex mutex;
  std::condition_variable started;
  std::condition_variable finished;
  Job *job = nullptr;
  uint64_t generation = 0;
  bool closing = false;
  std::vector<std::thread> helpers;
};

} // namespace sprt

#endif // SPRT_LIB_TILES_TILEPOOL_H
