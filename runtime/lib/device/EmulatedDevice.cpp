#include "device/EmulatedQueue.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace sprt {

namespace {
constexpr size_t kAlignment = 256;
/// Tasks that run, on average, before the priority of some stream changes.
constexpr int kSteady = 16;
} // namespace

EmulatedDevice::EmulatedDevice(uint64_t seed, int architecture)
    : architecture(architecture), random(seed) {
  abilities.name = "the emulated device";
  // What the host has; what is free of it changes all the time.
  abilities.memoryBytes = abilities.freeBytes =
      sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  abilities.processors = 4;
  worker = std::thread([this] { work(); });
}

EmulatedDevice::~EmulatedDevice() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  wanted.notify_all();
  worker.join();
}

Status EmulatedDevice::chooseKernels() {
  portable = false;
  if (architecture == 0)
    return Status::success();
  Fit best = Fit::none;
  std::string held;
  for (const auto &image : program->plan->images) {
    best = std::max(best, fitOf(*image, architecture));
    if (held.find(image->architecture) == std::string::npos)
      held += (held.empty() ? "" : ", ") + image->architecture;
  }
  portable = best == Fit::portable;
  if (best != Fit::none)
    return Status::success();
  return fail(SPRT_UNSUPPORTED)
         << capability().name << " is sm_" << architecture
         << " but the artifact has code for " << (held.empty() ? "none" : held)
         << "; take SPRT_EMULATION_ARCHITECTURE away";
}

Status EmulatedDevice::load(const Program &loaded) {
  program = &loaded;
  if (Status failure = chooseKernels())
    return failure;
  for (const Step *step : loaded.stepOf) {
    const plan::OperationUnion &operation = step->command->operation;
    const plan::LaunchT *launch = operation.AsLaunch();
    const plan::AttendT *attend = operation.AsAttend();
    if (!launch && !attend)
      continue;
    uint32_t kernel = launch                         ? launch->kernel
                      : portable && attend->portable ? attend->portable->kernel
                                                     : attend->kernel;
    if (launch ? !loaded.emulatedThreads[kernel]
               : !loaded.emulatedKernels[kernel])
      return fail(SPRT_UNSUPPORTED)
             << "the artifact has kernel \""
             << loaded.plan->kernels[kernel]->symbol
             << "\" for GPUs only; compile with --emulation to run it with "
                "--device=emulated";
  }
  return Status::success();
}

Status EmulatedDevice::allocateHost(int64_t bytes, std::byte *&out_data) {
  size_t size = (static_cast<size_t>(bytes) + kAlignment) & -kAlignment;
  Memory data(static_cast<std::byte *>(std::aligned_alloc(kAlignment, size)),
              std::free);
  if (!data)
    return fail(SPRT_FAILED)
           << "this machine has no " << bytes << " bytes for a device";
  out_data = data.get();
  std::lock_guard<std::mutex> lock(mutex);
  memory.emplace(out_data, std::move(data));
  return Status::success();
}

Status EmulatedDevice::allocate(int64_t bytes, std::byte *&out_data) {
  if (Status failure = allocateHost(bytes, out_data))
    return failure;
  std::memset(out_data, 0xFF, static_cast<size_t>(bytes));
  return Status::success();
}

void EmulatedDevice::release(std::byte *data) {
  std::unique_lock<std::mutex> lock(mutex);
  // The last task of a run that has failed may still be at it.
  changed.wait(lock, [this] { return !busy; });
  memory.erase(data);
}

Status EmulatedDevice::encode(const cuda::TensorMapFields &fields,
                              cuda::TensorMap &out_map) {
  std::memcpy(&out_map, &fields, sizeof fields);
  return Status::success();
}

EmulatedDevice::Queue *EmulatedDevice::draw(bool &out_polls) {
  if (random() % kSteady == 0)
    queues[random() % queues.size()]->priority = random();
  Queue *first = nullptr;
  for (Queue *queue : queues) {
    out_polls |= queue->polls();
    if (queue->ready() && (!first || queue->priority > first->priority))
      first = queue;
  }
  return first;
}

void EmulatedDevice::work() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    Queue *queue = nullptr;
    for (bool polls = false;
         !closing && !(queue = mayWork() ? draw(polls) : nullptr);
         polls = false)
      polls ? (void)wanted.wait_for(lock, kEmulatedPoll) : wanted.wait(lock);
    if (closing)
      return;
    Task task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    Status failure;
    if (task.work) {
      queue->working = busy = true;
      lock.unlock();
      try {
        failure = task.work();
      } catch (const std::exception &error) {
        failure = fail(SPRT_FAILED) << error.what();
      }
      task.work = nullptr;
      lock.lock();
      queue->working = busy = false;
      changed.notify_all();
    }
    ++tasksDone;
    if (failure) {
      faultRank = queue->rank;
      fault = {std::move(failure), task.origin};
    }
    if (task.reaches) {
      task.reaches->reached = true;
      task.reaches->time = std::chrono::steady_clock::now();
    }
    wake();
  }
}

void EmulatedDevice::wake() {
  bool any = false;
  for (Queue *queue : queues) {
    if (!queue->awaited || !(queue->empty() || failed() || stopped))
      continue;
    queue->awaited = false;
    queue->finished = true;
    ++running;
    --sleepers;
    any = true;
  }
  if (any)
    changed.notify_all();
}

void EmulatedDevice::interrupt() {
  std::lock_guard<std::mutex> lock(mutex);
  stopped = true;
  wake();
}

void EmulatedDevice::threadsWait(int more) {
  std::lock_guard<std::mutex> lock(mutex);
  running -= more;
  sleepers += more;
  wanted.notify_all();
}

void EmulatedDevice::threadsRun(int more) {
  std::lock_guard<std::mutex> lock(mutex);
  running += more;
  wanted.notify_all();
}

} // namespace sprt
