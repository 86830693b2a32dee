#include "device/EmulatedDevice.h"

#include "executor/Gemm.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace sprt {

namespace {
constexpr size_t kAlignment = 256;
/// Tasks that run, on average, before the priority of some stream changes.
constexpr int kSteady = 16;
using Clock = std::chrono::steady_clock;
} // namespace

/// One record of an event.
struct EmulatedDevice::Mark {
  bool reached = false;
  Clock::time_point time;
};

struct EmulatedDevice::Task {
  std::function<Status()> work;  ///< or none
  std::shared_ptr<Mark> awaits;  ///< may not run before it is reached
  std::shared_ptr<Mark> reaches; ///< is reached by this task
  std::shared_ptr<const Origin> origin;
};

class EmulatedDevice::Queue : public Stream {
public:
  Queue(EmulatedDevice &device, int64_t rank) : Stream(rank), device(device) {}
  ~Queue() override {
    std::unique_lock<std::mutex> lock(device.mutex);
    device.reached.wait(lock, [this] { return !device.busy; });
    std::vector<Queue *> &queues = device.queues;
    queues.erase(std::find(queues.begin(), queues.end(), this));
  }

  bool ready() const {
    return !tasks.empty() &&
           (!tasks.front().awaits || tasks.front().awaits->reached);
  }

  EmulatedDevice &device;
  std::deque<Task> tasks;
  uint64_t priority = 0;
  bool working = false;  ///< a task of it runs
  bool awaited = false;  ///< somebody sleeps until it is empty
  bool finished = false; ///< and need not sleep on

  bool empty() const { return tasks.empty() && !working; }
};

class EmulatedDevice::MarkedEvent : public Event {
public:
  std::shared_ptr<Mark> latest;
};

EmulatedDevice::EmulatedDevice(uint64_t seed) : random(seed) {
  abilities.name = "the emulated device";
  // What the host has; what is free of it changes all the time.
  abilities.memoryBytes = abilities.freeBytes =
      sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  abilities.processors = 4;
  worker = std::thread([this] { work(); });
}

EmulatedDevice::~EmulatedDevice() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  wanted.notify_all();
  worker.join();
}

Status EmulatedDevice::load(const Program &loaded) {
  program = &loaded;
  for (const Step *step : loaded.stepOf) {
    const plan::OperationUnion &operation = step->command->operation;
    const plan::LaunchT *launch = operation.AsLaunch();
    const plan::AttendT *attend = operation.AsAttend();
    if (!launch && !attend)
      continue;
    uint32_t kernel = launch ? launch->kernel : attend->kernel;
    if (launch ? !loaded.kernels[kernel] : !loaded.emulatedKernels[kernel])
      return fail(SPRT_UNSUPPORTED)
             << "the artifact has kernel \""
             << loaded.plan->kernels[kernel]->symbol
             << "\" for GPUs only; compile with --emulation to run it with "
                "--device=emulated";
  }
  scratch.resize(static_cast<size_t>(loaded.plan->scratch_bytes));
  return Status::success();
}

Status EmulatedDevice::allocate(int64_t bytes, std::byte *&out_data) {
  size_t size = (static_cast<size_t>(bytes) + kAlignment) & -kAlignment;
  Memory data(static_cast<std::byte *>(std::aligned_alloc(kAlignment, size)),
              std::free);
  if (!data)
    return fail(SPRT_FAILED)
           << "this machine has no " << bytes << " bytes for a device";
  std::memset(data.get(), 0xFF, size);
  out_data = data.get();
  std::lock_guard<std::mutex> lock(mutex);
  memory.emplace(out_data, std::move(data));
  return Status::success();
}

void EmulatedDevice::release(std::byte *data) {
  std::unique_lock<std::mutex> lock(mutex);
  // The last task of a run that has failed may still be at it.
  reached.wait(lock, [this] { return !busy; });
  memory.erase(data);
}

Status EmulatedDevice::createStream(int64_t rank,
                                    std::unique_ptr<Stream> &out_stream) {
  auto queue = std::make_unique<Queue>(*this, rank);
  std::lock_guard<std::mutex> lock(mutex);
  queue->priority = random();
  queues.push_back(queue.get());
  out_stream = std::move(queue);
  return Status::success();
}

Status EmulatedDevice::createEvent(bool, std::unique_ptr<Event> &out_event) {
  out_event = std::make_unique<MarkedEvent>();
  return Status::success();
}

void EmulatedDevice::push(Stream &stream, Task task) {
  task.origin = stream.origin;
  std::lock_guard<std::mutex> lock(mutex);
  static_cast<Queue &>(stream).tasks.push_back(std::move(task));
  // Who synchronises another stream may wait for this one.
  wanted.notify_all();
}

Status EmulatedDevice::push(Stream &stream, std::function<Status()> work) {
  Task task;
  task.work = std::move(work);
  push(stream, std::move(task));
  return Status::success();
}

Status EmulatedDevice::record(Event &event, Stream &stream) {
  Task task;
  task.reaches = std::make_shared<Mark>();
  static_cast<MarkedEvent &>(event).latest = task.reaches;
  push(stream, std::move(task));
  return Status::success();
}

Status EmulatedDevice::wait(Stream &stream, Event &event) {
  Task task;
  task.awaits = static_cast<MarkedEvent &>(event).latest;
  if (task.awaits)
    push(stream, std::move(task));
  return Status::success();
}

Status EmulatedDevice::elapsed(const Event &from, const Event &to,
                               double &out_seconds) {
  const auto &first = static_cast<const MarkedEvent &>(from).latest;
  const auto &last = static_cast<const MarkedEvent &>(to).latest;
  std::lock_guard<std::mutex> lock(mutex);
  out_seconds = std::chrono::duration<double>(last->time - first->time).count();
  return Status::success();
}

