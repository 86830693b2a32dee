/// Ranks as threads of one process.
///
/// A send leaves an envelope, which says where its bytes lie, at the receiver's
/// port; the receiver copies straight from the sender's memory, once, and then
/// marks the envelope as consumed. Whoever waits sleeps on its own port's
/// condition variable.
#ifndef SPRT_LIB_COMMUNICATOR_THREADCOMMUNICATOR_H
#define SPRT_LIB_COMMUNICATOR_THREADCOMMUNICATOR_H

#include "communicator/Communicator.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <tuple>

namespace sprt {

/// What the ranks of a process share.
class ThreadGroup {
public:
  explicit ThreadGroup(int64_t ranks) : ports(static_cast<size_t>(ranks)) {}

  /// A message on its way. `consumed` is guarded by the sender's port.
  struct Envelope {
    Message message;
    bool consumed = false;
  };

  /// Sender, channel, sequence number.
  using Key = std::tuple<int64_t, int, int64_t>;

  struct Port {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<Key, std::shared_ptr<Envelope>> inbox;
  };

  Port &port(int64_t rank) { return ports[static_cast<size_t>(rank)]; }
  bool stopped() const { return stop.load(std::memory_order_acquire); }
  void interrupt();

private:
  std::vector<Port> ports;
  std::atomic<bool> stop{false};
};

class ThreadCommunicator : public Communicator {
public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int64_t rank,
                     int64_t ranks)
      : Communicator(rank, ranks), group(std::move(group)) {}

  void interrupt() override { group->interrupt(); }

protected:
  Status postSend(int64_t peer, int channel, Message message,
                  RequestPtr &out_request) override;
  Status postReceive(int64_t peer, int channel, Message message,
                     RequestPtr &out_request) override;
  Status finish(Request &request) override;

private:
  Status finishSend(Request &request, ThreadGroup::Envelope &envelope);

  std::shared_ptr<ThreadGroup> group;
  std::map<int64_t, int64_t> sendCount[kChannels];
  std::map<int64_t, int64_t> receiveCount[kChannels];
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_THREADCOMMUNICATOR_H
