#include "device/LaunchLog.h"

namespace sprt {

namespace {

/// Events that a stream may have before those that were passed are used again.
constexpr size_t kManyLaunched = 64;
/// Kernels of a recorded run that a status names.
constexpr size_t kMostNames = 4;

std::string nameOf(const LaunchLog::Launch &launch) {
  return launch.kernel ? "kernel \"" + *launch.kernel + "\""
                       : "a matrix product";
}

} // namespace

Status LaunchLog::note(const Device::Stream &stream, CUstream handle,
                       const Launch &launch) {
  std::lock_guard<std::mutex> lock(mutex);
  std::deque<Entry> &entries = given[&stream];
  if (entries.size() >= kManyLaunched)
    forgetEnded(entries);
  Entry entry{0, launch, stream.origin};
  if (Status failure = events.take(false, entry.event))
    return failure;
  entry.number = ++count;
  entries.push_back(entry);
  SPRT_CALL(gpu, cuEventRecordWithFlags, entry.event, handle,
            CU_EVENT_RECORD_DEFAULT);
  return Status::success();
}

void LaunchLog::noteRecorded(const Launch &launch) {
  std::lock_guard<std::mutex> lock(mutex);
  recordedKernels.insert(nameOf(launch));
}

void LaunchLog::forget(const Device::Stream &stream) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Entry &entry : given[&stream])
    events.giveBack(false, entry.event);
  given.erase(&stream);
}

void LaunchLog::forgetEnded(std::deque<Entry> &entries) {
  while (!entries.empty() &&
         gpu.driver.cuEventQuery(entries.front().event) == CUDA_SUCCESS) {
    events.giveBack(false, entries.front().event);
    entries.pop_front();
    ++ended;
  }
}

std::optional<LaunchLog::Running> LaunchLog::findRunning(uint64_t &out_ended) {
  std::lock_guard<std::mutex> lock(mutex);
  const Entry *first = nullptr;
  const Device::Stream *on = nullptr;
  for (auto &[stream, entries] : given) {
    forgetEnded(entries);
    if (entries.empty() || (first && first->number < entries.front().number))
      continue;
    first = &entries.front();
    on = stream;
  }
  out_ended = ended;
  if (!first)
    return std::nullopt;
  return Running{on->rank, first->launch.isReplay, describe(first->launch, *on),
                 first->origin};
}

std::string LaunchLog::describe(const Launch &launch,
                                const Device::Stream &stream) const {
  if (!launch.isReplay)
    return nameOf(launch) +
           (stream.name.empty() ? "" : " on stream " + stream.name);
  std::string text;
  size_t named = 0;
  for (const std::string &each : recordedKernels)
    if (named++ < kMostNames)
      text += (text.empty() ? "" : ", ") + each;
  if (named > kMostNames)
    text += " and " + std::to_string(named - kMostNames) + " others";
  return "a repeated run (" + text + ")";
}

} // namespace sprt
