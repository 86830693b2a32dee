#include "communicator/SocketCommunicator.h"

namespace sprt {

namespace {
struct SocketRequest : Request {
  Message message; ///< of a receive
};
} // namespace

std::unique_ptr<Communicator> SocketWorld::endpoint() {
  return std::make_unique<SocketCommunicator>(
      std::static_pointer_cast<SocketWorld>(shared_from_this()));
}

Status SocketCommunicator::postSend(int64_t peer, int channel, Message message,
                                    RequestPtr &out_request) {
  auto request = std::make_unique<SocketRequest>();
  request->peer = peer;
  request->channel = channel;
  request->sends = true;
  request->sequence = sendCount[channel][peer]++;
  Status failure = world->send(peer, channel, message, timeout);
  if (failure && failure->code == SPRT_TIMEOUT)
    return timedOut(*request);
  if (failure)
    return interrupted(*request);
  out_request = std::move(request);
  return Status::success();
}

Status SocketCommunicator::postReceive(int64_t peer, int channel,
                                       Message message,
                                       RequestPtr &out_request) {
  auto request = std::make_unique<SocketRequest>();
  request->peer = peer;
  request->channel = channel;
  request->sequence = world->expect(peer, channel);
  request->message = std::move(message);
  out_request = std::move(request);
  return Status::success();
}

Status SocketCommunicator::finish(Request &base) {
  auto &request = static_cast<SocketRequest &>(base);
  if (request.sends)
    return Status::success();
  std::vector<std::byte> bytes;
  switch (world->receive(request.peer, request.channel, request.sequence,
                         timeout, bytes)) {
  case SocketWorld::arrived:
    break;
  case SocketWorld::late:
    return timedOut(request);
  case SocketWorld::gone:
    return fail(SPRT_FAILED).about(rank(), request.peer)
           << "rank " << request.peer << " has ended";
  case SocketWorld::failed:
    return interrupted(request);
  }
  int64_t expected = messageBytes(request.message);
  int64_t got = static_cast<int64_t>(bytes.size());
  if (expected != got)
    return sizesDiffer(request, expected, got);
  copyMessage(request.message, denseMessage(bytes.data(), got));
  return Status::success();
}

} // namespace sprt
