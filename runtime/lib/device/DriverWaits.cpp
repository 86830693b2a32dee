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

/// All of the process, which ends without them.
struct GivenUp {
  std::mutex mutex;
  std::vector<DriverDevice *> devices;
  std::vector<std::unique_ptr<DriverDevice>> kept; ///< have no other owner
};

GivenUp &givenUp() {
  static auto &all = *new GivenUp;
  return all;
}

} // namespace

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
  if (gpu.enter())
    return true;
  std::lock_guard<std::mutex> lock(mutex);
  auto works = [&](CUstream stream) {
    return gpu.driver.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
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
    if (other.gpu.device != gpu.device) {
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
      if (each->gpu.device == gpu.device) {
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
    if (each->gpu.device == gpu.device)
      freed.push_back(std::move(each));
  all.kept.erase(std::remove(all.kept.begin(), all.kept.end(), nullptr),
                 all.kept.end());
  return Status::success();
}

Device::Fault DriverDevice::OwnStream::look(Limit limit, Wait &wait) {
  uint64_t ended = 0;
  std::optional<LaunchLog::Running> running =
      device.launches.findRunning(ended);
  auto now = SteadyClock::now();
  if (ended != wait.ended) {
    wait = {now, ended};
    return {};
  }
  // Of a replay, nobody knows whose kernel it is.
  bool isReplay = running && running->isReplay;
  bool isOwn = isReplay || (running && running->rank == rank);
  if (isOwn)
    limit =
        Limit(isReplay ? device.replayLimit.load() : device.kernelLimit.load());
  if (now - wait.since <= limit)
    return {};
  Failure failure = fail(SPRT_TIMEOUT);
  failure.about(running && !isReplay ? running->rank : rank)
      << "waited " << limit.count() << " s for " << gpu.name;
  if (!running)
    return {failure, nullptr};
  failure << ": " << running->text
          << " has not ended; --timeout=<seconds> lets it take longer";
  return {failure, running->origin};
}

void DriverDevice::interrupt() {
  // Not every rank comes to wait for what it has launched.
  giveUp(kPatience, "");
  stopped.store(true);
}

Device::Fault DriverDevice::OwnStream::interrupted() {
  Failure failure = fail(SPRT_FAILED);
  failure.asConsequence() << "stopped";
  Fault fault;
  std::string reason;
  uint64_t ended = 0;
  if (auto running = device.launches.findRunning(ended)) {
    failure << " before the end of " << running->text;
    if (!running->isReplay)
      failure.about(running->rank);
    fault.origin = running->origin;
    reason = running->text + " had not ended";
  }
  device.giveUp(kPatience, std::move(reason));
  fault.status = failure;
  return fault;
}

Device::Fault DriverDevice::OwnStream::synchronise(Limit limit) {
  if (Status failure = gpu.enter())
    return {std::move(failure), nullptr};
  Wait wait = {SteadyClock::now(), 0};
  auto looked = wait.since;
  std::chrono::microseconds pause = kShortestPause;
  for (;;) {
    CUresult result = gpu.driver.cuStreamQuery(turn());
    if (result != CUDA_ERROR_NOT_READY)
      return {gpu.check(result, "cuStreamQuery"), nullptr};
    if (device.stopped.load())
      return interrupted();
    auto now = SteadyClock::now();
    if (watch)
      if (Fault fault = watch(now - wait.since > limit); fault.status) {
        device.giveUp(kPatience, "");
        return fault;
      }
    if (now - looked >= std::min<Limit>(kLook, limit / 4)) {
      looked = now;
      if (Fault fault = look(limit, wait); fault.status) {
        const std::string &text = fault.status->text;
        device.giveUp(Limit(0), text.substr(0, text.find(';')));
        return fault;
      }
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

} // namespace sprt
