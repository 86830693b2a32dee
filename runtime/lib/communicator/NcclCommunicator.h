/// Ranks on GPUs of their own, a process each, over NCCL.
///
/// Transfers of a channel gather until one of them is asked for; then all of
/// them start as one group, so that neither their order nor the peers' matters.
/// Each channel is a communicator of NCCL's, as streams of the plan overlap:
///
///     post      send to 1, receive from 3             nothing happens
///     order     pack | send + receive | unpack        on the channel's stream
///
/// Messages that are not one run of bytes are packed in memory of the device.
/// Memory of the host, which is control and reductions, goes through the world
/// instead.
///
/// A block of attention leaves no other block room on its processor. So the
/// kernels of NCCL, of which each communicator has few blocks, have processors
/// of their own, on which attention runs none where messages overlap it.
///
/// Nobody waits for a stream for ever: whoever synchronises one looks at NCCL's
/// errors, at the world's, and once it is late at which group is under way.
#ifndef SPRT_LIB_COMMUNICATOR_NCCLCOMMUNICATOR_H
#define SPRT_LIB_COMMUNICATOR_NCCLCOMMUNICATOR_H

#include "communicator/LocalCommunicator.h"
#include "communicator/NcclLibrary.h"
#include "communicator/World.h"

#include <deque>

namespace sprt {

class NcclCommunicator : public Communicator {
public:
  NcclCommunicator(std::shared_ptr<World> world, std::shared_ptr<Device> device,
                   std::shared_ptr<RankStreams> streams);
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &operator=(const NcclCommunicator &) = delete;
  ~NcclCommunicator() override;

  /// Connects the channels that will move memory of the device, the same on
  /// every rank. The calling thread has the device's context, if it is a GPU.
  Status connect(const std::vector<int> &channels, bool emulated);

  Status synchronise(int channel) override;
  void interrupt() override;

protected:
  Status postSend(int64_t peer, int channel, Message message,
                  RequestPtr &out_request) override;
  Status postReceive(int64_t peer, int channel, Message message,
                     RequestPtr &out_request) override;
  Status finish(Request &request) override;

private:
  /// While it lives, the device knows that one of its threads waits for
  /// another process.
  class Waiting {
  public:
    explicit Waiting(Device &device) : device(device) { device.threadsWait(1); }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;
    ~Waiting() { device.threadsWait(-1); }

  private:
    Device &device;
  };
  /// What a request asks for; it may go before its group starts.
  struct Transfer {
    int64_t peer = 0;
    bool sends = false;
    bool started = false;
    bool packed = false; ///< has a copy, as it is not one run of bytes
    Message message;
    int64_t bytes = 0;
    std::byte *data = nullptr; ///< of the message or its copy
  };
  struct NcclRequest;
  /// Transfers that have been put on a stream.
  struct Group {
    std::shared_ptr<const Device::Origin> origin;
    std::vector<std::shared_ptr<Transfer>> transfers;
    std::unique_ptr<Device::Event> ready, done;
  };
  struct Lane {
    /// NCCL allows one call at a time for a communicator.
    std::mutex calling;
    ncclComm_t communicator = nullptr;
    std::vector<std::shared_ptr<Transfer>> posted;
    std::byte *staging = nullptr;
    int64_t stagingBytes = 0;
    std::map<int64_t, int64_t> sequences[2]; ///< receives, sends
    std::deque<Group> groups;                ///< guarded by `watching`
  };

  Status post(bool sends, int64_t peer, int channel, Message message,
              RequestPtr &out_request);
  /// Puts what has been posted on the channel's stream.
  Status start(int channel);
  Status stage(Lane &lane,
               const std::vector<std::shared_ptr<Transfer>> &transfers);
  Status call(Lane &lane, const std::vector<std::shared_ptr<Transfer>> &all,
              Device::Stream &stream);
  /// Sleeps until NCCL has done what it has begun.
  Status settle(Lane &lane, const char *what, Clock::time_point end);
  Status stateOf(Lane &lane, const char *what, bool &out_busy);
  Status exchangeIds(std::vector<ncclUniqueId> &ids);
  /// For the streams: see Device::Stream::watch.
  Device::Fault look(bool late);
  /// The earliest group whose turn on its stream has come, or null.
  const Group *underWay();
  /// "rank 1", "ranks 1, 2".
  static std::string
  peersOf(const std::vector<std::shared_ptr<Transfer>> &transfers);
  Status stopped(const std::vector<std::shared_ptr<Transfer>> &transfers) const;
  Status late(const std::vector<std::shared_ptr<Transfer>> &transfers) const;
  void abort();

  Device::Stream &stream(int channel) const {
    return *(*streams)[static_cast<size_t>(channel)];
  }

  NcclLibrary nccl;
  std::shared_ptr<World> world;
  std::unique_ptr<Communicator> host;
  std::shared_ptr<Device> device;
  std::shared_ptr<RankStreams> streams;
  Lane lanes[kChannels];
  std::vector<std::byte *> memory; ///< of the device, for all lanes
  std::mutex watching;             ///< of groups and of memory
  std::atomic<bool> ended{false};  ///< nothing of NCCL's may be called
  std::atomic<bool> broken{false}; ///< a transfer may never end
};

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_NCCLCOMMUNICATOR_H
