// The threads of a run, and who may use a session meanwhile.

#include "communicator/World.h"
#include "executor/Session.h"

#include <system_error>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sprt {

namespace {

/// How long a rank that shares its core should be left on it at a time.
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(20);

/// How often a session that is freed ends what goes on in it.
constexpr auto kEnd = std::chrono::milliseconds(10);
/// Longest wait in seconds: what a condition variable can still count.
constexpr double kLongestSeconds = 1e6;

/// Asks the scheduler for such slices, for this thread: attention works out of
/// the core's own cache, which another rank has filled when it comes back.
/// Linux before 6.12 does not heed it.
void askForSlices() {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.runtime = static_cast<uint64_t>(kSlice.count());
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// One status for all ranks, causes before consequences.
Status merge(std::vector<Status> statuses) {
  constexpr size_t kMostLines = 16;
  Status merged;
  size_t failures = 0;
  for (bool consequence : {false, true})
    for (Status &status : statuses) {
      if (!status || status->consequence != consequence)
        continue;
      if (++failures == 1)
        merged = Status(*status.operator->());
      else if (failures <= kMostLines)
        merged->text += "\n" + status->text;
    }
  if (failures > kMostLines)
    merged->text +=
        "\nand " + std::to_string(failures - kMostLines) + " more ranks";
  return merged;
}

} // namespace

Session::~Session() {
  {
    std::unique_lock<std::mutex> lock(mutex);
    auto isQuiet = [this] {
      return working == 0 && (use == idle || use == running);
    };
    while (!isQuiet()) {
      lock.unlock();
      interrupt();
      lock.lock();
      changed.wait_for(lock, kEnd, isQuiet);
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  // Local ranks must be gone before the world that carries their messages.
  local.ranks.clear();
}

Status Session::claim(Use from, Use to) const {
  std::lock_guard<std::mutex> lock(mutex);
  if (use != from)
    return fail(SPRT_BUSY)
           << "this session is in use: another call or a run that "
              "sprt_session_start began is under way; create a session for "
              "each thread";
  use = to;
  return Status::success();
}

void Session::release(Use next) const {
  // Who frees the session may go on as soon as the mutex is free.
  std::lock_guard<std::mutex> lock(mutex);
  use = next;
  changed.notify_all();
}

Status Session::checkAlive() const {
  if (runs >= 0)
    return Status::success();
  return fail(SPRT_FAILED) << "this session "
                           << (interrupted ? "was interrupted" : "has failed")
                           << "; create a new one";
}

void Session::begin(std::function<Status(Rank &)> body) {
  work = std::move(body);
  statuses = std::vector<Status>(local.ranks.size());
  threads.clear();
  threads.reserve(local.ranks.size());
  for (std::unique_ptr<Rank> &rank : local.ranks)
    rank->beginThread();
  {
    std::lock_guard<std::mutex> lock(mutex);
    working = local.ranks.size();
    use = called;
    if (interrupted)
      control.stop(-1);
  }
  try {
    for (size_t i = 0; i < local.ranks.size(); ++i)
      threads.emplace_back([this, i] { runThread(i); });
  } catch (const std::system_error &error) {
    size_t first = threads.size();
    statuses[first] = fail(SPRT_FAILED).about(local.ranks[first]->number)
                      << "rank " << local.ranks[first]->number
                      << ": no thread for it: " << error.what();
    control.stop(local.ranks[first]->number);
    std::lock_guard<std::mutex> lock(mutex);
    working -= local.ranks.size() - first;
    changed.notify_all();
  }
}

void Session::runThread(size_t index) {
  Rank &rank = *local.ranks[index];
  if (local.sharesCores)
    askForSlices();
  Status &status = statuses[index];
  status = work(rank);
  // A rank that others ended is not to blame.
  if (status)
    control.stop(status->consequence ? -1 : rank.number);
  rank.endThread();
  std::lock_guard<std::mutex> lock(mutex);
  if (--working == 0)
    changed.notify_all();
}

Status Session::finish() {
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
  work = nullptr;
  for (Status &status : statuses)
    explain(status);
  Status failure = merge(std::move(statuses));
  if (failure && interrupted)
    failure = fail(SPRT_INTERRUPTED) << "the run was interrupted";
  // A run that was done before it was interrupted leaves its results.
  if (failure || control.stopped.load())
    runs = -1;
  return failure;
}

Status Session::wait(double limitSeconds, bool &out_done) {
  {
    std::unique_lock<std::mutex> lock(mutex);
    out_done = use == idle;
    if (out_done)
      return Status::success();
    if (use != running)
      return fail(SPRT_BUSY) << "another call uses this session";
    use = awaited;
    auto isDone = [this] { return working == 0; };
    if (limitSeconds < 0)
      changed.wait(lock, isDone);
    else
      changed.wait_for(
          lock,
          std::chrono::duration<double>(
              limitSeconds < kLongestSeconds ? limitSeconds : kLongestSeconds),
          isDone);
    out_done = isDone();
    if (!out_done) {
      use = running;
      changed.notify_all();
      return Status::success();
    }
  }
  Claim claim(*this, awaited, called);
  return finishExecution();
}

void Session::interrupt() {
  std::lock_guard<std::mutex> lock(mutex);
  // Where nothing is under way, the next run is not meant.
  if ((working == 0 && use != beginning) || interrupted)
    return;
  interrupted = true;
  // Ranks are not yet what a run that begins makes of them.
  if (working > 0)
    control.stop(-1);
}

void Session::explain(Status &status) const {
  if (!status || !status->consequence)
    return;
  int64_t culprit =
      local.distributed() ? local.world->culprit() : control.culprit.load();
  if (culprit < 0)
    return;
  status->text += " because rank " + std::to_string(culprit) + " ended the run";
  if (status->peer < 0)
    status->peer = culprit;
}

} // namespace sprt
