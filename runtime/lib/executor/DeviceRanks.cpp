// How a session comes to ranks on devices.

#include "executor/LocalRanks.h"

#include "communicator/World.h"
#include "executor/DeviceRank.h"
#include "program/Role.h"
#ifdef SPRT_HAS_NCCL
#include "communicator/NcclCommunicator.h"
#endif

#include <cstdlib>

namespace sprt {

namespace {

/// The device of a process: the one that it names, else of the number that the
/// launcher gives it among those of its machine.
Status nameDevice(const sprt_session_options &options, const World *world,
                  std::string &out_name) {
  out_name = "0";
  if (options.device)
    out_name = options.device;
  else if (world && world->localRank < 0)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected LOCAL_RANK in the environment, which says the GPU of "
              "a process, or a device";
  else if (world)
    out_name = std::to_string(world->localRank);
  return Status::success();
}

#ifdef SPRT_HAS_NCCL
/// Channels on which the program moves data between ranks; reductions are the
/// host's.
std::vector<int> movingChannels(const Program &program) {
  bool moves[kStreams] = {};
  for (const Step *step : program.stepOf)
    if (roleOf(*step->command) == Role::moves)
      moves[static_cast<int>(step->command->stream)] = true;
  std::vector<int> channels;
  for (int stream = 0; stream < kStreams; ++stream)
    if (moves[stream])
      channels.push_back(stream);
  return channels;
}

Status connectNccl(const Program &program, const std::shared_ptr<World> &world,
                   const std::shared_ptr<Device> &device, bool emulated,
                   const std::shared_ptr<RankStreams> &streams,
                   std::chrono::duration<double> limit,
                   std::unique_ptr<Communicator> &out_end) {
  auto end = std::make_unique<NcclCommunicator>(world, device, streams);
  end->timeout = limit;
  if (Status failure = end->connect(movingChannels(program), emulated))
    return failure;
  out_end = std::move(end);
  return Status::success();
}
#else
Status connectNccl(const Program &, const std::shared_ptr<World> &,
                   const std::shared_ptr<Device> &, bool,
                   const std::shared_ptr<RankStreams> &,
                   std::chrono::duration<double>,
                   std::unique_ptr<Communicator> &) {
  return fail(SPRT_UNSUPPORTED)
         << "communicator \"nccl\": this runtime was built without nccl.h; "
            "build it where NCCL's headers are";
}
#endif

} // namespace

Status openOnDevice(const Program &program, const sprt_session_options &options,
                    RunControl &control, LocalRanks &out_local) {
  const std::shared_ptr<World> &world = out_local.world;
  std::string name;
  if (Status failure = nameDevice(options, world.get(), name))
    return failure;
  // Code that is loaded when it is first called may wait for all kernels of its
  // GPU, and so for NCCL's, whose peer may do just that. The user's own value
  // stays.
  if (world)
    setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  std::shared_ptr<Device> device;
  if (Status failure = openDevice(name, device))
    return failure;
  int64_t first = world ? world->rank : 0;
  int64_t count = world ? 1 : program.ranks();
  if (Status failure = checkMemory(program, count, device->capability()))
    return failure;
  if (Status failure = device->load(program))
    return failure;
  std::byte *constants = nullptr;
  int64_t constantBytes = program.plan->constant_bytes;
  if (constantBytes > 0)
    if (Status failure = device->allocate(constantBytes, constants))
      return failure;
  std::shared_ptr<ThreadGroup> group;
  if (!world)
    group = localGroup(count, device);
  for (int64_t number = first; number < first + count; ++number) {
    auto streams = std::make_shared<RankStreams>();
    for (std::unique_ptr<Device::Stream> &stream : *streams)
      if (Status failure = device->createStream(number, stream))
        return failure;
    for (int each = 0; each < kStreams; ++each)
      (*streams)[static_cast<size_t>(each)]->name =
          plan::EnumNameStream(static_cast<plan::Stream>(each));
    if (constants && number == first) {
      if (Status failure = streams->front()->upload(
              constants, program.constants, constantBytes))
        return failure;
      if (Status failure =
              streams->front()->synchronise(limitOf(options)).status)
        return failure;
    }
    std::unique_ptr<Communicator> end;
    if (!world)
      end = std::make_unique<LocalCommunicator>(group, number, program.ranks(),
                                                device, streams);
    else if (Status failure =
                 connectNccl(program, world, device, name == "emulated",
                             streams, limitOf(options), end))
      return std::move(failure).within("rank " + std::to_string(number));
    auto rank = std::make_unique<DeviceRank>(program, number, std::move(end),
                                             control, device, streams);
    if (Status failure = rank->allocate(constants))
      return failure;
    out_local.ranks.push_back(std::move(rank));
  }
  return Status::success();
}

} // namespace sprt
