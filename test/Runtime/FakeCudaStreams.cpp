// Streams and events of the libcuda.so.1 of FakeCuda.h.

#include "FakeCudaStreams.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace sprt::test;

std::recursive_mutex sprt::test::streamMutex;

namespace {

/// Those that there are.
std::set<Stream *> &streams = *new std::set<Stream *>;
thread_local Clock::time_point workDone;

bool isBusy(Clock::time_point done) {
  const FakeCuda &fake = *fakeCuda();
  if (done == kNever)
    return fake.stuck || fake.hangsAt >= 0;
  return fake.stuck || Clock::now() < done;
}

bool anyIsBusy() {
  StreamLock lock(streamMutex);
  return std::any_of(streams.begin(), streams.end(),
                     [](Stream *each) { return isBusy(each->done); });
}

/// Like GPUs that wait at the end of a process, at the latest.
struct AtExit {
  ~AtExit() {
    if (std::getenv("FAKE_CUDA_WAITS"))
      waitForStreams();
  }
} atExit;

void mark(Event &event, Clock::time_point done) {
  StreamLock lock(streamMutex);
  event.recorded = true;
  event.done = done;
  event.capture = nullptr;
  event.time = Clock::now();
}

CUresult spoil(Stream &stream, CUresult result) {
  stream.capture->valid = false;
  return result;
}

/// A call that adds to a graph; two at once spoil it.
CUresult add(Stream &stream, const std::function<CUresult()> &call) {
  Capture &capture = *stream.capture;
  bool alone = capture.callers++ == 0;
  // On a busy machine a yield takes long.
  static std::atomic<unsigned> calls{0};
  if (calls++ % 16 == 0)
    std::this_thread::yield();
  StreamLock lock(streamMutex);
  if (!alone)
    capture.valid = false;
  CUresult result =
      capture.valid ? call() : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  --capture.callers;
  return result;
}

void merge(Seen &into, const Seen &from) {
  for (auto [stream, count] : from)
    into[stream] = std::max(into[stream], count);
}

} // namespace

namespace sprt::test {

bool busy(CUstream stream) {
  StreamLock lock(streamMutex);
  return isBusy(of(stream).done);
}

void waitForStreams() {
  if (!anyIsBusy())
    return;
  FakeCuda &fake = *fakeCuda();
  {
    StreamLock lock(streamMutex);
    ++fake.blocked;
  }
  auto begin = Clock::now();
  auto isOver = [&] {
    std::chrono::duration<double> waited = Clock::now() - begin;
    return fake.patience > 0 && waited.count() > fake.patience;
  };
  while (anyIsBusy() && !isOver())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void takeTime(bool hangs) {
  auto time = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(fakeCuda()->kernelSeconds));
  if (workDone != kNever)
    workDone = hangs ? kNever : std::max(Clock::now(), workDone) + time;
}

void perform(CUstream handle, const Work &all) {
  Stream &stream = of(handle);
  bool hasHung = stream.done == kNever && !isBusy(kNever);
  workDone = hasHung ? Clock::now() : stream.done;
  for (const auto &work : all)
    if (workDone != kNever)
      work();
  stream.looks = 0;
  StreamLock lock(streamMutex);
  stream.done = workDone;
}

CUresult invalidate(CUstream stream, CUresult result) {
  StreamLock lock(streamMutex);
  return spoil(of(stream), result);
}

CUresult submit(CUstream handle, const std::function<void()> &work) {
  Stream &stream = of(handle);
  if (!stream.capture) {
    perform(handle, {work});
    return entered();
  }
  return add(stream, [&] {
    stream.capture->work.push_back(work);
    ++stream.seen[&stream];
    return entered();
  });
}

} // namespace sprt::test

extern "C" {

/// For the fake cuBLASLt.
CUresult fakeCudaSubmit(CUstream stream, const std::function<void()> &work) {
  return submit(stream, work);
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  auto *made = new Stream;
  StreamLock lock(streamMutex);
  streams.insert(made);
  ++fakeCuda()->streams;
  *stream = reinterpret_cast<CUstream>(made);
  return entered();
}
CUresult cuStreamDestroy(CUstream stream) {
  waitForStreams();
  StreamLock lock(streamMutex);
  streams.erase(&of(stream));
  if (std::shared_ptr<Capture> capture = of(stream).capture) {
    capture->valid = false;
    capture->streams.erase(&of(stream));
  }
  --fakeCuda()->streams;
  delete &of(stream);
  return entered();
}
CUresult cuStreamQuery(CUstream stream) {
  if (captured(stream))
    return invalidate(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (fakeCuda()->failed)
    return CUDA_ERROR_LAUNCH_FAILED;
  // Done at the second look, if then.
  return busy(stream) || of(stream).looks++ == 0 ? CUDA_ERROR_NOT_READY
                                                 : entered();
}
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  Stream &stream = of(handle);
  auto &awaited = *reinterpret_cast<Event *>(event);
  if (!awaited.capture) {
    StreamLock lock(streamMutex);
    stream.done = std::max(stream.done, awaited.done);
    return stream.capture ? spoil(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                          : entered();
  }
  if (awaited.capture->ended)
    return CUDA_ERROR_CAPTURED_EVENT;
  if (stream.capture && stream.capture != awaited.capture)
    return invalidate(handle, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  {
    StreamLock lock(streamMutex);
    stream.capture = awaited.capture;
    stream.capture->streams.insert(&stream);
  }
  return add(stream, [&] {
    merge(stream.seen, awaited.seen);
    return entered();
  });
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  auto *made = new Event;
  made->timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  *event = reinterpret_cast<CUevent>(made);
  StreamLock lock(streamMutex);
  ++fakeCuda()->events;
  return entered();
}
CUresult cuEventDestroy(CUevent event) {
  waitForStreams();
  StreamLock lock(streamMutex);
  --fakeCuda()->events;
  delete reinterpret_cast<Event *>(event);
  return entered();
}
CUresult cuEventRecordWithFlags(CUevent handle, CUstream streamHandle,
                                unsigned flags) {
  Stream &stream = of(streamHandle);
  auto *event = reinterpret_cast<Event *>(handle);
  bool external = flags == CU_EVENT_RECORD_EXTERNAL;
  if (event->timed) {
    StreamLock lock(streamMutex);
    ++(external ? fakeCuda()->recordedMarks : fakeCuda()->timedMarks);
  }
  if (!stream.capture) {
    mark(*event, stream.done);
    return external ? CUDA_ERROR_INVALID_VALUE : entered();
  }
  if (external)
    return submit(streamHandle, [event] { mark(*event, workDone); });
  return add(stream, [&] {
    event->recorded = false;
    event->capture = stream.capture;
    event->seen = stream.seen;
    return entered();
  });
}
CUresult cuEventQuery(CUevent event) {
  if (reinterpret_cast<Event *>(event)->capture)
    return CUDA_ERROR_CAPTURED_EVENT;
  StreamLock lock(streamMutex);
  return isBusy(reinterpret_cast<Event *>(event)->done) ? CUDA_ERROR_NOT_READY
                                                        : entered();
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  auto *first = reinterpret_cast<Event *>(from),
       *last = reinterpret_cast<Event *>(to);
  if (!first->recorded || !last->recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds =
      std::chrono::duration<float, std::milli>(last->time - first->time)
          .count();
  return entered();
}

} // extern "C"
