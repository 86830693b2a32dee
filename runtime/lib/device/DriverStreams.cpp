// A GPU's streams and events, and a run of them that is recorded as a graph.

#include "device/DriverHandles.h"

namespace sprt {

Status DriverDevice::createStream(int64_t rank,
                                  std::unique_ptr<Stream> &out_stream) {
  auto stream = std::make_unique<OwnStream>(*this, rank);
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuStreamCreate, &stream->stream, CU_STREAM_NON_BLOCKING);
  std::lock_guard<std::mutex> lock(mutex);
  rankNumbers.insert(rank);
  streams.insert(stream.get());
  out_stream = std::move(stream);
  return Status::success();
}

Status DriverDevice::takeEvent(bool timed, CUevent &out_event) {
  std::vector<CUevent> &spare = spareEvents[timed];
  if (spare.empty()) {
    SPRT_CALL(cuEventCreate, &out_event,
              timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
    return Status::success();
  }
  out_event = spare.back();
  spare.pop_back();
  return Status::success();
}

Status DriverDevice::createEvent(bool timed,
                                 std::unique_ptr<Event> &out_event) {
  auto event = std::make_unique<OwnEvent>(*this, timed);
  if (Status failure = enter())
    return failure;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (Status failure = takeEvent(timed, event->handle))
      return failure;
  }
  out_event = std::move(event);
  return Status::success();
}

Status DriverDevice::record(Event &event, Stream &stream) {
  auto &marked = static_cast<OwnEvent &>(event);
  marked.marked = true;
  marked.recorded = static_cast<OwnStream &>(stream).records;
  // In a graph, other events are only edges.
  unsigned flags = marked.timed && marked.recorded ? CU_EVENT_RECORD_EXTERNAL
                                                   : CU_EVENT_RECORD_DEFAULT;
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuEventRecordWithFlags, marked.handle, handleOf(stream), flags);
  return Status::success();
}

Status DriverDevice::wait(Stream &stream, Event &event) {
  const auto &marked = static_cast<OwnEvent &>(event);
  // A handle may have had another owner, who marked something else.
  if (!marked.marked)
    return Status::success();
  // What was marked before a recording began has been done.
  if (static_cast<OwnStream &>(stream).records && !marked.recorded)
    return Status::success();
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuStreamWaitEvent, handleOf(stream), marked.handle,
            CU_EVENT_WAIT_DEFAULT);
  return Status::success();
}

bool DriverDevice::reached(const Event &event) {
  const auto &marked = static_cast<const OwnEvent &>(event);
  return !marked.marked ||
         (!enter() && driver.cuEventQuery(marked.handle) == CUDA_SUCCESS);
}

Status DriverDevice::elapsed(const Event &from, const Event &to,
                             double &out_seconds) {
  float milliseconds = 0;
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuEventElapsedTime, &milliseconds,
            static_cast<const OwnEvent &>(from).handle,
            static_cast<const OwnEvent &>(to).handle);
  out_seconds = 1e-3 * static_cast<double>(milliseconds);
  return Status::success();
}

Status DriverDevice::beginRecording(const std::vector<Stream *> &streams) {
  if (Status failure = enter())
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
      SPRT_CALL(cuStreamBeginCapture, stream.stream,
                CU_STREAM_CAPTURE_MODE_RELAXED);
      capturing = true;
      SPRT_CALL(cuEventRecordWithFlags, fork, stream.stream,
                CU_EVENT_RECORD_DEFAULT);
    } else {
      SPRT_CALL(cuStreamWaitEvent, stream.stream, fork, CU_EVENT_WAIT_DEFAULT);
    }
    recorded.push_back(&stream);
    stream.records = true;
  }
  return Status::success();
}

Status DriverDevice::endRecording() {
  if (Status failure = enter())
    return failure;
  std::lock_guard<std::mutex> lock(turns);
  if (++finished < ranks())
    return Status::success();
  CUevent join = static_cast<OwnEvent &>(*fence).handle;
  CUstream first = recorded.front()->stream;
  for (OwnStream *stream : recorded)
    stream->records = false;
  for (size_t i = 1; i < recorded.size(); ++i) {
    SPRT_CALL(cuEventRecordWithFlags, join, recorded[i]->stream,
              CU_EVENT_RECORD_DEFAULT);
    SPRT_CALL(cuStreamWaitEvent, first, join, CU_EVENT_WAIT_DEFAULT);
  }
  CUgraph captured = nullptr;
  capturing = false;
  SPRT_CALL(cuStreamEndCapture, first, &captured);
  Status failure = check(driver.cuGraphInstantiate(&graph, captured, 0),
                         "cuGraphInstantiate");
  (void)driver.cuGraphDestroy(captured);
  return failure;
}

void DriverDevice::abandonRecording(const OwnStream &stream) {
  std::lock_guard<std::mutex> lock(turns);
  if (!capturing || recorded.front() != &stream)
    return;
  capturing = false;
  CUgraph captured = nullptr;
  (void)driver.cuStreamEndCapture(stream.stream, &captured);
  if (captured)
    (void)driver.cuGraphDestroy(captured);
}

Status DriverDevice::replay() {
  if (Status failure = enter())
    return failure;
  std::lock_guard<std::mutex> lock(turns);
  if (++arrived < ranks())
    return Status::success();
  arrived = 0;
  CUevent done = static_cast<OwnEvent &>(*fence).handle;
  CUstream first = recorded.front()->stream;
  SPRT_CALL(cuGraphLaunch, graph, first);
  SPRT_CALL(cuEventRecordWithFlags, done, first, CU_EVENT_RECORD_DEFAULT);
  for (size_t i = 1; i < recorded.size(); ++i)
    SPRT_CALL(cuStreamWaitEvent, recorded[i]->stream, done,
              CU_EVENT_WAIT_DEFAULT);
  Launched run;
  run.isReplay = true;
  return note(*recorded.front(), std::move(run));
}

} // namespace sprt
