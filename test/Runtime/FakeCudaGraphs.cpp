// Captures and graphs of the libcuda.so.1 of FakeCuda.h.

#include "FakeCudaStreams.h"

using namespace sprt::test;

extern "C" {

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode) {
  StreamLock lock(streamMutex);
  Stream &stream = of(handle);
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->streams.insert(&stream);
  ++fakeCuda()->captures;
  return entered();
}
CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  StreamLock lock(streamMutex);
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
  waitForStreams();
  delete reinterpret_cast<Work *>(run);
  --fakeCuda()->graphs;
  return entered();
}
CUresult cuGraphLaunch(CUgraphExec run, CUstream stream) {
  ++fakeCuda()->graphLaunches;
  perform(stream, *reinterpret_cast<Work *>(run));
  return captured(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : entered();
}

} // extern "C"
