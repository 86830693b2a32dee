// A GPU's streams and events, and a run of them that is recorded as a graph.

#include "device/DriverHandles.h"

namespace sprt {

Status DriverDevice::createStream(int64_t rank,
                                  std::unique_ptr<Stream> &out_stream) {
  auto stream = std::make_unique<OwnStream>(*this, rank);
  if (Status failure = gpu.enter())
    return failure;
  SPRT_CALL(gpu, cuStreamCreate, &stream->stream, CU_STREAM_NON_BLOCKING);
  std::lock_guard<std::mutex> lock(mutex);
  rankNumbers.insert(rank);
  streams.insert(stream.get());
  out_stream = std::move(stream);
  return Status::success();
}

Status DriverDevice::createEvent(bool timed,
                                 std::unique_ptr<Event> &out_event) {
  auto event = std::make_unique<OwnEvent>(*this, timed);
  if (Status failure = gpu.enter())
    return failure;
  if (Status failure = events.take(timed, event->handle))
    return failure;
  out_event = std::move(event);
  return Status::success();
}

Status DriverDevice::elapsed(const Event &from, const Event &to,
                             double &out_seconds) {
  float milliseconds = 0;
  if (Status failure = gpu.enter())
    return failure;
  SPRT_CALL(gpu, cuEventElapsedTime, &milliseconds,
            static_cast<const OwnEvent &>(from).handle,
            static_cast<const OwnEvent &>(to).handle);
  out_seconds = 1e-3 * static_cast<double>(milliseconds);
  return Status::success();
}

Status DriverDevice::beginRecording(const std::vector<Stream *> &streams) {
  if (Status failure = gpu.enter())
    return failure;
  std::lock_guard<std::mutex> lock(turns);
  if (!fence)
    if (Status failure = createEvent(false, fence))
      return failure;
  CUevent fork = static_cast<OwnEvent &>(*fence).handle;
  for (Stream *each : streams) {
    auto &stream = static_cast<OwnStream &>(*each);
    if (recorded.empty()) {
      // Relaxed: another rank's thread may end it.
      SPRT_CALL(gpu, cuStreamBeginCapture, stream.stream,
                CU_STREAM_CAPTURE_MODE_RELAXED);
      capturing = true;
      SPRT_CALL(gpu, cuEventRecordWithFlags, fork, stream.stream,
                CU_EVENT_RECORD_DEFAULT);
    } else {
      SPRT_CALL(gpu, cuStreamWaitEvent, stream.stream, fork,
                CU_EVENT_WAIT_DEFAULT);
    }
    recorded.push_back(&stream);
    stream.records = true;
  }
  return Status::success();
}

Status DriverDevice::endRecording() {
  if (Status failure = gpu.enter())
    return failure;
  std::lock_guard<std::mutex> lock(turns);
  if (++finished < ranks())
    return Status::success();
  CUevent join = static_cast<OwnEvent &>(*fence).handle;
  CUstream first = recorded.front()->stream;
  for (OwnStream *stream : recorded)
    stream->records = false;
  for (size_t i = 1; i < recorded.size(); ++i) {
    SPRT_CALL(gpu, cuEventRecordWithFlags, join, recorded[i]->stream,
              CU_EVENT_RECORD_DEFAULT);
    SPRT_CALL(gpu, cuStreamWaitEvent, first, join, CU_EVENT_WAIT_DEFAULT);
  }
  CUgraph captured = nullptr;
  capturing = false;
  SPRT_CALL(gpu, cuStreamEndCapture, first, &captured);
  Status failure = gpu.check(gpu.driver.cuGraphInstantiate(&graph, captured, 0),
                             "cuGraphInstantiate");
  (void)gpu.driver.cuGraphDestroy(captured);
  return failure;
}

void DriverDevice::abandonRecording(const OwnStream &stream) {
  std::lock_guard<std::mutex> lock(turns);
  if (!capturing || recorded.front() != &stream)
    return;
  capturing = false;
  CUgraph captured = nullptr;
  (void)gpu.driver.cuStreamEndCapture(stream.stream, &captured);
  if (captured)
    (void)gpu.driver.cuGraphDestroy(captured);
}

Status DriverDevice::replay() {
  if (Status failure = gpu.enter())
    return failure;
  std::lock_guard<std::mutex> lock(turns);
  if (++arrived < ranks())
    return Status::success();
  arrived = 0;
  CUevent done = static_cast<OwnEvent &>(*fence).handle;
  CUstream first = recorded.front()->stream;
  SPRT_CALL(gpu, cuGraphLaunch, graph, first);
  SPRT_CALL(gpu, cuEventRecordWithFlags, done, first, CU_EVENT_RECORD_DEFAULT);
  for (size_t i = 1; i < recorded.size(); ++i)
    SPRT_CALL(gpu, cuStreamWaitEvent, recorded[i]->stream, done,
              CU_EVENT_WAIT_DEFAULT);
  return recorded.front()->note({nullptr, /*isReplay=*/true});
}

} // namespace sprt
