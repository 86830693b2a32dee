// How a session comes to its ranks: communicator and executor.

#include "executor/Session.h"

#include "communicator/MpiWorld.h"
#include "communicator/ThreadCommunicator.h"
#include "executor/CpuRank.h"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace sprt {

namespace {

/// Longest time limit: what a condition variable can still count.
constexpr double kLongestTimeout = 1e6;
constexpr double kDefaultTimeout = 300;
/// Of sprt_session_options::trace.
constexpr int kTimesOnly = 2;

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::max(1, CPU_COUNT(&set));
}

Injection injectionOf(const sprt_session_options &options) {
  return {options.inject_rank, options.inject_command,
          options.inject_stall != 0};
}

} // namespace

std::chrono::duration<double>
Session::limitOf(const sprt_session_options &options) {
  double limit =
      options.timeout_seconds > 0 ? options.timeout_seconds : kDefaultTimeout;
  return std::chrono::duration<double>(std::min(limit, kLongestTimeout));
}

Status Session::choose(const sprt_session_options &options) {
  bool cuda = program.isForCuda();
  std::string held = cuda ? "cuda" : "cpu";
  std::string executor = options.executor ? options.executor : held;
  if (executor != "cpu" && executor != "cuda")
    return fail(SPRT_UNSUPPORTED)
           << "expected executor \"cpu\" or \"cuda\" but got \"" << executor
           << "\"";
  if (executor != held)
    return fail(SPRT_UNSUPPORTED)
           << "expected executor \"" << held
           << "\" for a program compiled with "
           << "--target=" << held << " but got \"" << executor
           << "\"; compile with --target=" << executor;
  if (!cuda && options.device)
    return fail(SPRT_UNSUPPORTED)
           << "a program compiled with --target=cpu runs on no device but got "
              "\""
           << options.device << "\"; compile with --target=cuda";
  communicator = options.communicator ? options.communicator
                 : cuda               ? "local"
                                      : "thread";
  if (cuda && communicator != "local" && communicator != "nccl")
    return fail(SPRT_UNSUPPORTED) << "expected communicator \"local\" or "
                                     "\"nccl\" for executor \"cuda\" "
                                     "but got \""
                                  << communicator << "\"";
  if (!cuda && communicator != "thread" && communicator != "mpi")
    return fail(SPRT_UNSUPPORTED) << "expected communicator \"thread\" or "
                                     "\"mpi\" for executor \"cpu\" "
                                     "but got \""
                                  << communicator << "\"";
  return Status::success();
}

Status Session::checkOptions(const sprt_session_options &options) const {
  if (options.threads_per_rank < 0 || options.threads_per_rank > 1024)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected 0 to 1024 threads per rank but got "
           << options.threads_per_rank;
  if (!(options.timeout_seconds >= 0))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a timeout of 0 or more seconds but got "
           << options.timeout_seconds;
  if (options.inject_rank < 0)
    return Status::success();
  int64_t commands = static_cast<int64_t>(program.stepOf.size());
  if (options.inject_rank >= program.ranks() || options.inject_command < 0 ||
      options.inject_command >= commands)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a rank below " << program.ranks()
           << " and a command below " << commands
           << " to inject a failure but got " << options.inject_rank << ":"
           << options.inject_command;
  return Status::success();
}

Status Session::open(const sprt_session_options &options) {
  if (Status failure = choose(options))
    return failure;
  if (Status failure = checkOptions(options))
    return failure;
  tracing = options.trace != 0 && options.trace != kTimesOnly;
  if (Status failure = openRanks(options)) {
    explain(failure);
    // The other processes need not wait for this one.
    if (distributed())
      world->announceFailure();
    return failure;
  }
  // Whoever computes long need not be stuck: only a caller knows.
  if (options.timeout_seconds > 0)
    control.limit = limitOf(options);
  // A kernel may just have begun when another rank's wait for what it makes
  // did.
  bool waitsForKernels = program.isForCuda() && control.limit;
  for (std::unique_ptr<Rank> &rank : ranks) {
    rank->communicator->timeout = (waitsForKernels ? 2 : 1) * limitOf(options);
    rank->injection = injectionOf(options);
    rank->timing = options.trace != 0;
  }
  control.interruptRanks = [this] {
    for (std::unique_ptr<Rank> &rank : ranks) {
      rank->interrupt();
      rank->communicator->interrupt();
    }
  };
  for (const ParameterInfo &result : program.results)
    if (Status failure = firstHolders(program, result, holders.emplace_back()))
      return failure;
  feeds = std::vector<std::atomic<int64_t>>(program.inputs.size());
  for (std::atomic<int64_t> &each : feeds)
    each = -1;
  for (size_t i = 0; i < feeds.size(); ++i)
    if (int64_t result = program.inputs[i].parameter->donated_to; result >= 0)
      if (Status failure = feed(result, static_cast<int64_t>(i)))
        return failure;
  return Status::success();
}

Status Session::openRanks(const sprt_session_options &options) {
  if (communicator == "mpi" || communicator == "nccl")
    if (Status failure = joinWorld(options))
      return failure;
  return program.isForCuda() ? openOnCuda(options) : openOnCpu(options);
}

Status Session::joinWorld(const sprt_session_options &options) {
  std::shared_ptr<World> joined;
  if (Status failure = communicator == "mpi"
                           ? MpiWorld::open(joined)
                           : openWorld(limitOf(options), joined))
    return failure;
  if (joined->ranks != program.ranks())
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected " << program.ranks() << " " << joined->kind()
           << " for mesh " << program.mesh << " but got " << joined->ranks
           << "; start with " << joined->starter(program.ranks());
  // Besides this session, the process itself keeps the world.
  if (Status failure =
          joined->number(program.processOf(), joined.use_count() > 2))
    return failure;
  world = std::move(joined);
  speaker = world->rank;
  return Status::success();
}

void Session::connect(std::vector<std::unique_ptr<Communicator>> &out_ends,
                      int64_t &out_sharers) const {
  if (distributed()) {
    out_sharers = world->localRanks;
    out_ends.push_back(world->endpoint());
    return;
  }
  out_sharers = program.ranks();
  auto group = std::make_shared<ThreadGroup>(program.ranks());
  for (int64_t rank = 0; rank < program.ranks(); ++rank)
    out_ends.push_back(
        std::make_unique<ThreadCommunicator>(group, rank, program.ranks()));
}

Status Session::openOnCpu(const sprt_session_options &options) {
  std::vector<std::unique_ptr<Communicator>> ends;
  int64_t sharers = 0;
  connect(ends, sharers);
  int cores = availableCores();
  int threads = options.threads_per_rank;
  if (threads == 0)
    threads = static_cast<int>(std::max<int64_t>(1, cores / sharers));
  sharesCores = static_cast<int64_t>(ends.size()) * threads > cores;
  for (std::unique_ptr<Communicator> &end : ends) {
    int64_t number = end->rank();
    auto rank =
        std::make_unique<CpuRank>(program, number, std::move(end), control);
    if (Status failure = rank->allocate(threads, sharesCores))
      return failure;
    ranks.push_back(std::move(rank));
  }
  return Status::success();
}

} // namespace sprt
