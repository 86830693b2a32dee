/// What a GPU's streams and events are, for the sources of DriverDevice.
#ifndef SPRT_LIB_DEVICE_DRIVERHANDLES_H
#define SPRT_LIB_DEVICE_DRIVERHANDLES_H

#include "device/DriverDevice.h"

namespace sprt {

class DriverDevice::OwnStream : public Stream {
public:
  OwnStream(DriverDevice &device, int64_t rank)
      : Stream(rank), device(device), gpu(device.gpu) {}
  ~OwnStream() override {
    bool mayFree = device.mayFree();
    {
      std::lock_guard<std::mutex> lock(device.mutex);
      device.streams.erase(this);
      if (stream && !mayFree)
        device.strays.push_back(stream);
    }
    device.launches.forget(*this);
    if (stream && !gpu.enter()) {
      device.abandonRecording(*this);
      if (mayFree)
        (void)gpu.driver.cuStreamDestroy(stream);
    }
    device.release(workspace);
  }
  void *handle() override { return stream; }

  Status record(Event &event) override;
  Status wait(Event &event) override;
  Status copy(const Message &target, const Message &source) override;
  Status upload(std::byte *target, const std::byte *data,
                int64_t bytes) override;
  Status fill(std::byte *target, uint8_t value, int64_t bytes) override;
  Status launch(uint32_t kernel, const std::vector<void *> &arguments,
                int64_t blocks) override;
  Status attend(uint32_t kernel, const AttendArguments &arguments,
                int64_t blocks) override;
  Status multiply(const plan::GemmT &gemm, const GemmData &data) override;
  Fault synchronise(Limit limit) override;

  /// Notes what it has just been given.
  Status note(const LaunchLog::Launch &launch) {
    if (!records)
      return device.launches.note(*this, stream, launch);
    device.launches.noteRecorded(launch);
    return Status::success();
  }

  DriverDevice &device;
  const DriverContext &gpu;
  CUstream stream = nullptr;
  std::byte *workspace = nullptr; ///< of products; from the first one on
  bool records = false;           ///< keeps what it is given

private:
  /// For one call of the driver.
  Turn turn();
  Status start(uint32_t kernel, void **parameters, int64_t blocks);
  /// A wait begins anew with every kernel that has ended.
  struct Wait {
    std::chrono::steady_clock::time_point since;
    uint64_t ended; ///< of all streams
  };
  /// Whether a wait has taken too long for what runs.
  Fault look(Limit limit, Wait &wait);
  /// For waits that others end.
  Fault interrupted();
};

class DriverDevice::OwnEvent : public Event {
public:
  OwnEvent(DriverDevice &device, bool timed) : device(device), timed(timed) {}
  ~OwnEvent() override {
    if (handle)
      device.events.giveBack(timed, handle);
  }
  bool reached() const override;

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

inline DriverDevice::Turn DriverDevice::OwnStream::turn() {
  return Turn(*this);
}

} // namespace sprt

#endif // SPRT_LIB_DEVICE_DRIVERHANDLES_H
