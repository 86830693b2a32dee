/// The threads of one rank, which share the tiles of a kernel.
///
/// The caller is worker 0 and starts at once; helpers sleep between jobs and
/// join when they wake, so that a short job costs its caller one wake-up call.
/// Tiles are handed out in order, in small chunks: put the heaviest first. Once
/// `stop` is set no more are: the run has ended, and what they make is not
/// read.
#ifndef SPRT_LIB_EXECUTOR_TILEPOOL_H
#define SPRT_LIB_EXECUTOR_TILEPOOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sprt {

class TilePool {
public:
  /// work(first, last, worker) does tiles [first, last).
  using Work = std::function<void(int64_t, int64_t, int)>;

  explicit TilePool(int threads, const std::atomic<bool> *stop = nullptr);
  TilePool(const TilePool &) = delete;
  TilePool &operator=(const TilePool &) = delete;
  ~TilePool();

  int threads() const { return static_cast<int>(helpers.size()) + 1; }

  /// For work that takes long between two chunks.
  bool stopped() const { return stop && stop->load(std::memory_order_relaxed); }

  /// Returns once all tiles are done, or none is handed out. One thread at a
  /// time may call.
  void run(int64_t tiles, const Work &work);

private:
  struct Job {
    const Work *work;
    int64_t tiles;
    int64_t grain;
    std::atomic<int64_t> next;
    int active; ///< helpers inside, guarded by the mutex
  };

  void drain(Job &job, int worker) const;
  void help(int worker);

  const std::atomic<bool> *const stop;
  std::mutex mutex;
  std::condition_variable started;
  std::condition_variable finished;
  Job *job = nullptr;
  uint64_t generation = 0;
  bool closing = false;
  std::vector<std::thread> helpers;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_TILEPOOL_H
