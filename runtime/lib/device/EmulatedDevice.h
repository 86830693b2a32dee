/// A GPU that is not there: its memory is the host's, its work runs on one
/// thread, in an order that is random but repeats for a seed.
///
/// Work waits until somebody synchronises and no thread of a rank may put more
/// on a stream. Then, again and again, the first task runs of that stream which
/// has the highest priority among those whose first task may run. Priorities
/// are random, and one of them changes now and then, so that some streams run
/// far ahead of others. Only what the plan says orders streams:
///
///     stream 0   launch  record e            may run
///     stream 1   wait e  copy                may not: e is not reached
///     stream 2   fill                        may run
///
/// and a wait that is missing gives wrong numbers for some seed. Memory that
/// was never written holds NaNs.
#ifndef SPRT_LIB_DEVICE_EMULATEDDEVICE_H
#define SPRT_LIB_DEVICE_EMULATEDDEVICE_H

#include "device/Device.h"
#include "sprt/cuda/Emulated.h"
#include "tiles/TilePool.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace sprt {

class EmulatedDevice : public Device {
public:
  /// architecture: 80 for sm_80; 0: whatever a program is for.
  EmulatedDevice(uint64_t seed, int architecture = 0);
  EmulatedDevice(const EmulatedDevice &) = delete;
  EmulatedDevice &operator=(const EmulatedDevice &) = delete;
  ~EmulatedDevice() override;

  Status load(const Program &program) override;
  Status allocate(int64_t bytes, std::byte *&out_data) override;
  Status allocateHost(int64_t bytes, std::byte *&out_data) override;
  void release(std::byte *data) override;
  Status createStream(int64_t rank,
                      std::unique_ptr<Stream> &out_stream) override;
  Status createEvent(bool timed, std::unique_ptr<Event> &out_event) override;
  Status elapsed(const Event &from, const Event &to,
                 double &out_seconds) override;
  Status encode(const cuda::TensorMapFields &fields,
                cuda::TensorMap &out_map) override;
  Status beginRecording(const std::vector<Stream *> &streams) override;
  Status endRecording() override;
  Status replay() override;
  void interrupt() override;
  void threadsRun(int more) override;
  void threadsWait(int more) override;

private:
  struct Mark;
  struct Task;
  class Queue;
  class MarkedEvent;

  using Memory = std::unique_ptr<std::byte, void (*)(void *)>;

  /// Which kernels a program's images allow on this architecture.
  Status chooseKernels();
  /// The thread that runs all work.
  void work();
  bool mayWork() const { return running <= 0 && sleepers > 0 && !failed(); }
  bool failed() const { return static_cast<bool>(fault.status); }
  /// A queue whose first task may run, or null. `out_polls`: that may change
  /// by itself.
  Queue *draw(bool &out_polls);
  /// Who sleeps for a queue that is empty, or that will never be, runs again.
  void wake();

  const int architecture;
  const Program *program = nullptr;
  TilePool pool{1}; ///< of products

  std::mutex mutex;
  std::condition_variable wanted;  ///< for the working thread
  std::condition_variable changed; ///< for those who synchronise
  std::map<std::byte *, Memory> memory;
  std::vector<Queue *> queues;                    ///< by age
  std::vector<std::pair<Queue *, Task>> recorded; ///< in the order of pushes
  size_t finished = 0, arrived = 0; ///< ranks at endRecording, at replay
  std::mt19937_64 random;
  int running = 0;  ///< threads that may still put work on streams
  int sleepers = 0; ///< that synchronise
  uint64_t tasksDone = 0;
  bool busy = false; ///< the worker runs a task
  Fault fault;       ///< the first of any work
  int64_t faultRank = -1;
  bool stopped = false;
  bool closing = false;
  std::thread worker;
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_EMULATEDDEVICE_H
