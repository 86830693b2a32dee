/// A GPU, through the CUDA driver, which is looked for at run time.
#ifndef SPRT_LIB_DEVICE_DRIVERDEVICE_H
#define SPRT_LIB_DEVICE_DRIVERDEVICE_H

#include "device/CublasLt.h"
#include "device/CudaDriver.h"
#include "device/Device.h"

#include <atomic>
#include <mutex>
#include <set>

namespace sprt {

class DriverDevice : public Device {
public:
  DriverDevice() = default;
  DriverDevice(const DriverDevice &) = delete;
  DriverDevice &operator=(const DriverDevice &) = delete;
  ~DriverDevice() override;

  /// Takes the GPU of that number.
  Status open(int number);

  Status load(const Program &program) override;
  Status allocate(int64_t bytes, std::byte *&out_data) override;
  Status allocateHost(int64_t bytes, std::byte *&out_data) override;
  void release(std::byte *data) override;
  Status createStream(int64_t rank,
                      std::unique_ptr<Stream> &out_stream) override;
  Status createEvent(bool timed, std::unique_ptr<Event> &out_event) override;
  Status record(Event &event, Stream &stream) override;
  Status wait(Stream &stream, Event &event) override;
  bool reached(const Event &event) override;
  Status elapsed(const Event &from, const Event &to,
                 double &out_seconds) override;
  Status copy(Stream &stream, const Message &target,
              const Message &source) override;
  Status upload(Stream &stream, std::byte *target, const std::byte *data,
                int64_t bytes) override;
  Status fill(Stream &stream, std::byte *target, uint8_t value,
              int64_t bytes) override;
  Status launch(Stream &stream, uint32_t kernel,
                const std::vector<void *> &arguments, int64_t blocks) override;
  Status attend(Stream &stream, uint32_t kernel,
                const AttendArguments &arguments, int64_t blocks) override;
  Status multiply(Stream &stream, const plan::GemmT &gemm,
                  const GemmData &data) override;
  Status encode(const cuda::TensorMapFields &fields,
                cuda::TensorMap &out_map) override;
  Status beginRecording(const std::vector<Stream *> &streams) override;
  Status endRecording() override;
  Status replay() override;
  Fault synchronise(Stream &stream, Limit limit) override;
  void interrupt() override { stopped.store(true); }

private:
  class OwnStream;
  class OwnEvent;
  class Turn;
  /// For one call of the driver.
  static Turn handleOf(Stream &stream);
  static CUdeviceptr address(const void *data);

  /// Makes the GPU the calling thread's; then the result of a call, as a
  /// status.
  Status enter();
  Status check(CUresult result, const char *call) const;
  /// Ends what begins on this stream, where a rank has failed.
  void abandonRecording(const OwnStream &stream);
  /// Numbers of the images that this GPU can run, best first.
  std::vector<size_t> runnable(const Program &program) const;
  /// Finds a kernel in the first of them that has it.
  Status find(const Program &program, uint32_t kernel);
  Status unsupported(const Program &program, const plan::KernelT &kernel) const;
  Status start(Stream &stream, uint32_t kernel, void **parameters,
               int64_t blocks);

  CudaDriver driver;
  CUdevice device = -1;
  CUcontext context = nullptr;
  std::vector<CUmodule> modules; ///< of the first runnable images
  CublasLt products;
  int architecture = 0; ///< 90 for sm_90
  const Program *program = nullptr;
  std::vector<CUfunction> functions; ///< by kernel
  std::mutex mutex;
  std::set<std::byte *> memory, hostMemory;
  std::atomic<bool> stopped{false};

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
