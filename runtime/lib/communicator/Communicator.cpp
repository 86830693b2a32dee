#include "communicator/Communicator.h"

namespace sprt {

Status Communicator::post(bool sends, int64_t peer, int channel,
                          Message message, RequestPtr &out_request) {
  if (peer < 0 || peer >= rankCount || peer == rankNumber)
    return fail(SPRT_INVALID_ARGUMENT).about(rankNumber, peer)
           << "expected a peer among " << rankCount << " ranks other than "
           << rankNumber << " but got " << peer;
  int64_t bytes = messageBytes(message);
  Clock::time_point now = tracing && sends ? Clock::now() : Clock::time_point();
  Status failure =
      sends ? postSend(peer, channel, std::move(message), out_request)
            : postReceive(peer, channel, std::move(message), out_request);
  if (failure)
    return failure;
  if (sends)
    sent[channel] += bytes;
  if (tracing && sends)
    flowsOf[channel].push_back({true, peer, out_request->sequence, now});
  return failure;
}

Status Communicator::send(int64_t peer, int channel, Message message,
                          RequestPtr &out_request) {
  return post(true, peer, channel, std::move(message), out_request);
}

Status Communicator::receive(int64_t peer, int channel, Message message,
                             RequestPtr &out_request) {
  return post(false, peer, channel, std::move(message), out_request);
}

Status Communicator::wait(Request &request) {
  if (Status failure = order(request))
    return failure;
  return synchronise(request.channel);
}

Status Communicator::synchronise(int) { return Status::success(); }

Status Communicator::order(Request &request) {
  if (Status failure = finish(request))
    return failure;
  if (tracing && !request.sends)
    flowsOf[request.channel].push_back(
        {false, request.peer, request.sequence, Clock::now()});
  return Status::success();
}

void Communicator::beginRun(bool keepFlows) {
  tracing = keepFlows;
  for (int channel = 0; channel < kChannels; ++channel) {
    sent[channel] = 0;
    flowsOf[channel].clear();
  }
}

Status Communicator::timedOut(const Request &request) const {
  return fail(SPRT_TIMEOUT).about(rankNumber, request.peer)
         << "waited " << timeout.count() << " s "
         << (request.sends ? "to send to" : "to receive from") << " rank "
         << request.peer;
}

Status Communicator::interrupted(const Request &request) const {
  return fail(SPRT_FAILED).about(rankNumber, request.peer).asConsequence()
         << "stopped " << (request.sends ? "sending to" : "receiving from")
         << " rank " << request.peer << "";
}

Status Communicator::sizesDiffer(const Request &request, int64_t expected,
                                 int64_t got) const {
  return fail(SPRT_FAILED).about(rankNumber, request.peer)
         << "expected " << expected << " bytes from rank " << request.peer
         << " but got " << got;
}

} // namespace sprt
