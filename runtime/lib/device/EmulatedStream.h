/// What a library for GPUs gets in place of a CUstream from the emulated
/// device: a way to put its own work on the stream. No real library knows it;
/// the double of NCCL in test/Runtime does.
#ifndef SPRT_LIB_DEVICE_EMULATEDSTREAM_H
#define SPRT_LIB_DEVICE_EMULATEDSTREAM_H

#include <functional>

namespace sprt {

class EmulatedStream {
public:
  virtual ~EmulatedStream() = default;
  /// `poll` is called again and again, once all before it on the stream is
  /// done, and what comes after it waits until it has returned true. It is to
  /// be quick, and may not call the device.
  virtual void enqueue(std::function<bool()> poll) = 0;
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_EMULATEDSTREAM_H
