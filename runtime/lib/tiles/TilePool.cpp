#include "tiles/TilePool.h"

#include <algorithm>
#include <system_error>

#include <pthread.h>
#include <time.h>

namespace sprt {

static double secondsOf(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

double threadSeconds() { return secondsOf(CLOCK_THREAD_CPUTIME_ID); }

double TilePool::helperSeconds() {
  double seconds = 0;
  for (std::thread &helper : helpers) {
    clockid_t clock;
    if (pthread_getcpuclockid(helper.native_handle(), &clock) == 0)
      seconds += secondsOf(clock);
  }
  return seconds;
}

/// A chunk that takes longer is followed by smaller ones.
static constexpr auto kLongest = std::chrono::milliseconds(20);

TilePool::TilePool(int threads, const std::atomic<bool> *stop) : stop(stop) {
  // A machine that has no more threads gets by with fewer.
  try {
    for (int worker = 1; worker < threads; ++worker)
      helpers.emplace_back([this, worker] { help(worker); });
  } catch (const std::system_error &) {
    return;
  }
}

TilePool::~TilePool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  started.notify_all();
  for (std::thread &helper : helpers)
    helper.join();
}

bool TilePool::stopped() {
  if (stop && stop->load(std::memory_order_relaxed))
    return true;
  if (limit && std::chrono::steady_clock::now() > end)
    late = true;
  return late;
}

void TilePool::drain(Job &job, int worker) {
  int64_t grain = 1;
  auto began = std::chrono::steady_clock::now();
  for (;;) {
    int64_t first = job.next.fetch_add(grain, std::memory_order_relaxed);
    if (first >= job.tiles || stopped())
      return;
    (*job.work)(first, std::min(first + grain, job.tiles), worker);
    auto now = std::chrono::steady_clock::now();
    grain = now - began > kLongest ? std::max<int64_t>(1, grain / 4)
                                   : std::min(2 * grain, job.grain);
    began = now;
  }
}

void TilePool::run(int64_t tiles, const Work &work) {
  late = false;
  if (limit)
    end =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(*limit);
  Job current{
      &work, tiles, std::max<int64_t>(1, tiles / (8 * threads())), {0}, 0};
  if (helpers.empty() || tiles <= 1) {
    drain(current, 0);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    job = &current;
    ++generation;
  }
  started.notify_all();
  drain(current, 0);
  // Helpers that have not woken by now find no job; the others finish their
  // tiles.
  std::unique_lock<std::mutex> lock(mutex);
  job = nullptr;
  finished.wait(lock, [&] { return current.active == 0; });
}

void TilePool::help(int worker) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    started.wait(lock, [&] { return closing || (job && generation != seen); });
    if (closing)
      return;
    Job *current = job;
    seen = generation;
    ++current->active;
    lock.unlock();
    drain(*current, worker);
    lock.lock();
    if (--current->active == 0)
      finished.notify_one();
  }
}

} // namespace sprt
