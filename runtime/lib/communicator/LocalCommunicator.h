/// Ranks of one process that share a device.
///
/// Envelopes go from thread to thread as ThreadCommunicator's do, but nobody
/// waits for bytes: the copy is put on the receiver's stream, and events order
/// it with the sender's in both directions.
///
///     sender's stream     ..  ready            (done)  ..
///     receiver's stream   ..  (ready)  copy  done      ..
///
/// `order` returns once all that is on the streams; `wait` also waits for them.
#ifndef SPRT_LIB_COMMUNICATOR_LOCALCOMMUNICATOR_H
#define SPRT_LIB_COMMUNICATOR_LOCALCOMMUNICATOR_H

#include "communicator/ThreadCommunicator.h"
#include "device/Device.h"

#include <array>

namespace sprt {

/// The streams of a rank: one for each channel.
using RankStreams = std::array<std::unique_ptr<Device::Stream>, kChannels>;

class LocalCommunicator : public ThreadCommunicator {
public:
  LocalCommunicator(std::shared_ptr<ThreadGroup> group, int64_t rank,
                    int64_t ranks, std::shared_ptr<Device> device,
                    std::shared_ptr<RankStreams> streams)
      : ThreadCommunicator(std::move(group), rank, ranks),
        device(std::move(device)), streams(std::move(streams)) {}

  Status synchronise(int channel) override;
  void interrupt() override;

protected:
  Status open(int channel, const Message &message,
              std::shared_ptr<ThreadGroup::Envelope> &out_envelope) override;
  Status deliver(int channel, const Message &target,
                 ThreadGroup::Envelope &envelope) override;
  Status close(int channel, ThreadGroup::Envelope &envelope) override;

private:
  Device::Stream &stream(int channel) const {
    return *(*streams)[static_cast<size_t>(channel)];
  }

  std::shared_ptr<Device> device;
  std::shared_ptr<RankStreams> streams;
};

/// A group whose sleeping threads the device knows of.
std::shared_ptr<ThreadGroup> localGroup(int64_t ranks,
                                        const std::shared_ptr<Device> &device);

} // namespace sprt

#endif // SPRT_LIB_COMMUNICATOR_LOCALCOMMUNICATOR_H
