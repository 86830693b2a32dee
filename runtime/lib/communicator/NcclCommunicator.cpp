#include "communicator/NcclCommunicator.h"

#include <algorithm>

namespace sprt {

namespace {

constexpr int64_t kPackAlignment = 256;

} // namespace

struct NcclCommunicator::NcclRequest : Request {
  std::shared_ptr<Transfer> transfer;
  RequestPtr onHost; ///< instead
};

Status NcclCommunicator::post(bool sends, int64_t peer, int channel,
                              Message message, RequestPtr &out_request) {
  auto request = std::make_unique<NcclRequest>();
  Lane &lane = lanes[channel];
  request->peer = peer;
  request->channel = channel;
  request->sends = sends;
  request->sequence = lane.sequences[sends][peer]++;
  if (isOnHost(channel)) {
    host->timeout = timeout;
    if (Status failure =
            sends
                ? host->send(peer, channel, std::move(message), request->onHost)
                : host->receive(peer, channel, std::move(message),
                                request->onHost))
      return failure;
  } else if (int64_t bytes = messageBytes(message); bytes > 0) {
    // Of an empty message both ends know; NCCL does not hear of it.
    auto transfer = std::make_shared<Transfer>();
    transfer->peer = peer;
    transfer->sends = sends;
    transfer->data = contiguousData(message);
    transfer->packed = !transfer->data;
    transfer->message = std::move(message);
    transfer->bytes = bytes;
    lane.posted.push_back(transfer);
    request->transfer = std::move(transfer);
  }
  out_request = std::move(request);
  return Status::success();
}

Status NcclCommunicator::postSend(int64_t peer, int channel, Message message,
                                  RequestPtr &out_request) {
  return post(true, peer, channel, std::move(message), out_request);
}

Status NcclCommunicator::postReceive(int64_t peer, int channel, Message message,
                                     RequestPtr &out_request) {
  return post(false, peer, channel, std::move(message), out_request);
}

Status NcclCommunicator::finish(Request &base) {
  auto &request = static_cast<NcclRequest &>(base);
  if (request.onHost) {
    Waiting waiting(*device);
    return host->wait(*request.onHost);
  }
  if (!request.transfer || request.transfer->started)
    return Status::success();
  return start(request.channel);
}

Status NcclCommunicator::start(int channel) {
  Lane &lane = lanes[channel];
  Device::Stream &on = stream(channel);
  Group group;
  group.origin = on.origin;
  group.transfers.swap(lane.posted);
  if (group.transfers.empty())
    return fail(SPRT_FAILED).about(rank()).asConsequence() << "stopped";
  if (Status failure = stage(lane, group.transfers))
    return failure;
  for (const auto &each : group.transfers)
    if (each->sends && each->packed)
      if (Status failure =
              on.copy(denseMessage(each->data, each->bytes), each->message))
        return failure;
  for (auto *event : {&group.ready, &group.done})
    if (Status failure = device->createEvent(false, *event))
      return failure;
  if (Status failure = on.record(*group.ready))
    return failure;
  if (Status failure = call(lane, group.transfers, on)) {
    broken.store(true);
    return failure;
  }
  for (const auto &each : group.transfers) {
    each->started = true;
    if (!each->sends && each->packed)
      if (Status failure =
              on.copy(each->message, denseMessage(each->data, each->bytes)))
        return failure;
  }
  if (Status failure = on.record(*group.done))
    return failure;
  std::lock_guard<std::mutex> lock(watching);
  while (!lane.groups.empty() && lane.groups.front().done->reached())
    lane.groups.pop_front();
  lane.groups.push_back(std::move(group));
  return Status::success();
}

Status NcclCommunicator::stage(
    Lane &lane, const std::vector<std::shared_ptr<Transfer>> &transfers) {
  int64_t bytes = 0;
  for (const auto &each : transfers)
    if (each->packed)
      bytes +=
          (each->bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
  // The stream's work of before may still use what is too small now, so that
  // it stays until the end.
  if (bytes > lane.stagingBytes) {
    int64_t size = std::max(bytes, 2 * lane.stagingBytes);
    if (Status failure = device->allocate(size, lane.staging))
      return std::move(failure).within("to pack messages");
    lane.stagingBytes = size;
    std::lock_guard<std::mutex> lock(watching);
    memory.push_back(lane.staging);
  }
  std::byte *at = lane.staging;
  for (const auto &each : transfers)
    if (each->packed) {
      each->data = at;
      at +=
          (each->bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
    }
  return Status::success();
}

Status
NcclCommunicator::call(Lane &lane,
                       const std::vector<std::shared_ptr<Transfer>> &transfers,
                       Device::Stream &on) {
  {
    std::lock_guard<std::mutex> lock(lane.calling);
    if (ended.load())
      return stopped(transfers);
    if (!lane.communicator)
      return fail(SPRT_FAILED).about(rank())
             << "no communicator of NCCL's for this stream";
    auto handle = static_cast<cudaStream_t>(on.handle());
    const char *last = "ncclGroupStart";
    ncclResult_t result = nccl.ncclGroupStart();
    if (Status failure = nccl.check(result, last))
      return failure;
    for (const auto &each : transfers) {
      size_t bytes = static_cast<size_t>(each->bytes);
      int peer = static_cast<int>(each->peer);
      last = each->sends ? "ncclSend" : "ncclRecv";
      result = each->sends ? nccl.ncclSend(each->data, bytes, ncclUint8, peer,
                                           lane.communicator, handle)
                           : nccl.ncclRecv(each->data, bytes, ncclUint8, peer,
                                           lane.communicator, handle);
      if (result != ncclSuccess && result != ncclInProgress)
        break;
    }
    // Even after a failure: the group is the calling thread's.
    ncclResult_t ending = nccl.ncclGroupEnd();
    Status failure = nccl.check(result, last, lane.communicator);
    if (!failure)
      failure = nccl.check(ending, "ncclGroupEnd", lane.communicator);
    if (failure)
      return std::move(failure).within("with " + peersOf(transfers));
  }
  // Peers meet here the first time; what follows on the stream comes after.
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  Status failure = settle(lane, "ncclGroupEnd", end);
  if (!failure)
    return failure;
  if (failure->code == SPRT_TIMEOUT)
    return late(transfers);
  if (failure->consequence)
    return stopped(transfers);
  return std::move(failure).within("with " + peersOf(transfers));
}

std::string NcclCommunicator::peersOf(
    const std::vector<std::shared_ptr<Transfer>> &transfers) {
  std::vector<int64_t> peers;
  for (const auto &each : transfers)
    peers.push_back(each->peer);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  std::string text = peers.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < peers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(peers[i]);
  return text;
}

/// The rank that a transfer most likely waits for: who is to send.
template <typename Transfers> static int64_t mainPeer(const Transfers &all) {
  for (const auto &each : all)
    if (!each->sends)
      return each->peer;
  return all.front()->peer;
}

Status NcclCommunicator::stopped(
    const std::vector<std::shared_ptr<Transfer>> &transfers) const {
  return fail(SPRT_FAILED).about(rank(), mainPeer(transfers)).asConsequence()
         << "stopped a transfer with " << peersOf(transfers);
}

Status NcclCommunicator::late(
    const std::vector<std::shared_ptr<Transfer>> &transfers) const {
  return fail(SPRT_TIMEOUT).about(rank(), mainPeer(transfers))
         << "waited " << timeout.count() << " s for a transfer with "
         << peersOf(transfers);
}

const NcclCommunicator::Group *NcclCommunicator::underWay() {
  for (Lane &lane : lanes)
    for (Group &group : lane.groups)
      if (!group.done->reached()) {
        if (group.ready->reached())
          return &group;
        break;
      }
  return nullptr;
}

Device::Fault NcclCommunicator::look(bool isLate) {
  Status failure;
  for (Lane &lane : lanes) {
    bool busy = false;
    if ((failure = stateOf(lane, "a transfer", busy)))
      break;
  }
  bool announced = world->failureAnnounced();
  if (!failure && !announced && !isLate)
    return {};
  std::lock_guard<std::mutex> lock(watching);
  const Group *group = underWay();
  // Who is late may compute.
  if (failure || announced || group)
    broken.store(true);
  if (!group)
    return {announced
                ? fail(SPRT_FAILED).about(rank()).asConsequence() << "stopped"
                : std::move(failure),
            nullptr};
  // NCCL notices as well when a peer is gone, but not whose fault that is.
  if (announced)
    return {stopped(group->transfers), group->origin};
  if (failure)
    return {std::move(failure).within("with " + peersOf(group->transfers)),
            group->origin};
  return {late(group->transfers), group->origin};
}

Status NcclCommunicator::synchronise(int channel) {
  if (isOnHost(channel))
    return Status::success();
  return stream(channel).synchronise(timeout).status;
}

} // namespace sprt