Status EmulatedDevice::copy(Stream &stream, const Message &target,
                            const Message &source) {
  return push(stream, [target, source] {
    forEachRectangle(target, source, [](const Rectangle &part) {
      for (int64_t row = 0; row < part.height; ++row)
        std::memmove(part.target + row * part.targetPitch,
                     part.source + row * part.sourcePitch,
                     static_cast<size_t>(part.width));
    });
    return Status::success();
  });
}

Status EmulatedDevice::upload(Stream &stream, std::byte *target,
                              const std::byte *data, int64_t bytes) {
  return push(stream,
              [target, held = std::vector<std::byte>(data, data + bytes)] {
                std::copy(held.begin(), held.end(), target);
                return Status::success();
              });
}

Status EmulatedDevice::fill(Stream &stream, std::byte *target, uint8_t value,
                            int64_t bytes) {
  return push(stream, [=] {
    std::memset(target, value, static_cast<size_t>(bytes));
    return Status::success();
  });
}

Status EmulatedDevice::launch(Stream &stream, uint32_t kernel,
                              const std::vector<void *> &buffers,
                              int64_t tiles) {
  return push(stream, [this, kernel, buffers, tiles] {
    program->kernels[kernel](buffers.data(), nullptr, 0, tiles, scratch.data());
    return Status::success();
  });
}

Status EmulatedDevice::attend(Stream &stream, uint32_t kernel,
                              const AttendArguments &arguments,
                              int64_t blocks) {
  return push(stream, [this, kernel, arguments, blocks]() -> Status {
    char error[512] = "";
    // Only this thread draws while work runs.
    const void *address = std::visit(
        [](const auto &each) -> const void * { return &each; }, arguments);
    if (program->emulatedKernels[kernel](address, blocks, random(), error,
                                         sizeof error) == 0)
      return Status::success();
    return fail(SPRT_FAILED)
           << "kernel \"" << program->plan->kernels[kernel]->symbol
           << "\": " << error;
  });
}

Status EmulatedDevice::multiply(Stream &stream, const plan::GemmT &gemm,
                                const std::byte *a, const std::byte *b,
                                std::byte *c) {
  // The plan outlives its sessions.
  return push(stream,
              [this, &gemm, a, b, c] { return runGemm(gemm, a, b, c, pool); });
}

Status EmulatedDevice::encode(const cuda::TensorMapFields &fields,
                              cuda::TensorMap &out_map) {
  std::memcpy(&out_map, &fields, sizeof fields);
  return Status::success();
}

EmulatedDevice::Queue *EmulatedDevice::draw() {
  if (random() % kSteady == 0)
    queues[random() % queues.size()]->priority = random();
  Queue *first = nullptr;
  for (Queue *queue : queues)
    if (queue->ready() && (!first || queue->priority > first->priority))
      first = queue;
  return first;
}

void EmulatedDevice::work() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    Queue *queue = nullptr;
    wanted.wait(lock, [&] {
      queue = mayWork() ? draw() : nullptr;
      return closing || queue;
    });
    if (closing)
      return;
    Task task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    Status failure;
    if (task.work) {
      queue->working = busy = true;
      lock.unlock();
      try {
        failure = task.work();
      } catch (const std::exception &error) {
        failure = fail(SPRT_FAILED) << error.what();
      }
      task.work = nullptr;
      lock.lock();
      queue->working = busy = false;
      reached.notify_all();
    }
    ++tasksDone;
    if (failure) {
      faultRank = queue->rank;
      fault = {std::move(failure), task.origin};
    }
    if (task.reaches) {
      task.reaches->reached = true;
      task.reaches->time = Clock::now();
    }
    wake();
  }
}

void EmulatedDevice::wake() {
  bool any = false;
  for (Queue *queue : queues) {
    if (!queue->awaited || !(queue->empty() || failed() || stopped))
      continue;
    queue->awaited = false;
    queue->finished = true;
    ++running;
    --sleepers;
    any = true;
  }
  if (any)
    reached.notify_all();
}

Device::Fault EmulatedDevice::outcome(const Queue &queue) const {
  if (failed() && queue.rank == faultRank)
    return {Status(*fault.status.operator->()), fault.origin};
  if (queue.empty() && !stopped)
    return {};
  return {fail(SPRT_FAILED).asConsequence() << "stopped", nullptr};
}

Device::Fault EmulatedDevice::synchronise(Stream &stream, Limit limit) {
  auto &queue = static_cast<Queue &>(stream);
  std::unique_lock<std::mutex> lock(mutex);
  if (queue.empty() || failed() || stopped)
    return outcome(queue);
  queue.awaited = true;
  queue.finished = false;
  --running;
  ++sleepers;
  wanted.notify_all();
  // The limit is for waiting: it begins anew with every task that is done.
  uint64_t seen = tasksDone;
  while (!reached.wait_for(lock, limit, [&] { return queue.finished; })) {
    if (busy || seen != tasksDone) {
      seen = tasksDone;
      continue;
    }
    queue.awaited = false;
    ++running;
    --sleepers;
    return {fail(SPRT_TIMEOUT).about(queue.rank)
                << "waited " << limit.count() << " s for the device",
            nullptr};
  }
  return outcome(queue);
}

void EmulatedDevice::interrupt() {
  std::lock_guard<std::mutex> lock(mutex);
  stopped = true;
  wake();
}

void EmulatedDevice::threadsRun(int more) {
  std::lock_guard<std::mutex> lock(mutex);
  running += more;
  wanted.notify_all();
}

} // namespace sprt
