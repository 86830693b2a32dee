#include "executor/Staging.h"

#include <algorithm>

namespace sprt {

Staging::~Staging() {
  for (Buffer &buffer : buffers) {
    // A copy that nobody waited for ends with its stream.
    buffer.stream.reset();
    if (buffer.data)
      device->release(buffer.data);
  }
}

Status Staging::open() {
  if (Status failure = device->createEvent(false, ready))
    return failure;
  for (Buffer &buffer : buffers) {
    if (Status failure = device->createStream(rank, buffer.stream))
      return failure;
    if (Status failure = device->createEvent(false, buffer.copied))
      return failure;
    if (Status failure = device->allocateHost(kPartBytes, buffer.data))
      return failure;
  }
  return Status::success();
}

Status Staging::send(std::byte *target, int64_t bytes, const Fill &fill,
                     Device::Stream &before, Device::Limit limit) {
  if (Status failure = before.record(*ready))
    return failure;
  for (int64_t first = 0; first < bytes; first += kPartBytes) {
    Buffer &buffer = buffers[turn++ % buffers.size()];
    int64_t size = std::min(kPartBytes, bytes - first);
    if (Status failure = buffer.stream->synchronise(limit).status)
      return failure;
    if (Status failure = buffer.stream->wait(*ready))
      return failure;
    fill(buffer.data, first, size);
    if (Status failure = buffer.stream->copy(denseMessage(target + first, size),
                                             denseMessage(buffer.data, size)))
      return failure;
    if (Status failure = buffer.stream->record(*buffer.copied))
      return failure;
    if (Status failure = before.wait(*buffer.copied))
      return failure;
  }
  return Status::success();
}

Status Staging::receive(const std::byte *source, int64_t bytes,
                        const Take &take, Device::Limit limit) {
  int64_t count = static_cast<int64_t>(buffers.size());
  int64_t parts = (bytes + kPartBytes - 1) / kPartBytes;
  auto sizeOf = [&](int64_t part) {
    return std::min(kPartBytes, bytes - part * kPartBytes);
  };
  // A buffer is emptied just before it is filled again.
  for (int64_t part = 0; part < parts + count; ++part) {
    Buffer &buffer = buffers[static_cast<size_t>(part % count)];
    if (int64_t earlier = part - count; earlier >= 0 && earlier < parts) {
      if (Status failure = buffer.stream->synchronise(limit).status)
        return failure;
      take(buffer.data, earlier * kPartBytes, sizeOf(earlier));
    }
    if (part >= parts)
      continue;
    const std::byte *from = source + part * kPartBytes;
    if (Status failure = buffer.stream->copy(
            denseMessage(buffer.data, sizeOf(part)),
            denseMessage(const_cast<std::byte *>(from), sizeOf(part))))
      return failure;
  }
  return Status::success();
}

} // namespace sprt
