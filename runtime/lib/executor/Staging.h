/// Memory of the host through which a rank's arrays travel to and from its
/// device: buffers in turn, so that the host works on one while others are
/// copied.
///
///     host        fill 0    fill 1    fill 2    fill 3    (0) fill 0
///     stream 0              copy 0
///     stream 1                        copy 1
#ifndef SPRT_LIB_EXECUTOR_STAGING_H
#define SPRT_LIB_EXECUTOR_STAGING_H

#include "device/Device.h"

#include <array>
#include <functional>

namespace sprt {

class Staging {
public:
  /// Of a buffer: long enough to hide what a copy costs to start.
  static constexpr int64_t kPartBytes = int64_t(2) << 20;

  Staging(std::shared_ptr<Device> device, int64_t rank)
      : device(std::move(device)), rank(rank) {}
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;
  ~Staging();

  /// Reserves the buffers. Before any other call.
  Status open();

  /// Bytes [first, first + size) of an array, in memory of the host.
  using Fill =
      std::function<void(std::byte *part, int64_t first, int64_t size)>;
  using Take =
      std::function<void(const std::byte *part, int64_t first, int64_t size)>;

  /// The copy comes after what `before` holds, which may read what lies there,
  /// and before what it is given from now on. A wait for a buffer ends after
  /// `limit`.
  Status send(std::byte *target, int64_t bytes, const Fill &fill,
              Device::Stream &before, Device::Limit limit);
  /// Of memory that nobody writes; returns when all has been taken.
  Status receive(const std::byte *source, int64_t bytes, const Take &take,
                 Device::Limit limit);

private:
  struct Buffer {
    std::byte *data = nullptr;
    std::unique_ptr<Device::Stream> stream;
    std::unique_ptr<Device::Event> copied;
  };

  const std::shared_ptr<Device> device;
  const int64_t rank;
  std::array<Buffer, 4> buffers;
  std::unique_ptr<Device::Event> ready;
  size_t turn = 0; ///< the buffer that has rested longest
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_STAGING_H
