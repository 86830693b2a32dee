// The emulated device's streams and events, and a run of them that is recorded.

#include "device/EmulatedGrid.h"
#include "device/EmulatedQueue.h"
#include "tiles/Gemm.h"

#include <cstring>

namespace sprt {

using Clock = std::chrono::steady_clock;

Status EmulatedDevice::createStream(int64_t rank,
                                    std::unique_ptr<Stream> &out_stream) {
  auto queue = std::make_unique<Queue>(*this, rank);
  std::lock_guard<std::mutex> lock(mutex);
  queue->priority = random();
  queues.push_back(queue.get());
  rankNumbers.insert(rank);
  out_stream = std::move(queue);
  return Status::success();
}

Status EmulatedDevice::createEvent(bool, std::unique_ptr<Event> &out_event) {
  out_event = std::make_unique<MarkedEvent>(*this);
  return Status::success();
}

void EmulatedDevice::Queue::push(Task task) {
  task.origin = origin;
  std::lock_guard<std::mutex> lock(device.mutex);
  if (records) {
    device.recorded.emplace_back(this, std::move(task));
    return;
  }
  tasks.push_back(std::move(task));
  // Who synchronises another stream may wait for this one.
  device.wanted.notify_all();
}

Status EmulatedDevice::Queue::push(std::function<Status()> work) {
  Task task;
  task.work = std::move(work);
  push(std::move(task));
  return Status::success();
}

Status EmulatedDevice::Queue::record(Event &event) {
  Task task;
  task.reaches = std::make_shared<Mark>();
  task.reaches->recorded = records;
  static_cast<MarkedEvent &>(event).latest = task.reaches;
  push(std::move(task));
  return Status::success();
}

Status EmulatedDevice::Queue::wait(Event &event) {
  Task task;
  task.awaits = static_cast<MarkedEvent &>(event).latest;
  // What was marked before a recording began has been done.
  bool done = task.awaits && records && !task.awaits->recorded;
  if (task.awaits && !done)
    push(std::move(task));
  return Status::success();
}

Status EmulatedDevice::Queue::copy(const Message &target,
                                   const Message &source) {
  return push([target, source] {
    forEachRectangle(target, source, [](const Rectangle &part) {
      for (int64_t row = 0; row < part.height; ++row)
        std::memmove(part.target + row * part.targetPitch,
                     part.source + row * part.sourcePitch,
                     static_cast<size_t>(part.width));
    });
    return Status::success();
  });
}

Status EmulatedDevice::Queue::upload(std::byte *target, const std::byte *data,
                                     int64_t bytes) {
  return push([target, held = std::vector<std::byte>(data, data + bytes)] {
    std::copy(held.begin(), held.end(), target);
    return Status::success();
  });
}

Status EmulatedDevice::Queue::fill(std::byte *target, uint8_t value,
                                   int64_t bytes) {
  return push([=] {
    std::memset(target, value, static_cast<size_t>(bytes));
    return Status::success();
  });
}

Status EmulatedDevice::Queue::launch(uint32_t kernel,
                                     const std::vector<void *> &buffers,
                                     int64_t blocks) {
  return push([this, kernel, buffers, blocks]() -> Status {
    const plan::KernelT &described = *device.program->plan->kernels[kernel];
    try {
      emulateGrid(device.program->emulatedThreads[kernel], buffers.data(),
                  {static_cast<int>(blocks),
                   static_cast<int>(described.threads),
                   static_cast<int>(described.shared_bytes), device.random()});
    } catch (const cuda::emulation::Fault &fault) {
      return fail(SPRT_FAILED)
             << "kernel \"" << described.symbol << "\": " << fault.what();
    }
    return Status::success();
  });
}

Status EmulatedDevice::Queue::attend(uint32_t kernel,
                                     const AttendArguments &arguments,
                                     int64_t blocks) {
  return push([this, kernel, arguments, blocks]() -> Status {
    char error[512] = "";
    // Only this thread draws while work runs.
    const void *address = std::visit(
        [](const auto &each) -> const void * { return &each; }, arguments);
    if (device.program->emulatedKernels[kernel](
            address, blocks, device.random(), error, sizeof error) == 0)
      return Status::success();
    return fail(SPRT_FAILED)
           << "kernel \"" << device.program->plan->kernels[kernel]->symbol
           << "\": " << error;
  });
}

Status EmulatedDevice::Queue::multiply(const plan::GemmT &gemm,
                                       const GemmData &data) {
  // The plan outlives its sessions.
  return push([this, &gemm, data] { return runGemm(gemm, data, device.pool); });
}

Device::Fault EmulatedDevice::Queue::outcome() const {
  if (device.failed() && rank == device.faultRank)
    return {Status(*device.fault.status.operator->()), device.fault.origin};
  if (empty() && !device.stopped)
    return {};
  return {fail(SPRT_FAILED).asConsequence() << "stopped", nullptr};
}

Device::Fault EmulatedDevice::Queue::synchronise(Limit limit) {
  std::unique_lock<std::mutex> lock(device.mutex);
  if (records)
    return {fail(SPRT_FAILED).about(rank)
                << "synchronised while its work is recorded",
            nullptr};
  if (empty() || device.failed() || device.stopped)
    return outcome();
  awaited = true;
  finished = false;
  --device.running;
  ++device.sleepers;
  device.wanted.notify_all();
  // The limit is for waiting: it begins anew with every task that is done.
  uint64_t seen = device.tasksDone;
  auto begin = Clock::now();
  Limit look = watch ? std::min<Limit>(limit, kEmulatedPoll) : limit;
  while (!device.changed.wait_for(lock, look, [this] { return finished; })) {
    if (device.busy || seen != device.tasksDone) {
      seen = device.tasksDone;
      begin = Clock::now();
    }
    Fault fault;
    if (Clock::now() - begin >= limit)
      fault.status = fail(SPRT_TIMEOUT).about(rank)
                     << "waited " << limit.count() << " s for the device";
    if (watch) {
      lock.unlock();
      Fault other = watch(static_cast<bool>(fault.status));
      lock.lock();
      if (other.status)
        fault = std::move(other);
    }
    if (finished || !fault.status)
      continue;
    awaited = false;
    ++device.running;
    --device.sleepers;
    return fault;
  }
  return outcome();
}

Status EmulatedDevice::elapsed(const Event &from, const Event &to,
                               double &out_seconds) {
  const auto &first = static_cast<const MarkedEvent &>(from).latest;
  const auto &last = static_cast<const MarkedEvent &>(to).latest;
  std::lock_guard<std::mutex> lock(mutex);
  out_seconds = std::chrono::duration<double>(last->time - first->time).count();
  return Status::success();
}

Status EmulatedDevice::beginRecording(const std::vector<Stream *> &streams) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Stream *stream : streams)
    static_cast<Queue &>(*stream).records = true;
  return Status::success();
}

Status EmulatedDevice::endRecording() {
  std::lock_guard<std::mutex> lock(mutex);
  if (++finished == ranks())
    for (Queue *queue : queues)
      queue->records = false;
  return Status::success();
}

Status EmulatedDevice::replay() {
  std::lock_guard<std::mutex> lock(mutex);
  if (++arrived < ranks())
    return Status::success();
  arrived = 0;
  for (const auto &[queue, task] : recorded) {
    if (task.reaches)
      task.reaches->reached = false;
    queue->tasks.push_back(task);
  }
  wanted.notify_all();
  return Status::success();
}

} // namespace sprt
