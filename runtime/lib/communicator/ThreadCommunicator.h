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
  /// `runs` is told how many more (fewer) threads of the ranks run: those that
  /// sleep here do not, from the moment that they fall asleep to that in which
  /// another thread wakes them.
  explicit ThreadGroup(int64_t ranks, std::function<void(int)> runs = {})
      : runs(std::move(runs)), ports(static_cast<size_t>(ranks)) {}

  /// A message on its way. `consumed` is guarded by the sender's port.
  struct Envelope {
    virtual ~Envelope() = default;
    Message message;
    bool consumed = false;
  };

  /// Sender, channel, sequence number.
  using Key = std::tuple<int64_t, int, int64_t>;

  struct Port {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<Key, std::shared_ptr<Envelope>> inbox;
    int sleepers = 0;
    uint64_t turn = 0; ///< counts the calls that woke them
  };

  /// Sleeps until `done`, unless `limit` passes first. Whoever changes what it
  /// looks at calls `wake`; both hold the port's mutex.
  bool sleep(Port &port, std::unique_lock<std::mutex> &lock,
             std::chrono::duration<double> limit,
             const std::function<bool()> &done);
  void wake(Port &port);

  Port &port(int64_t rank) { return ports[static_cast<size_t>(rank)]; }
  bool stopped() const { return stop.load(std::memory_order_acquire); }
  void interrupt();

private:
  std::function<void(int)> runs; ///< may own what envelopes need to end
  std::vector<Port> ports;
  std::atomic<bool> stop{false};
};

class ThreadCommunicator : public Communicator {
public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int64_t rank,
                     int64_t ranks)
      : Communicator(rank, ranks), group(std::move(group)) {}

  void interrupt() override;

protected:
  Status postSend(int64_t peer, int channel, Message message,
                  RequestPtr &out_request) override;
  Status postReceive(int64_t peer, int channel, Message message,
                     RequestPtr &out_request) override;
  Status finish(Request &request) override;

  /// An envelope for a message whose bytes are there now.
  virtual Status open(int channel, const Message &message,
                      std::shared_ptr<ThreadGroup::Envelope> &out_envelope);
  /// Brings what the envelope describes to the receiver.
  virtual Status deliver(int channel, const Message &target,
                         ThreadGroup::Envelope &envelope);
  /// At the sender, once the receiver has delivered.
  virtual Status close(int channel, ThreadGroup::Envelope &envelope);

private:
  Status finishSend(Request &request, ThreadGroup::Envelope &envelope);

  std::shared_ptr<ThreadGroup> group;
  std::map<int64_t, int64_t> sendCount[kChannels];
  std::map<int64_t, int64_t> receiveCount[kChannels];
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_THREADCOMMUNICATOR_H
