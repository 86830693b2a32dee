#include "executor/LocalRanks.h"

#include "communicator/MpiWorld.h"
#include "communicator/ThreadCommunicator.h"
#include "executor/CpuRank.h"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace sprt {

namespace {

constexpr double kDefaultTimeout = 300;

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::max(1, CPU_COUNT(&set));
}

/// Joins the processes of the run, which are as many as the mesh has ranks.
Status joinWorld(const Program &program, const sprt_session_options &options,
                 const std::string &communicator,
                 std::shared_ptr<World> &out_world) {
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
  out_world = std::move(joined);
  return Status::success();
}

/// The communicators' ends of the local ranks, and how many ranks share this
/// machine.
void connect(const Program &program, World *world,
             std::vector<std::unique_ptr<Communicator>> &out_ends,
             int64_t &out_sharers) {
  if (world) {
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

Status openOnCpu(const Program &program, const sprt_session_options &options,
                 RunControl &control, LocalRanks &out_local) {
  std::vector<std::unique_ptr<Communicator>> ends;
  int64_t sharers = 0;
  connect(program, out_local.world.get(), ends, sharers);
  int cores = availableCores();
  int threads = options.threads_per_rank;
  if (threads == 0)
    threads = static_cast<int>(std::max<int64_t>(1, cores / sharers));
  out_local.sharesCores = static_cast<int64_t>(ends.size()) * threads > cores;
  for (std::unique_ptr<Communicator> &end : ends) {
    int64_t number = end->rank();
    auto rank =
        std::make_unique<CpuRank>(program, number, std::move(end), control);
    if (Status failure = rank->allocate(threads, out_local.sharesCores,
                                        options.far_directory))
      return failure;
    out_local.ranks.push_back(std::move(rank));
  }
  return Status::success();
}

} // namespace

std::chrono::duration<double> limitOf(const sprt_session_options &options) {
  return std::chrono::duration<double>(
      options.timeout_seconds > 0 ? options.timeout_seconds : kDefaultTimeout);
}

Status chooseCommunicator(const Program &program,
                          const sprt_session_options &options,
                          std::string &out_communicator) {
  bool onDevice = program.isForDevice();
  std::string held = plan::EnumNameTarget(program.plan->target);
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
  if (!onDevice && options.device)
    return fail(SPRT_UNSUPPORTED)
           << "a program compiled with --target=cpu runs on no device but got "
              "\""
           << options.device << "\"; compile with --target=cuda";
  std::string &communicator = out_communicator;
  communicator = options.communicator ? options.communicator
                 : onDevice           ? "local"
                                      : "thread";
  if (onDevice && communicator != "local" && communicator != "nccl")
    return fail(SPRT_UNSUPPORTED) << "expected communicator \"local\" or "
                                     "\"nccl\" for executor \"cuda\" "
                                     "but got \""
                                  << communicator << "\"";
  if (!onDevice && communicator != "thread" && communicator != "mpi")
    return fail(SPRT_UNSUPPORTED) << "expected communicator \"thread\" or "
                                     "\"mpi\" for executor \"cpu\" "
                                     "but got \""
                                  << communicator << "\"";
  return Status::success();
}

Status openRanks(const Program &program, const sprt_session_options &options,
                 const std::string &communicator, RunControl &control,
                 LocalRanks &out_local) {
  if (communicator == "mpi" || communicator == "nccl")
    if (Status failure =
            joinWorld(program, options, communicator, out_local.world))
      return failure;
  return program.isForDevice()
             ? openOnDevice(program, options, control, out_local)
             : openOnCpu(program, options, control, out_local);
}

} // namespace sprt
