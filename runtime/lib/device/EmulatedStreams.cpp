// The emulated device's streams and events, and a run of them that is recorded.

#include "device/EmulatedQueue.h"

namespace sprt {

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
  out_event = std::make_unique<MarkedEvent>();
  return Status::success();
}

void EmulatedDevice::push(Stream &stream, Task task) {
  task.origin = stream.origin;
  auto &queue = static_cast<Queue &>(stream);
  std::lock_guard<std::mutex> lock(mutex);
  if (queue.records) {
    recorded.emplace_back(&queue, std::move(task));
    return;
  }
  queue.tasks.push_back(std::move(task));
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
  task.reaches->recorded = static_cast<Queue &>(stream).records;
  static_cast<MarkedEvent &>(event).latest = task.reaches;
  push(stream, std::move(task));
  return Status::success();
}

Status EmulatedDevice::wait(Stream &stream, Event &event) {
  Task task;
  task.awaits = static_cast<MarkedEvent &>(event).latest;
  // What was marked before a recording began has been done.
  bool done = task.awaits && static_cast<Queue &>(stream).records &&
              !task.awaits->recorded;
  if (task.awaits && !done)
    push(stream, std::move(task));
  return Status::success();
}

bool EmulatedDevice::reached(const Event &event) {
  const auto &mark = static_cast<const MarkedEvent &>(event).latest;
  std::lock_guard<std::mutex> lock(mutex);
  return !mark || mark->reached;
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
