// Streams, events and graphs of the libcuda.so.1 of FakeCuda.h.

#include "FakeCudaStreams.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using sprt::test::entered;

extern "C" sprt::test::FakeCuda *fakeCuda();

namespace {

using Work = std::vector<std::function<void()>>;
struct Stream;
/// How much of each stream's work comes before.
using Seen = std::map<const Stream *, int>;

struct Capture {
  bool valid = true, ended = false;
  std::atomic<int> callers{0};
  Stream *origin = nullptr;
  std::set<Stream *> streams;
  Work work;
};
struct Stream {
  std::atomic<int> looks{0};
  std::shared_ptr<Capture> capture;
  Seen seen;
};
struct Event {
  bool recorded = false; ///< in a stream, not a graph
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<Capture> capture;
  Seen seen;
};

std::recursive_mutex mutex;
using Lock = std::lock_guard<std::recursive_mutex>;

Stream &of(CUstream stream) { return *reinterpret_cast<Stream *>(stream); }

void mark(Event &event) {
  Lock lock(mutex);
  event.recorded = true;
  event.capture = nullptr;
  event.time = std::chrono::steady_clock::now();
}

CUresult spoil(Stream &stream, CUresult result) {
  stream.capture->valid = false;
  return result;
}

/// A call that adds to a graph; two at once spoil it.
CUresult add(Stream &stream, const std::function<CUresult()> &call) {
  Capture &capture = *stream.capture;
  bool alone = capture.callers++ == 0;
  std::this_thread::yield();
  Lock lock(mutex);
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

bool captured(CUstream stream) { return of(stream).capture != nullptr; }

CUresult invalidate(CUstream stream, CUresult result) {
  Lock lock(mutex);
  return spoil(of(stream), result);
}

CUresult submit(CUstream handle, const std::function<void()> &work) {
  Stream &stream = of(handle);
  if (!stream.capture) {
    work();
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
  return sprt::test::submit(stream, work);
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(new Stream);
  return entered();
}
CUresult cuStreamDestroy(CUstream stream) {
  delete &of(stream);
  return entered();
}
CUresult cuStreamQuery(CUstream stream) {
  if (sprt::test::captured(stream))
    return sprt::test::invalidate(stream,
                                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (fakeCuda()->failed)
    return CUDA_ERROR_LAUNCH_FAILED;
  // Done at every second look.
  bool done = ++of(stream).looks % 2 == 0;
  return fakeCuda()->stuck || !done ? CUDA_ERROR_NOT_READY : entered();
}
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  Stream &stream = of(handle);
  auto &awaited = *reinterpret_cast<Event *>(event);
  if (!awaited.capture) {
    Lock lock(mutex);
    return stream.capture ? spoil(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                          : entered();
  }
  if (awaited.capture->ended)
    return CUDA_ERROR_CAPTURED_EVENT;
  if (stream.capture && stream.capture != awaited.capture)
    return sprt::test::invalidate(handle, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  {
    Lock lock(mutex);
    stream.capture = awaited.capture;
    stream.capture->streams.insert(&stream);
  }
  return add(stream, [&] {
    merge(stream.seen, awaited.seen);
    return entered();
  });
}

CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new Event);
  return entered();
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<Event *>(event);
  return entered();
}
CUresult cuEventRecordWithFlags(CUevent handle, CUstream streamHandle,
                                unsigned flags) {
  Stream &stream = of(streamHandle);
  auto *event = reinterpret_cast<Event *>(handle);
  bool external = flags == CU_EVENT_RECORD_EXTERNAL;
  if (!stream.capture) {
    mark(*event);
    return external ? CUDA_ERROR_INVALID_VALUE : entered();
  }
  if (external)
    return sprt::test::submit(streamHandle, [event] { mark(*event); });
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
  return fakeCuda()->stuck ? CUDA_ERROR_NOT_READY : entered();
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

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
  Lock lock(mutex);
  Stream &stream = of(handle);
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->streams.insert(&stream);
  ++fakeCuda()->captures;
  return entered();
}
CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  Lock lock(mutex);
  Stream &origin = of(handle);
  std::shared_ptr<Capture> capture = origin.capture;
  if (!capture || capture->origin != &origin)
    return CUDA_ERROR_ILLEGAL_STATE;
  bool joined = true;
  for (Stream *stream : capture->streams) {
    joined &= origin.seen[stream] >= stream->seen[stream];
    stream->capture = nullptr;
  }
  for (Stream *stream : capture->streams)
    stream->seen.clear();
  capture->ended = true;
  --fakeCuda()->captures;
  *graph = nullptr;
  if (!capture->valid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!joined)
    return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  *graph = reinterpret_cast<CUgraph>(new Work(capture->work));
  ++fakeCuda()->graphs;
  return entered();
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *run, CUgraph graph,
                                     unsigned long long) {
  *run =
      reinterpret_cast<CUgraphExec>(new Work(*reinterpret_cast<Work *>(graph)));
  ++fakeCuda()->graphs;
  return entered();
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Work *>(graph);
  --fakeCuda()->graphs;
  return entered();
}
CUresult cuGraphExecDestroy(CUgraphExec run) {
  delete reinterpret_cast<Work *>(run);
  --fakeCuda()->graphs;
  return entered();
}
CUresult cuGraphLaunch(CUgraphExec run, CUstream stream) {
  ++fakeCuda()->graphLaunches;
  for (const auto &work : *reinterpret_cast<Work *>(run))
    work();
  return sprt::test::captured(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                      : entered();
}

} // extern "C"
