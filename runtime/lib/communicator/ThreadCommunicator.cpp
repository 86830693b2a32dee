#include "communicator/ThreadCommunicator.h"

namespace sprt {

namespace {
struct ThreadRequest : Request {
  Message message;                                 ///< of a receive
  std::shared_ptr<ThreadGroup::Envelope> envelope; ///< of a send
};
} // namespace

void ThreadGroup::interrupt() {
  stop.store(true, std::memory_order_release);
  for (Port &port : ports) {
    // Taking the lock makes sure that no waiter is between its test and its
    // sleep.
    std::lock_guard<std::mutex> lock(port.mutex);
    port.changed.notify_all();
  }
}

Status ThreadCommunicator::postSend(int64_t peer, int channel, Message message,
                                    RequestPtr &out_request) {
  auto request = std::make_unique<ThreadRequest>();
  request->peer = peer;
  request->channel = channel;
  request->sends = true;
  request->sequence = sendCount[channel][peer]++;
  request->envelope = std::make_shared<ThreadGroup::Envelope>();
  request->envelope->message = std::move(message);
  ThreadGroup::Port &port = group->port(peer);
  {
    std::lock_guard<std::mutex> lock(port.mutex);
    port.inbox[{rank(), channel, request->sequence}] = request->envelope;
  }
  port.changed.notify_all();
  out_request = std::move(request);
  return Status::success();
}

Status ThreadCommunicator::postReceive(int64_t peer, int channel,
                                       Message message,
                                       RequestPtr &out_request) {
  auto request = std::make_unique<ThreadRequest>();
  request->peer = peer;
  request->channel = channel;
  request->sequence = receiveCount[channel][peer]++;
  request->message = std::move(message);
  out_request = std::move(request);
  return Status::success();
}

Status ThreadCommunicator::finishSend(Request &request,
                                      ThreadGroup::Envelope &envelope) {
  ThreadGroup::Port &mine = group->port(rank());
  std::unique_lock<std::mutex> lock(mine.mutex);
  bool ready = mine.changed.wait_for(
      lock, timeout, [&] { return envelope.consumed || group->stopped(); });
  if (envelope.consumed)
    return Status::success();
  return ready ? interrupted(request) : timedOut(request);
}

Status ThreadCommunicator::finish(Request &base) {
  auto &request = static_cast<ThreadRequest &>(base);
  if (request.sends)
    return finishSend(request, *request.envelope);

  std::shared_ptr<ThreadGroup::Envelope> envelope;
  {
    ThreadGroup::Port &mine = group->port(rank());
    ThreadGroup::Key key{request.peer, request.channel, request.sequence};
    std::unique_lock<std::mutex> lock(mine.mutex);
    auto found = mine.inbox.end();
    bool ready = mine.changed.wait_for(lock, timeout, [&] {
      found = mine.inbox.find(key);
      return found != mine.inbox.end() || group->stopped();
    });
    if (group->stopped())
      return interrupted(request);
    if (!ready)
      return timedOut(request);
    envelope = std::move(found->second);
    mine.inbox.erase(found);
  }
  int64_t expected = messageBytes(request.message);
  int64_t got = messageBytes(envelope->message);
  if (expected == got)
    copyMessage(request.message, envelope->message);
  ThreadGroup::Port &theirs = group->port(request.peer);
  {
    std::lock_guard<std::mutex> lock(theirs.mutex);
    envelope->consumed = true;
  }
  theirs.changed.notify_all();
  return expected == got ? Status::success()
                         : sizesDiffer(request, expected, got);
}

} // namespace sprt
