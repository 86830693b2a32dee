/// What a GPU's streams and events are, for the sources of DriverDevice.
#ifndef SPRT_LIB_DEVICE_DRIVERHANDLES_H
#define SPRT_LIB_DEVICE_DRIVERHANDLES_H

#include "device/DriverDevice.h"

#include <deque>

/// Makes a call of the driver, whose failure the function returns.
#define SPRT_CALL(name, ...)                                                   \
  if (Status failure = check(driver.name(__VA_ARGS__), #name))                 \
  return failure

namespace sprt {

class DriverDevice::OwnStream : public Stream {
public:
  OwnStream(DriverDevice &device, int64_t rank)
      : Stream(rank), device(device) {}
  ~OwnStream() override {
    bool mayFree = device.mayFree();
    {
      std::lock_guard<std::mutex> lock(device.mutex);
      device.streams.erase(this);
      for (const Launched &each : launched)
        device.spareEvents[false].push_back(each.event);
      if (stream && !mayFree)
        device.strays.push_back(stream);
    }
    if (stream && !device.enter()) {
      device.abandonRecording(*this);
      if (mayFree)
        (void)device.driver.cuStreamDestroy(stream);
    }
    device.release(workspace);
  }
  void *handle() override { return stream; }
  DriverDevice &device;
  CUstream stream = nullptr;
  std::byte *workspace = nullptr; ///< of products; from the first one on
  bool records = false;           ///< keeps what it is given
  std::deque<Launched> launched;  ///< guarded by the device's `mutex`
};

class DriverDevice::OwnEvent : public Event {
public:
  OwnEvent(DriverDevice &device, bool timed) : device(device), timed(timed) {}
  ~OwnEvent() override {
    std::lock_guard<std::mutex> lock(device.mutex);
    if (handle)
      device.spareEvents[timed].push_back(handle);
  }
  DriverDevice &device;
  const bool timed;
  CUevent handle = nullptr;
  bool marked = false;   ///< by record
  bool recorded = false; ///< last marked recorded work
};

/// A stream's handle. While the stream records, its holder is the only one that
/// calls the driver: streams of several threads make one graph, and graphs are
/// not for several threads.
class DriverDevice::Turn {
public:
  explicit Turn(OwnStream &own) : stream(own.stream) {
    if (own.records)
      lock = std::unique_lock<std::mutex>(own.device.turns);
  }
  operator CUstream() const { return stream; }

private:
  CUstream stream;
  std::unique_lock<std::mutex> lock;
};

inline DriverDevice::Turn DriverDevice::handleOf(Stream &stream) {
  return Turn(static_cast<OwnStream &>(stream));
}

inline CUdeviceptr DriverDevice::address(const void *data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

} // namespace sprt

#endif // SPRT_LIB_DEVICE_DRIVERHANDLES_H
