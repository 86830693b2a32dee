#include "executor/CpuRank.h"

#include "executor/StreamRun.h"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace sprt {

Status CpuRank::allocate(int threads, bool sharesCores) {
  hasOneThread = sharesCores;
  if (Status failure = arena.map(program.plan->arena_bytes))
    return failure;
  arenaData = arena.data();
  constantData = program.constants;
  scratches = std::vector<Region>(static_cast<size_t>(threads));
  // Every kernel uses scratch memory again and again: none pays for its pages.
  for (Region &region : scratches)
    if (Status failure =
            region.map(program.plan->scratch_bytes, /*prefault=*/true))
      return failure;
  pool = std::make_unique<TilePool>(threads, &control.stopped);
  return Status::success();
}

void CpuRank::beginRun(bool keepTrace) {
  Rank::beginRun(keepTrace);
  communicator->beginRun(keepTrace);
  pool->setLimit(control.limit);
  events = std::make_unique<EventBoard>(program.plan->events, kStreams);
  for (int stream = 0; stream < kStreams; ++stream)
    if (!program.usesStream[stream] || (hasOneThread && stream > 0))
      events->finish(stream);
}

/// The cause before its consequence; else the stream that names a peer.
static Status graver(Status a, Status b) {
  if (!a || !b)
    return a ? std::move(a) : std::move(b);
  bool isSecond = a->consequence != b->consequence
                      ? a->consequence
                      : b->peer >= 0 && a->peer < 0;
  return isSecond ? std::move(b) : std::move(a);
}

Status CpuRank::execute() {
  if (hasOneThread)
    return StreamRun(*this).run();
  Status failures[kStreams];
  std::vector<std::thread> threads;
  auto run = [&](int stream) {
    failures[stream] =
        StreamRun(*this, static_cast<plan::Stream>(stream)).run();
  };
  try {
    for (int stream = 1; stream < kStreams; ++stream)
      if (program.usesStream[stream])
        threads.emplace_back(run, stream);
  } catch (const std::system_error &error) {
    failures[0] = fail(SPRT_FAILED).about(number)
                  << "rank " << number
                  << ": no thread for a stream: " << error.what();
    control.stop(number);
  }
  if (!failures[0])
    run(0);
  for (std::thread &thread : threads)
    thread.join();
  Status failure;
  for (Status &each : failures)
    failure = graver(std::move(failure), std::move(each));
  return failure;
}

void CpuRank::interrupt() { events->interrupt(); }

int64_t CpuRank::peakBytes() const {
  int64_t most = 0;
  for (const Region &region : scratches)
    most = std::max(most, region.residentBytes());
  return arena.residentBytes() + most;
}

Status CpuRank::place(const Placement &placement, const std::byte *global,
                      std::byte *local) {
  placement.scatter(global, local, 0, placement.localBytes());
  return Status::success();
}

Status CpuRank::collect(const Placement &placement, const std::byte *local,
                        std::byte *global) {
  placement.gather(local, 0, placement.localBytes(), global);
  return Status::success();
}

Status CpuRank::copy(std::byte *target, const std::byte *source,
                     int64_t bytes) {
  std::memcpy(target, source, static_cast<size_t>(bytes));
  return Status::success();
}

Status CpuRank::store(std::byte *target, const std::byte *source,
                      int64_t bytes) {
  return copy(target, source, bytes);
}

Status CpuRank::fetch(const std::byte *local, int64_t,
                      const std::byte *&out_data) {
  out_data = local;
  return Status::success();
}

} // namespace sprt
