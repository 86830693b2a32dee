#include "communicator/MpiWorld.h"

#include <algorithm>
#include <thread>

namespace sprt {

namespace {

constexpr int64_t kLargestPart = int64_t(1) << 30;
/// Pauses between two looks at a request: at first short for latency, then long
/// enough to cost a waiting rank less than a percent of a core.
constexpr std::chrono::microseconds kShortestTest(20);
constexpr std::chrono::microseconds kLongestTest(1000);

struct MpiRequest : Request {
  Message message;
  std::vector<std::byte> packed; ///< where the message is not contiguous
  std::vector<MpiWorld::Handle> parts;
  int64_t bytes = 0;
  int64_t received = 0;
};

} // namespace

Status MpiCommunicator::post(bool sends, int64_t peer, int channel,
                             Message message, RequestPtr &out_request) {
  auto request = std::make_unique<MpiRequest>();
  request->peer = peer;
  request->channel = channel;
  request->sends = sends;
  request->sequence = sequences[channel][sends][peer]++;
  request->bytes = messageBytes(message);
  std::byte *data = contiguousData(message);
  if (!data && request->bytes > 0) {
    request->packed.resize(static_cast<size_t>(request->bytes));
    data = request->packed.data();
    if (sends)
      copyMessage(denseMessage(data, request->bytes), message);
  }
  request->message = std::move(message);
  int64_t offset = 0;
  do {
    int64_t part = std::min(kLargestPart, request->bytes - offset);
    MpiWorld::Handle &handle = request->parts.emplace_back(nullptr);
    std::byte *at = data ? data + offset : nullptr;
    if (Status failure = sends
                             ? world->send(at, part, peer, channel, handle)
                             : world->receive(at, part, peer, channel, handle))
      return failure;
    offset += part;
  } while (offset < request->bytes);
  out_request = std::move(request);
  return Status::success();
}

Status MpiCommunicator::postSend(int64_t peer, int channel, Message message,
                                 RequestPtr &out_request) {
  return post(true, peer, channel, std::move(message), out_request);
}

Status MpiCommunicator::postReceive(int64_t peer, int channel, Message message,
                                    RequestPtr &out_request) {
  return post(false, peer, channel, std::move(message), out_request);
}

Status MpiCommunicator::finish(Request &base) {
  auto &request = static_cast<MpiRequest &>(base);
  Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  std::chrono::microseconds pause = kShortestTest;
  while (!request.parts.empty()) {
    bool done = false;
    int64_t bytes = 0;
    if (Status failure = world->test(request.parts.back(), done, bytes))
      return std::move(failure).within("with rank " +
                                       std::to_string(request.peer));
    if (done) {
      request.received += bytes;
      request.parts.pop_back();
      continue;
    }
    if (stopped.load() || world->failureAnnounced())
      return interrupted(request);
    if (Clock::now() > deadline)
      return timedOut(request);
    std::this_thread::sleep_for(pause);
    pause = std::min(kLongestTest, pause * 3 / 2);
  }
  if (request.sends)
    return Status::success();
  if (request.received != request.bytes)
    return sizesDiffer(request, request.bytes, request.received);
  if (!request.packed.empty())
    copyMessage(request.message,
                denseMessage(request.packed.data(), request.bytes));
  return Status::success();
}

void MpiCommunicator::interrupt() {
  stopped.store(true);
  world->announceFailure();
}

} // namespace sprt
