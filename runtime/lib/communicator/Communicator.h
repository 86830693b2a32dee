/// Point-to-point transfers between ranks: the one class a communicator is.
///
/// An endpoint belongs to one rank. Each of its channels is used by one thread
/// at a time (a stream of the plan, the session's control traffic); different
/// channels may be used at once. Between two ranks, the i-th send on a channel
/// matches the i-th receive, in the order of posting. A send may be posted
/// before or after its receive; memory of either may not be touched until its
/// wait has returned. Collectives are written once, above this class.
#ifndef SPRT_LIB_COMMUNICATOR_COMMUNICATOR_H
#define SPRT_LIB_COMMUNICATOR_COMMUNICATOR_H

#include "support/Message.h"
#include "support/Status.h"

#include <chrono>
#include <memory>

namespace sprt {

using Clock = std::chrono::steady_clock;

/// Streams of the plan, then traffic of the session itself, which is not
/// counted.
enum Channel {
  kComputeChannel = 0,
  kCommChannel = 1,
  kBackChannel = 2,
  kInChannel = 3,
  kOutChannel = 4,
  kControlChannel = 5,
  kChannels = 6
};

/// A transfer under way. Destroying it before its wait gives the transfer up
/// and is only right after a failure.
class Request {
public:
  virtual ~Request() = default;
  int64_t peer = 0;
  int channel = 0;
  int64_t sequence =
      0; ///< number among the transfers of this direction, peer and channel
  bool sends = false;
};
using RequestPtr = std::unique_ptr<Request>;

/// One end of a transfer, for the trace.
struct FlowEvent {
  bool sends;
  int64_t peer;
  int64_t sequence;
  Clock::time_point time;
};

class Communicator {
public:
  Communicator(int64_t rank, int64_t ranks)
      : rankNumber(rank), rankCount(ranks) {}
  virtual ~Communicator() = default;

  int64_t rank() const { return rankNumber; }
  int64_t ranks() const { return rankCount; }

  /// Posts a transfer with another rank (never with itself).
  Status send(int64_t peer, int channel, Message message,
              RequestPtr &out_request);
  Status receive(int64_t peer, int channel, Message message,
                 RequestPtr &out_request);
  /// Sleeps until the transfer is complete; a status after the time limit,
  /// after an interrupt, or when the two ends differ in size.
  Status wait(Request &request);
  /// Of a communicator for streams: returns as soon as whatever the channel's
  /// stream is given from now on comes after the transfer. The others wait.
  Status order(Request &request);
  /// Waits for what has been ordered.
  virtual Status synchronise(int channel);

  /// Makes every wait of every local rank, present and future, end with a
  /// status, and tells remote ranks as far as possible. Any thread may call it.
  virtual void interrupt() = 0;

  /// Before a run: forgets counts and flows.
  void beginRun(bool keepFlows);
  /// Bytes sent on the counted channels since beginRun.
  int64_t bytesSent() const {
    return sent[kComputeChannel] + sent[kCommChannel] + sent[kBackChannel];
  }
  const std::vector<FlowEvent> &flows(int channel) const {
    return flowsOf[channel];
  }
  /// Corrects when a transfer was under way, where streams knew it later.
  void moveFlow(int channel, size_t flow, Clock::time_point time) {
    flowsOf[channel][flow].time = time;
  }

  std::chrono::duration<double> timeout{300};

  /// While it lives, messages of a channel lie in memory of the host, also
  /// where a communicator otherwise moves a device's.
  class OnHost {
  public:
    OnHost(Communicator &communicator, int channel)
        : flag(communicator.onHost[channel]), before(flag) {
      flag = true;
    }
    OnHost(const OnHost &) = delete;
    OnHost &operator=(const OnHost &) = delete;
    ~OnHost() { flag = before; }

  private:
    bool &flag;
    const bool before;
  };

protected:
  bool isOnHost(int channel) const { return onHost[channel]; }

  virtual Status postSend(int64_t peer, int channel, Message message,
                          RequestPtr &out_request) = 0;
  virtual Status postReceive(int64_t peer, int channel, Message message,
                             RequestPtr &out_request) = 0;
  /// Orders the transfer before what follows on its channel.
  virtual Status finish(Request &request) = 0;

  /// Statuses that all communicators word alike.
  Status timedOut(const Request &request) const;
  Status interrupted(const Request &request) const;
  Status sizesDiffer(const Request &request, int64_t expected,
                     int64_t got) const;

private:
  Status post(bool sends, int64_t peer, int channel, Message message,
              RequestPtr &out_request);

  int64_t rankNumber;
  int64_t rankCount;
  bool onHost[kChannels] = {false, false, false, false, false, true};
  int64_t sent[kChannels] = {};
  bool tracing = false;
  std::vector<FlowEvent> flowsOf[kChannels];
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_COMMUNICATOR_H
