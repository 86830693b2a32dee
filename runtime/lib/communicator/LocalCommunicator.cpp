#include "communicator/LocalCommunicator.h"

namespace sprt {

namespace {
/// Of an empty message there is nothing to order.
struct LocalEnvelope : ThreadGroup::Envelope {
  std::unique_ptr<Device::Event> ready, done;
};
} // namespace

Status
LocalCommunicator::open(int channel, const Message &message,
                        std::shared_ptr<ThreadGroup::Envelope> &out_envelope) {
  auto envelope = std::make_shared<LocalEnvelope>();
  out_envelope = envelope;
  if (messageBytes(message) == 0)
    return Status::success();
  if (Status failure = device->createEvent(false, envelope->ready))
    return failure;
  return stream(channel).record(*envelope->ready);
}

Status LocalCommunicator::deliver(int channel, const Message &target,
                                  ThreadGroup::Envelope &base) {
  auto &envelope = static_cast<LocalEnvelope &>(base);
  if (!envelope.ready)
    return Status::success();
  Device::Stream &mine = stream(channel);
  if (Status failure = mine.wait(*envelope.ready))
    return failure;
  if (Status failure = mine.copy(target, envelope.message))
    return failure;
  if (Status failure = device->createEvent(false, envelope.done))
    return failure;
  return mine.record(*envelope.done);
}

Status LocalCommunicator::close(int channel, ThreadGroup::Envelope &base) {
  auto &envelope = static_cast<LocalEnvelope &>(base);
  if (!envelope.done)
    return Status::success();
  return stream(channel).wait(*envelope.done);
}

Status LocalCommunicator::synchronise(int channel) {
  return stream(channel).synchronise(timeout).status;
}

void LocalCommunicator::interrupt() {
  ThreadCommunicator::interrupt();
  device->interrupt();
}

std::shared_ptr<ThreadGroup> localGroup(int64_t ranks,
                                        const std::shared_ptr<Device> &device) {
  return std::make_shared<ThreadGroup>(
      ranks, [device](int more) { device->threadsRun(more); });
}

} // namespace sprt
