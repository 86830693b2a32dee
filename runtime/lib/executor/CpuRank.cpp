#include "executor/CpuRank.h"

#include "executor/StreamRun.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <system_error>

namespace sprt {

/// Of far memory, that the host reads or writes at once.
static constexpr int64_t kPartBytes = int64_t(1) << 20;

Status CpuRank::allocate(int threads, bool sharesCores,
                         const char *farDirectory) {
  hasOneThread = sharesCores;
  if (Status failure = arena.map(program.plan->arena_bytes))
    return failure;
  arenaData = arena.data();
  if (int64_t bytes = program.plan->far_bytes; bytes > 0)
    if (Status failure = openFarStore(bytes, farDirectory, far))
      return failure;
  farData = far ? far->base() : nullptr;
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
  farRead = farWritten = 0;
  pool->setLimit(control.limit);
  events = std::make_unique<EventBoard>(program.plan->events, kStreams);
  for (int stream = 0; stream < kStreams; ++stream)
    if (!program.usesStream[stream] || (hasOneThread && stream > 0))
      events->finish(stream);
}

void CpuRank::show(const Bindings &ofRun) {
  Rank::show(ofRun);
  for (auto &ofStream : slices)
    ofStream.clear();
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
  double helpersBefore = pool->helperSeconds(), seconds[kStreams] = {};
  Status failures[kStreams];
  std::vector<std::thread> threads;
  auto run = [&](int stream) {
    double before = threadSeconds();
    failures[stream] =
        hasOneThread
            ? StreamRun(*this).run()
            : StreamRun(*this, static_cast<plan::Stream>(stream)).run();
    seconds[stream] = threadSeconds() - before;
  };
  try {
    for (int stream = 1; stream < kStreams; ++stream)
      if (program.usesStream[stream] && !hasOneThread)
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
  busySeconds = pool->helperSeconds() - helpersBefore;
  for (double each : seconds)
    busySeconds += each;
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

Status CpuRank::inParts(
    const std::byte *local, int64_t bytes,
    const std::function<Status(std::byte *part, int64_t first, int64_t size)>
        &work) {
  std::vector<std::byte> part(static_cast<size_t>(std::min(bytes, kPartBytes)));
  for (int64_t first = 0; first < bytes; first += kPartBytes)
    if (Status failure = work(part.data(), local - farData + first,
                              std::min(kPartBytes, bytes - first)))
      return failure;
  return Status::success();
}

Status CpuRank::place(const Placement &placement, const std::byte *global,
                      std::byte *local) {
  int64_t bytes = placement.localBytes();
  if (!Rank::isFar(local)) {
    placement.scatter(global, local, 0, bytes);
    return Status::success();
  }
  int64_t begin = local - farData;
  return inParts(local, bytes, [&](std::byte *part, int64_t at, int64_t size) {
    placement.scatter(global, part, at - begin, size);
    return far->write(at, part, size);
  });
}

Status CpuRank::collect(const Placement &placement, const std::byte *local,
                        std::byte *global) {
  int64_t bytes = placement.localBytes();
  if (!Rank::isFar(local)) {
    placement.gather(local, 0, bytes, global);
    return Status::success();
  }
  int64_t begin = local - farData;
  return inParts(local, bytes, [&](std::byte *part, int64_t at, int64_t size) {
    Status failure = far->read(part, at, size);
    if (!failure)
      placement.gather(part, at - begin, size, global);
    return failure;
  });
}

Status CpuRank::copy(std::byte *target, const std::byte *source,
                     int64_t bytes) {
  bool evicts = Rank::isFar(target), fetches = Rank::isFar(source);
  if (evicts && fetches)
    return inParts(source, bytes,
                   [&](std::byte *part, int64_t at, int64_t size) {
                     if (Status failure = far->read(part, at, size))
                       return failure;
                     return far->write(at + (target - source), part, size);
                   });
  if (evicts)
    return far->write(target - farData, source, bytes);
  if (fetches)
    return far->read(target, source - farData, bytes);
  std::memcpy(target, source, static_cast<size_t>(bytes));
  return Status::success();
}

Status CpuRank::store(std::byte *target, const std::byte *source,
                      int64_t bytes) {
  return copy(target, source, bytes);
}

Status CpuRank::fetch(const std::byte *local, int64_t bytes,
                      const std::byte *&out_data) {
  out_data = local;
  if (!Rank::isFar(local))
    return Status::success();
  fetched.resize(static_cast<size_t>(bytes));
  out_data = fetched.data();
  return far->read(fetched.data(), local - farData, bytes);
}

} // namespace sprt
