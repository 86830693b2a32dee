#include "executor/Rank.h"

#include "executor/StreamRun.h"

#include <algorithm>
#include <system_error>

namespace sprt {

void RunControl::stop(int64_t rank) {
  int64_t none = -1;
  culprit.compare_exchange_strong(none, rank);
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopped.store(true, std::memory_order_release);
  }
  stopping.notify_all();
  interruptRanks();
}

Status Rank::allocate(int threads) {
  if (Status failure = arena.map(program.plan->arena_bytes))
    return failure;
  scratches = std::vector<Region>(static_cast<size_t>(threads));
  // Every kernel uses scratch memory again and again: none pays for its pages.
  for (Region &region : scratches)
    if (Status failure =
            region.map(program.plan->scratch_bytes, /*prefault=*/true))
      return failure;
  pool = std::make_unique<TilePool>(threads);
  return Status::success();
}

void Rank::beginRun(bool keepTrace) {
  tracing = keepTrace;
  seconds = 0;
  times.assign(program.stepOf.size(), {});
  for (std::vector<TraceEvent> &stream : trace)
    stream.clear();
  communicator->beginRun(keepTrace);
  events = std::make_unique<EventBoard>(program.plan->events, kStreams);
  for (int stream = 0; stream < kStreams; ++stream)
    if (!program.usesStream[stream])
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

Status Rank::execute() {
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

int64_t Rank::peakBytes() const {
  int64_t most = 0;
  for (const Region &region : scratches)
    most = std::max(most, region.residentBytes());
  return arena.residentBytes() + most;
}

Status Rank::resolve(const plan::ViewT &view, const Scope &scope,
                     std::byte *&out_data) const {
  int64_t offset = 0;
  if (Status failure = evaluate(*view.offset, scope, offset))
    return failure;
  bool inArena = view.space == plan::Space::arena;
  int64_t space =
      inArena ? program.plan->arena_bytes : program.plan->constant_bytes;
  if (offset < 0 || offset > space - view.bytes)
    return fail(SPRT_DAMAGED)
           << "bytes " << offset << " to " << offset + view.bytes << " of "
           << (inArena ? "an arena" : "constants") << " of " << space;
  out_data =
      (inArena ? arena.data() : const_cast<std::byte *>(program.constants)) +
      offset;
  return Status::success();
}

Group Rank::groupOf(uint32_t factorNumber) const {
  const plan::FactorT &factor = *program.plan->factors[factorNumber];
  Group group;
  group.index = coordinates[factorNumber];
  int64_t first = number - group.index * factor.stride;
  for (int64_t member = 0; member < factor.size; ++member)
    group.members.push_back(first + member * factor.stride);
  return group;
}

} // namespace sprt
