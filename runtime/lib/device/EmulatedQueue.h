/// What the emulated device's streams and events are, for its sources.
#ifndef SPRT_LIB_DEVICE_EMULATEDQUEUE_H
#define SPRT_LIB_DEVICE_EMULATEDQUEUE_H

#include "device/EmulatedDevice.h"
#include "device/EmulatedStream.h"

#include <algorithm>

namespace sprt {

/// How often to look at what is not this device's own doing.
inline constexpr std::chrono::milliseconds kEmulatedPoll(1);

/// One record of an event.
struct EmulatedDevice::Mark {
  bool reached = false;
  bool recorded = false; ///< by a stream that records
  std::chrono::steady_clock::time_point time;
};

struct EmulatedDevice::Task {
  std::function<Status()> work;  ///< or none
  std::shared_ptr<Mark> awaits;  ///< may not run before it is reached
  std::function<bool()> poll;    ///< may not run before this is true
  std::shared_ptr<Mark> reaches; ///< is reached by this task
  std::shared_ptr<const Origin> origin;
};

class EmulatedDevice::Queue : public Stream, public EmulatedStream {
public:
  Queue(EmulatedDevice &device, int64_t rank) : Stream(rank), device(device) {}
  ~Queue() override {
    std::unique_lock<std::mutex> lock(device.mutex);
    device.changed.wait(lock, [this] { return !device.busy; });
    std::vector<Queue *> &queues = device.queues;
    queues.erase(std::find(queues.begin(), queues.end(), this));
  }

  void *handle() override { return static_cast<EmulatedStream *>(this); }
  void enqueue(std::function<bool()> poll) override {
    Task task;
    task.poll = std::move(poll);
    push(std::move(task));
  }

  Status record(Event &event) override;
  Status wait(Event &event) override;
  Status copy(const Message &target, const Message &source) override;
  Status upload(std::byte *target, const std::byte *data,
                int64_t bytes) override;
  Status fill(std::byte *target, uint8_t value, int64_t bytes) override;
  Status launch(uint32_t kernel, const std::vector<void *> &buffers,
                int64_t blocks) override;
  Status attend(uint32_t kernel, const AttendArguments &arguments,
                int64_t blocks) override;
  Status multiply(const plan::GemmT &gemm, const GemmData &data) override;
  Fault synchronise(Limit limit) override;

  bool ready() const {
    return !tasks.empty() &&
           (!tasks.front().awaits || tasks.front().awaits->reached) &&
           (!tasks.front().poll || tasks.front().poll());
  }

  bool polls() const { return !tasks.empty() && tasks.front().poll; }

  EmulatedDevice &device;
  std::deque<Task> tasks;
  uint64_t priority = 0;
  bool working = false;  ///< a task of it runs
  bool awaited = false;  ///< somebody sleeps until it is empty
  bool finished = false; ///< and need not sleep on
  bool records = false;  ///< keeps what it is given

  bool empty() const { return tasks.empty() && !working; }

private:
  void push(Task task);
  /// What who synchronised it hears.
  Fault outcome() const;
  Status push(std::function<Status()> work);
};

class EmulatedDevice::MarkedEvent : public Event {
public:
  explicit MarkedEvent(EmulatedDevice &device) : device(device) {}
  bool reached() const override {
    std::lock_guard<std::mutex> lock(device.mutex);
    return !latest || latest->reached;
  }

  EmulatedDevice &device;
  std::shared_ptr<Mark> latest;
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_EMULATEDQUEUE_H
