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
    wake(port);
  }
}

bool ThreadGroup::sleep(Port &port, std::unique_lock<std::mutex> &lock,
                        std::chrono::duration<double> limit,
                        const std::function<bool()> &done) {
  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  while (!done()) {
    uint64_t turn = port.turn;
    ++port.sleepers;
    if (runs)
      runs(-1);
    if (port.changed.wait_until(lock, end, [&] { return port.turn != turn; }))
      continue;
    --port.sleepers;
    if (runs)
      runs(1);
    return done();
  }
  return true;
}

void ThreadGroup::wake(Port &port) {
  ++port.turn;
  if (runs && port.sleepers > 0)
    runs(port.sleepers);
  port.sleepers = 0;
  port.changed.notify_all();
}

void ThreadCommunicator::interrupt() { group->interrupt(); }

Status
ThreadCommunicator::open(int, const Message &,
                         std::shared_ptr<ThreadGroup::Envelope> &out_envelope) {
  out_envelope = std::make_shared<ThreadGroup::Envelope>();
  return Status::success();
}

Status ThreadCommunicator::deliver(int, const Message &target,
                                   ThreadGroup::Envelope &envelope) {
  copyMessage(target, envelope.message);
  return Status::success();
}

Status ThreadCommunicator::close(int, ThreadGroup::Envelope &) {
  return Status::success();
}

Status ThreadCommunicator::postSend(int64_t peer, int channel, Message message,
                                    RequestPtr &out_request) {
  auto request = std::make_unique<ThreadRequest>();
  request->peer = peer;
  request->channel = channel;
  request->sends = true;
  request->sequence = sendCount[channel][peer]++;
  if (Status failure = open(channel, message, request->envelope))
    return failure;
  request->envelope->message = std::move(message);
  ThreadGroup::Port &port = group->port(peer);
  {
    std::lock_guard<std::mutex> lock(port.mutex);
    port.inbox[{rank(), channel, request->sequence}] = request->envelope;
    group->wake(port);
  }
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
  bool ready = group->sleep(mine, lock, timeout, [&] {
    return envelope.consumed || group->stopped();
  });
  if (envelope.consumed)
    return close(request.channel, envelope);
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
    bool ready = group->sleep(mine, lock, timeout, [&] {
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
  Status failure = expected == got
                       ? deliver(request.channel, request.message, *envelope)
                       : sizesDiffer(request, expected, got);
  ThreadGroup::Port &theirs = group->port(request.peer);
  {
    std::lock_guard<std::mutex> lock(theirs.mutex);
    envelope->consumed = true;
    group->wake(theirs);
  }
  return failure;
}

} // namespace sprt
