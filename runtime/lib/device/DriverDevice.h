/// A GPU, through the CUDA driver, which is looked for at run time.
///
/// A kernel may never end, and then a call that frees anything of that GPU
/// never comes back. So whoever interrupts the device or gives up waiting for a
/// stream gives up the device: it frees nothing more while one of its streams
/// is busy, nor does any other device of that GPU. Where it goes meanwhile, it
/// is kept instead, with all that it has, until the next one of that GPU is
/// opened: that frees it, or is refused where its streams are busy still.
#ifndef SPRT_LIB_DEVICE_DRIVERDEVICE_H
#define SPRT_LIB_DEVICE_DRIVERDEVICE_H

#include "device/CublasLt.h"
#include "device/DriverKernels.h"
#include "device/LaunchLog.h"

namespace sprt {

class DriverDevice : public Device {
public:
  DriverDevice() = default;
  DriverDevice(const DriverDevice &) = delete;
  DriverDevice &operator=(const DriverDevice &) = delete;
  ~DriverDevice() override;

  /// The GPU of that number.
  static Status open(int number, std::shared_ptr<Device> &out_device);

  Status load(const Program &program) override;
  Status allocate(int64_t bytes, std::byte *&out_data) override;
  Status allocateHost(int64_t bytes, std::byte *&out_data) override;
  void release(std::byte *data) override;
  Status createStream(int64_t rank,
                      std::unique_ptr<Stream> &out_stream) override;
  Status createEvent(bool timed, std::unique_ptr<Event> &out_event) override;
  Status elapsed(const Event &from, const Event &to,
                 double &out_seconds) override;
  Status encode(const cuda::TensorMapFields &fields,
                cuda::TensorMap &out_map) override;
  Status beginRecording(const std::vector<Stream *> &streams) override;
  Status endRecording() override;
  Status replay() override;
  void interrupt() override;

protected:
  int blocksPerProcessor(uint32_t kernel) const override {
    return kernels[kernel].residentBlocks;
  }

private:
  class OwnStream;
  class OwnEvent;
  class Turn;

  Status take(int number);
  /// Deletes the device, or keeps it while it is busy.
  static void leave(DriverDevice *device);
  /// Notes that nobody waits for the streams' end any more, but for so long
  /// whoever frees something. `reason`: what has not ended, where that is
  /// known.
  void giveUp(std::chrono::duration<double> patience, std::string reason);
  /// Whether the driver frees what this GPU holds without waiting for ever.
  bool mayFree();
  bool isBusy();
  /// Frees what devices left behind on the GPU of this one's number.
  Status reclaim();

  /// Ends what begins on this stream, where a rank has failed.
  void abandonRecording(const OwnStream &stream);

  DriverContext gpu;
  CublasLt products;
  const Program *program = nullptr;
  DriverKernels kernels{gpu};
  EventPool events{gpu};
  LaunchLog launches{gpu, events};
  std::mutex mutex; ///< of what follows
  std::set<std::byte *> memory, hostMemory;
  std::set<OwnStream *> streams;
  std::vector<CUstream> strays; ///< whose owners have gone

  std::atomic<bool> stopped{false};
  /// Guarded by the mutex of GivenUp.
  std::chrono::steady_clock::time_point patienceEnds;
  std::string givenUpBecause;

  /// The recorded run. It begins on the first of its streams, from which the
  /// others fork and which they join.
  std::mutex turns; ///< of threads that record, and of all below
  std::vector<OwnStream *> recorded;
  std::unique_ptr<Event> fence;
  CUgraphExec graph = nullptr;
  bool capturing = false;
  size_t finished = 0, arrived = 0; ///< ranks at endRecording, at replay
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_DRIVERDEVICE_H
