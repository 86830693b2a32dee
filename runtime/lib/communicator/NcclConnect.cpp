// How a rank comes to NCCL's communicators and leaves them.

#include "communicator/NcclCommunicator.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace sprt {

namespace {

/// Pauses between two looks at what NCCL does on the host.
constexpr std::chrono::microseconds kShortestLook(20);
constexpr std::chrono::microseconds kLongestLook(1000);
/// How long communicators may take to end in good order.
constexpr auto kFarewell = std::chrono::seconds(5);
/// Blocks that a communicator may have at a time: enough for the rings of long
/// sequences, whose steps compute for longer than they send.
constexpr int kBlocks = 8;
constexpr int kMostBlocks = 64; ///< that NCCL takes

/// Of NCCL_MAX_CTAS in the environment, which NCCL obeys whatever we ask for.
Status blocksOfACommunicator(int &out_blocks) {
  out_blocks = kBlocks;
  const char *text = std::getenv("NCCL_MAX_CTAS");
  if (!text)
    return Status::success();
  char *end = nullptr;
  long blocks = std::strtol(text, &end, 10);
  if (end == text || *end || blocks < 1 || blocks > kMostBlocks)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected a number from 1 to " << kMostBlocks
           << " in NCCL_MAX_CTAS of the environment but got \"" << text << "\"";
  out_blocks = static_cast<int>(blocks);
  return Status::success();
}

} // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<World> joined,
                                   std::shared_ptr<Device> device,
                                   std::shared_ptr<RankStreams> streams)
    : Communicator(joined->rank, joined->ranks), world(std::move(joined)),
      host(world->endpoint()), device(std::move(device)),
      streams(std::move(streams)) {
  for (std::unique_ptr<Device::Stream> &each : *this->streams)
    each->watch = [this](bool isLate) { return look(isLate); };
}

NcclCommunicator::~NcclCommunicator() {
  for (std::unique_ptr<Device::Stream> &each : *streams)
    each->watch = nullptr;
  if (!ended.load()) {
    Clock::time_point end = Clock::now() + kFarewell;
    for (Lane &lane : lanes) {
      if (!lane.communicator || broken.load())
        continue;
      ncclResult_t result = nccl.ncclCommFinalize(lane.communicator);
      if (nccl.check(result, "") || settle(lane, "", end) ||
          nccl.check(nccl.ncclCommDestroy(lane.communicator), ""))
        continue;
      lane.communicator = nullptr;
    }
    abort();
  }
  for (std::byte *data : memory)
    device->release(data);
}

Status NcclCommunicator::connect(const std::vector<int> &channels,
                                 bool emulated) {
  if (Status failure = nccl.open(emulated))
    return failure;
  if (ranks() == 1)
    return Status::success();
  std::vector<ncclUniqueId> ids(channels.size());
  if (Status failure = exchangeIds(ids))
    return failure;
  // Until all are there, none can end in good order.
  broken.store(true);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  int blocks = 0;
  if (Status failure = blocksOfACommunicator(blocks))
    return failure;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 17, 0)
  config.maxCTAs = blocks;
#endif
  // Kernels on the compute stream have nothing beside them.
  auto beside = std::count_if(channels.begin(), channels.end(),
                              [](int each) { return each != kComputeChannel; });
  device->reserveProcessors(blocks * static_cast<int>(beside));
  for (size_t i = 0; i < ids.size(); ++i) {
    Lane &lane = lanes[channels[i]];
    if (Status failure =
            nccl.check(nccl.ncclCommInitRankConfig(
                           &lane.communicator, static_cast<int>(ranks()),
                           ids[i], static_cast<int>(rank()), &config),
                       "ncclCommInitRankConfig"))
      return failure;
  }
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  for (int channel : channels)
    if (Status failure = settle(lanes[channel], "ncclCommInitRankConfig", end))
      return failure;
  broken.store(false);
  return Status::success();
}

Status NcclCommunicator::exchangeIds(std::vector<ncclUniqueId> &ids) {
  int64_t bytes = static_cast<int64_t>(ids.size() * sizeof(ncclUniqueId));
  Message message = denseMessage(ids.data(), bytes);
  host->timeout = timeout;
  RequestPtr request;
  if (rank() != 0) {
    if (Status failure = host->receive(0, kControlChannel, message, request))
      return failure;
    return host->wait(*request);
  }
  for (ncclUniqueId &id : ids)
    if (Status failure =
            nccl.check(nccl.ncclGetUniqueId(&id), "ncclGetUniqueId"))
      return failure;
  for (int64_t peer = 1; peer < ranks(); ++peer) {
    if (Status failure = host->send(peer, kControlChannel, message, request))
      return failure;
    if (Status failure = host->wait(*request))
      return failure;
  }
  return Status::success();
}

Status NcclCommunicator::stateOf(Lane &lane, const char *what, bool &out_busy) {
  std::lock_guard<std::mutex> lock(lane.calling);
  out_busy = false;
  if (!lane.communicator)
    return Status::success();
  ncclResult_t state = ncclSuccess;
  ncclResult_t result = nccl.ncclCommGetAsyncError(lane.communicator, &state);
  out_busy = state == ncclInProgress;
  return nccl.check(result == ncclSuccess ? state : result, what,
                    lane.communicator);
}

Status NcclCommunicator::settle(Lane &lane, const char *what,
                                Clock::time_point end) {
  Waiting waiting(*device);
  std::chrono::microseconds pause = kShortestLook;
  for (;;) {
    bool busy = false;
    if (Status failure = stateOf(lane, what, busy))
      return failure;
    if (!busy)
      return Status::success();
    if (ended.load() || world->failureAnnounced())
      return fail(SPRT_FAILED).about(rank()).asConsequence()
             << "stopped " << what;
    if (Clock::now() > end)
      return fail(SPRT_TIMEOUT).about(rank())
             << "waited " << timeout.count() << " s for " << what;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestLook);
  }
}

void NcclCommunicator::abort() {
  if (ended.exchange(true))
    return;
  for (Lane &lane : lanes) {
    std::lock_guard<std::mutex> lock(lane.calling);
    if (lane.communicator)
      (void)nccl.ncclCommAbort(lane.communicator);
    lane.communicator = nullptr;
  }
}

void NcclCommunicator::interrupt() {
  abort();
  host->interrupt();
  device->interrupt();
}

} // namespace sprt
