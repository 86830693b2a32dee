#include "executor/EventBoard.h"

namespace sprt {

bool EventBoard::satisfied(const Wait &wait) const {
  switch (wait.kind) {
  case Wait::event:
    return recorded[wait.number] >= wait.count;
  case Wait::decision:
    return decisions.size() > wait.number;
  case Wait::finished:
    return false;
  case Wait::none:
    return true;
  }
  return true;
}

bool EventBoard::deadlocked() const {
  for (const Wait &wait : waits)
    if (satisfied(wait))
      return false;
  return true;
}

Status EventBoard::sleep(std::unique_lock<std::mutex> &lock, int stream,
                         const Wait &wait) {
  if (!satisfied(wait)) {
    waits[static_cast<size_t>(stream)] = wait;
    if (deadlocked())
      changed.notify_all();
    changed.wait(lock,
                 [&] { return satisfied(wait) || stopped || deadlocked(); });
    bool never = !satisfied(wait) && !stopped;
    // A deadlock stays one for the other streams: their waits are not satisfied
    // by ours.
    if (!never)
      waits[static_cast<size_t>(stream)] = Wait();
    if (never)
      return fail(SPRT_FAILED)
             << "waits for event " << wait.number
             << " that no other stream will record: the plan deadlocks";
  }
  if (stopped && !satisfied(wait))
    return fail(SPRT_FAILED).asConsequence() << "stopped waiting for an event";
  return Status::success();
}

Status EventBoard::await(int stream, uint32_t event, int64_t count) {
  std::unique_lock<std::mutex> lock(mutex);
  Wait wait;
  wait.kind = Wait::event;
  wait.number = event;
  wait.count = count;
  return sleep(lock, stream, wait);
}

void EventBoard::record(uint32_t event) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++recorded[event];
  }
  changed.notify_all();
}

Status EventBoard::awaitDecision(int stream, size_t index, int64_t &out_value) {
  std::unique_lock<std::mutex> lock(mutex);
  Wait wait;
  wait.kind = Wait::decision;
  wait.number = static_cast<uint32_t>(index);
  if (Status failure = sleep(lock, stream, wait))
    return failure;
  out_value = decisions[index];
  return Status::success();
}

void EventBoard::decide(int64_t value) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    decisions.push_back(value);
  }
  changed.notify_all();
}

void EventBoard::finish(int stream) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    waits[static_cast<size_t>(stream)].kind = Wait::finished;
  }
  changed.notify_all();
}

void EventBoard::interrupt() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopped = true;
  }
  changed.notify_all();
}

} // namespace sprt
