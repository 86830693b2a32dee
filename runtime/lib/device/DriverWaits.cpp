// How a GPU's streams are waited for, and what becomes of it when that was in
// vain: see DriverDevice.h.

#include "device/DriverHandles.h"

#include <algorithm>
#include <thread>

namespace sprt {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// Pauses between two looks at a stream: short at first for latency, then long
/// enough to cost the waiting rank little of a core.
constexpr std::chrono::microseconds kShortestPause(10);
constexpr std::chrono::microseconds kLongestPause(500);
/// How often who waits looks for kernels that have ended.
constexpr std::chrono::milliseconds kLook(20);
/// How long work that was interrupted may go on: as a rule it ends soon, and
/// its memory is then free for what comes next.
constexpr std::chrono::duration<double> kPatience(1);
/// Events that a stream may have before those that were passed are used again.
constexpr size_t kManyLaunched = 64;
/// Kernels of a recorded run that a status names.
constexpr size_t kMostNames = 4;

} // namespace

/// All of the process, which ends without them.
struct DriverDevice::GivenUp {
  std::mutex mutex;
  std::vector<DriverDevice *> devices;
  std::vector<std::unique_ptr<DriverDevice>> kept; ///< have no other owner
};

DriverDevice::GivenUp &DriverDevice::givenUp() {
  static auto &all = *new GivenUp;
  return all;
}

void DriverDevice::giveUp(std::chrono::duration<double> patience,
                          std::string reason) {
  GivenUp &all = givenUp();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto end = SteadyClock::now() +
             std::chrono::duration_cast<SteadyClock::duration>(patience);
  auto found = std::find(all.devices.begin(), all.devices.end(), this);
  if (found == all.devices.end())
    all.devices.push_back(this);
  else
    end = std::min(end, patienceEnds);
  patienceEnds = end;
  if (!reason.empty())
    givenUpBecause = std::move(reason);
}

bool DriverDevice::isBusy() {
  if (enter())
    return true;
  std::lock_guard<std::mutex> lock(mutex);
  auto works = [&](CUstream stream) {
    return driver.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
  };
  return std::any_of(streams.begin(), streams.end(),
                     [&](OwnStream *each) { return works(each->stream); }) ||
         std::any_of(strays.begin(), strays.end(), works);
}

bool DriverDevice::mayFree() {
  GivenUp &all = givenUp();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (size_t i = 0; i < all.devices.size();) {
    DriverDevice &other = *all.devices[i];
    if (other.device != device) {
      ++i;
      continue;
    }
    while (other.isBusy()) {
      if (SteadyClock::now() >= other.patienceEnds)
        return false;
      std::this_thread::sleep_for(kLongestPause);
    }
    all.devices.erase(all.devices.begin() + static_cast<ptrdiff_t>(i));
  }
  return true;
}

void DriverDevice::leave(DriverDevice *device) {
  std::unique_ptr<DriverDevice> owner(device);
  if (device->mayFree())
    return;
  GivenUp &all = givenUp();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.kept.push_back(std::move(owner));
}

Status DriverDevice::reclaim() {
  GivenUp &all = givenUp();
  std::string reason;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    for (DriverDevice *each : all.devices)
      if (each->device == device) {
        each->patienceEnds =
            SteadyClock::now() +
            std::chrono::duration_cast<SteadyClock::duration>(kPatience);
        reason = each->givenUpBecause;
      }
  }
  if (!mayFree())
    return fail(SPRT_FAILED) << capability().name
                             << " still does what a run that has failed gave "
                             << "it" << (reason.empty() ? "" : ": ") << reason
                             << "; wait for its end, or start another process";
  std::vector<std::unique_ptr<DriverDevice>> freed;
  std::lock_guard<std::mutex> lock(all.mutex);
  for (std::unique_ptr<DriverDevice> &each : all.kept)
    if (each->device == device)
      freed.push_back(std::move(each));
  all.kept.erase(std::remove(all.kept.begin(), all.kept.end(), nullptr),
                 all.kept.end());
  return Status::success();
}

Status DriverDevice::note(OwnStream &stream, Launched work) {
  std::lock_guard<std::mutex> lock(mutex);
  if (stream.records) {
    recordedKernels.insert(work.kernel ? "kernel \"" + *work.kernel + "\""
                                       : "a matrix product");
    return Status::success();
  }
  if (stream.launched.size() >= kManyLaunched)
    forgetEnded(stream);
  if (Status failure = takeEvent(false, work.event))
    return failure;
  work.number = ++given;
  work.origin = stream.origin;
  stream.launched.push_back(work);
  SPRT_CALL(cuEventRecordWithFlags, work.event, stream.stream,
            CU_EVENT_RECORD_DEFAULT);
  return Status::success();
}

