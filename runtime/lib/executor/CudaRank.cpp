#include "executor/CudaRank.h"

#include "executor/CudaRun.h"

namespace sprt {

CudaRank::~CudaRank() {
  for (std::byte *data : tableMemory)
    device->release(data);
  if (arenaData)
    device->release(arenaData);
}

Status CudaRank::allocate(const std::byte *constants) {
  constantData = constants;
  for (uint32_t event = 0; event < program.plan->events; ++event)
    if (Status failure = device->createEvent(false, events.emplace_back()))
      return failure;
  return device->allocate(program.plan->arena_bytes, arenaData);
}

void CudaRank::beginRun(bool keepTrace) {
  Rank::beginRun(keepTrace);
  spanCount = 0;
  device->threadsRun(1);
}

void CudaRank::endRun() { device->threadsRun(-1); }

void CudaRank::interrupt() { device->interrupt(); }

Status CudaRank::execute() {
  // Inputs have arrived, and the host knows when the device's clock began.
  std::unique_ptr<Device::Event> origin;
  if (Status failure = device->createEvent(true, origin))
    return failure;
  if (Status failure = device->record(*origin, stream(0)))
    return failure;
  CudaRun run(*this);
  if (Status failure = run.synchronise(0))
    return failure;
  Clock::time_point begin = Clock::now();
  if (Status failure = run.run())
    return failure;
  return measure(*origin, begin);
}

Status CudaRank::measure(const Device::Event &origin, Clock::time_point begin) {
  const Device::Event *last[kStreams] = {&origin, &origin, &origin};
  for (size_t i = 0; i < spanCount; ++i) {
    const Span &span = spans[i];
    double start = 0, worked = 0, waited = 0;
    if (Status failure = device->elapsed(origin, *span.begin, start))
      return failure;
    if (Status failure = device->elapsed(*span.begin, *span.end, worked))
      return failure;
    if (Status failure =
            device->elapsed(*last[span.stream], *span.begin, waited))
      return failure;
    last[span.stream] = span.end.get();
    CommandTime &time = times[static_cast<size_t>(span.command)];
    ++time.runs;
    time.seconds += worked;
    time.waitSeconds += waited;
    if (!tracing)
      continue;
    auto at = [&](double seconds) {
      return begin + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(seconds));
    };
    trace[span.stream].push_back(
        {span.command, span.step, at(start), at(start + worked)});
    for (size_t flow = span.firstFlow; flow < span.lastFlow; ++flow) {
      bool sends = communicator->flows(span.stream)[flow].sends;
      communicator->moveFlow(span.stream, flow,
                             at(sends ? start : start + worked));
    }
  }
  return Status::success();
}

Status CudaRank::place(const Placement &placement, const std::byte *global,
                       std::byte *local) {
  staging.resize(static_cast<size_t>(placement.localBytes()));
  placement.scatter(global, staging.data());
  return device->upload(stream(0), local, staging.data(),
                        placement.localBytes());
}

Status CudaRank::fetch(const std::byte *local, int64_t bytes,
                       const std::byte *&out_data) {
  staging.resize(static_cast<size_t>(bytes));
  out_data = staging.data();
  if (Status failure =
          device->copy(stream(0), denseMessage(staging.data(), bytes),
                       denseMessage(const_cast<std::byte *>(local), bytes)))
    return failure;
  return CudaRun(*this).synchronise(0);
}

} // namespace sprt
