#include "executor/DeviceRank.h"

#include "executor/DeviceRun.h"
#include "program/Role.h"

namespace sprt {

DeviceRank::~DeviceRank() {
  releaseTables();
  for (std::byte *data : {scratch, farData, arenaData})
    if (data)
      device->release(data);
}

Status DeviceRank::allocate(const std::byte *constants) {
  constantData = constants;
  for (uint32_t event = 0; event < program.plan->events; ++event)
    if (Status failure = device->createEvent(false, events.emplace_back()))
      return failure;
  if (program.plan->scratch_bytes > 0)
    if (Status failure = device->allocate(program.plan->scratch_bytes, scratch))
      return failure;
  if (int64_t bytes = program.plan->far_bytes; bytes > 0)
    if (Status failure = device->allocateHost(bytes, farData))
      return std::move(failure).within("far memory");
  if (Status failure = staging.open())
    return failure;
  return device->allocate(program.plan->arena_bytes, arenaData);
}

void DeviceRank::beginRun(bool keepTrace) {
  Rank::beginRun(keepTrace);
  // A repeated run has the transfers and the spans of the recorded one.
  if (!recorded) {
    communicator->beginRun(keepTrace);
    farRead = farWritten = 0;
    spanCount = 0;
  }
  // Of a replay nobody sees how it goes on, but how long its kernels took.
  if (control.limit)
    device->limitWork(*control.limit, *control.limit + 2 * firstRun);
}

void DeviceRank::show(const Bindings &ofRun) {
  Rank::show(ofRun);
  releaseTables();
}

void DeviceRank::releaseTables() {
  for (std::byte *data : tableMemory)
    device->release(data);
  tableMemory.clear();
  tables.clear();
  numbers.clear();
}

void DeviceRank::beginThread() { device->threadsRun(1); }

void DeviceRank::endThread() { device->threadsRun(-1); }

void DeviceRank::interrupt() { device->interrupt(); }

/// Whether a run puts the same work on streams as the one before, without ever
/// waiting for them. Documents may change it.
static bool repeats(const Program &program, const Device &device) {
  if (!program.plan->documents.empty())
    return false;
  for (const Step *step : program.stepOf)
    if (Role role = roleOf(*step->command);
        role == Role::decides || role == Role::reduces)
      return false;
  // To ranks elsewhere, NCCL moves the data. Its calls could be recorded as
  // well, which nobody has tried.
  return static_cast<int64_t>(device.ranks()) == program.ranks();
}

Status DeviceRank::execute() {
  // Inputs have arrived, and the host knows when the device's clock began.
  std::unique_ptr<Device::Event> origin;
  if (timing) {
    if (Status failure = device->createEvent(true, origin))
      return failure;
    if (Status failure = stream(0).record(*origin))
      return failure;
  }
  DeviceRun run(*this);
  if (Status failure = run.synchronise(0))
    return failure;
  Clock::time_point begin = Clock::now();
  bool first = !hasRun;
  hasRun = true;
  if (Status failure =
          first || !repeats(program, *device) ? run.give() : repeat(run))
    return failure;
  if (Status failure = run.finish())
    return failure;
  if (first)
    firstRun = Clock::now() - begin;
  return timing ? measure(*origin, begin) : Status::success();
}

Status DeviceRank::repeat(DeviceRun &run) {
  auto blame = [&](Status failure) {
    if (failure)
      failure->rank = number;
    return std::move(failure).within("rank " + std::to_string(number) +
                                     ", repeating the last run");
  };
  if (!recorded) {
    std::vector<Device::Stream *> all;
    for (int each = 0; each < kStreams; ++each)
      all.push_back(&stream(each));
    if (Status failure = blame(device->beginRecording(all)))
      return failure;
    if (Status failure = run.give())
      return failure;
    if (Status failure = blame(device->endRecording()))
      return failure;
    recorded = true;
  }
  if (Status failure = blame(device->replay()))
    return failure;
  // The last rank starts the work of all.
  return blame(
      barrier(*communicator, kControlChannel, allRanks(*communicator)));
}

Status DeviceRank::measure(const Device::Event &origin,
                           Clock::time_point begin) {
  const Device::Event *last[kStreams];
  std::fill(std::begin(last), std::end(last), &origin);
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
        {span.command, span.counters, at(start), at(start + worked)});
    for (size_t flow = span.firstFlow; flow < span.lastFlow; ++flow) {
      bool sends = communicator->flows(span.stream)[flow].sends;
      communicator->moveFlow(span.stream, flow,
                             at(sends ? start : start + worked));
    }
  }
  return Status::success();
}

Status DeviceRank::place(const Placement &placement, const std::byte *global,
                         std::byte *local) {
  if (isFar(local)) {
    // What is moved out of there comes first.
    if (Status failure = DeviceRun(*this).synchronise(0))
      return failure;
    placement.scatter(global, local, 0, placement.localBytes());
    return Status::success();
  }
  return staging.send(
      local, placement.localBytes(),
      [&](std::byte *part, int64_t first, int64_t size) {
        placement.scatter(global, part, first, size);
      },
      stream(0), communicator->timeout);
}

Status DeviceRank::collect(const Placement &placement, const std::byte *local,
                           std::byte *global) {
  if (isFar(local)) {
    placement.gather(local, 0, placement.localBytes(), global);
    return Status::success();
  }
  return staging.receive(
      local, placement.localBytes(),
      [&](const std::byte *part, int64_t first, int64_t size) {
        placement.gather(part, first, size, global);
      },
      communicator->timeout);
}

Status DeviceRank::copy(std::byte *target, const std::byte *source,
                        int64_t bytes) {
  return stream(0).copy(denseMessage(target, bytes),
                        denseMessage(const_cast<std::byte *>(source), bytes));
}

Status DeviceRank::store(std::byte *target, const std::byte *source,
                         int64_t bytes) {
  return stream(0).upload(target, source, bytes);
}

Status DeviceRank::fetch(const std::byte *local, int64_t bytes,
                         const std::byte *&out_data) {
  if (Status failure = DeviceRun(*this).synchronise(0))
    return failure;
  fetched.resize(static_cast<size_t>(bytes));
  out_data = fetched.data();
  if (Status failure =
          stream(0).copy(denseMessage(fetched.data(), bytes),
                         denseMessage(const_cast<std::byte *>(local), bytes)))
    return failure;
  return DeviceRun(*this).synchronise(0);
}

} // namespace sprt