void DriverDevice::forgetEnded(OwnStream &stream) {
  std::deque<Launched> &all = stream.launched;
  while (!all.empty() &&
         driver.cuEventQuery(all.front().event) == CUDA_SUCCESS) {
    spareEvents[false].push_back(all.front().event);
    all.pop_front();
    ++ended;
  }
}

const DriverDevice::Launched *
DriverDevice::findRunning(OwnStream *&out_stream) {
  const Launched *first = nullptr;
  for (OwnStream *stream : streams) {
    forgetEnded(*stream);
    if (stream->launched.empty())
      continue;
    const Launched &oldest = stream->launched.front();
    if (first && first->number < oldest.number)
      continue;
    first = &oldest;
    out_stream = stream;
  }
  return first;
}

std::string DriverDevice::describe(const Launched &running,
                                   const OwnStream &stream) const {
  std::string text;
  if (!running.isReplay) {
    text = running.kernel ? "kernel \"" + *running.kernel + "\""
                          : "a matrix product";
    if (!stream.name.empty())
      text += " on stream " + stream.name;
    return text;
  }
  size_t named = 0;
  for (const std::string &each : recordedKernels)
    if (named++ < kMostNames)
      text += (text.empty() ? "" : ", ") + each;
  if (named > kMostNames)
    text += " and " + std::to_string(named - kMostNames) + " others";
  return "a repeated run (" + text + ")";
}

Device::Fault DriverDevice::look(OwnStream &stream, Limit limit, Wait &wait) {
  std::lock_guard<std::mutex> lock(mutex);
  OwnStream *on = nullptr;
  const Launched *running = findRunning(on);
  auto now = SteadyClock::now();
  if (ended != wait.ended) {
    wait = {now, ended};
    return {};
  }
  // Of a replay, nobody knows whose kernel it is.
  bool isReplay = running && running->isReplay;
  bool isOwn = isReplay || (running && on->rank == stream.rank);
  if (isOwn)
    limit = Limit(isReplay ? replayLimit.load() : kernelLimit.load());
  if (now - wait.since <= limit)
    return {};
  Failure failure = fail(SPRT_TIMEOUT);
  failure.about(running && !isReplay ? on->rank : stream.rank)
      << "waited " << limit.count() << " s for " << capability().name;
  if (!running)
    return {failure, nullptr};
  failure << ": " << describe(*running, *on)
          << " has not ended; --timeout=<seconds> lets it take longer";
  return {failure, running->origin};
}

void DriverDevice::interrupt() {
  // Not every rank comes to wait for what it has launched.
  giveUp(kPatience, "");
  stopped.store(true);
}

Device::Fault DriverDevice::interrupted() {
  Failure failure = fail(SPRT_FAILED);
  failure.asConsequence() << "stopped";
  Fault fault;
  std::string reason;
  {
    std::lock_guard<std::mutex> lock(mutex);
    OwnStream *on = nullptr;
    if (const Launched *running = findRunning(on)) {
      reason = describe(*running, *on);
      failure << " before the end of " << reason;
      if (!running->isReplay)
        failure.about(on->rank);
      fault.origin = running->origin;
      reason += " had not ended";
    }
  }
  giveUp(kPatience, std::move(reason));
  fault.status = failure;
  return fault;
}

Device::Fault DriverDevice::synchronise(Stream &awaited, Limit limit) {
  auto &stream = static_cast<OwnStream &>(awaited);
  if (Status failure = enter())
    return {std::move(failure), nullptr};
  Wait wait = {SteadyClock::now(), 0};
  auto looked = wait.since;
  std::chrono::microseconds pause = kShortestPause;
  for (;;) {
    CUresult result = driver.cuStreamQuery(handleOf(stream));
    if (result != CUDA_ERROR_NOT_READY)
      return {check(result, "cuStreamQuery"), nullptr};
    if (stopped.load())
      return interrupted();
    auto now = SteadyClock::now();
    if (stream.watch)
      if (Fault fault = stream.watch(now - wait.since > limit); fault.status) {
        giveUp(kPatience, "");
        return fault;
      }
    if (now - looked >= std::min<Limit>(kLook, limit / 4)) {
      looked = now;
      if (Fault fault = look(stream, limit, wait); fault.status) {
        const std::string &text = fault.status->text;
        giveUp(Limit(0), text.substr(0, text.find(';')));
        return fault;
      }
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

} // namespace sprt
