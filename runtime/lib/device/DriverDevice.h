/// A GPU, through the CUDA driver, which is looked for at run time.
///
/// A kernel may never end, and then a call that frees anything of that GPU
/// never comes back. So whoever interrupts the device or gives up waiting for a
/// stream gives up the device: it frees nothing more while one of its streams
/// is busy, nor does any other device of that GPU. Where it goes meanwhile, it
/// is kept instead, with all that it has, until the next one of that GPU is
/// opened: that frees it, or is refused where its streams are busy still.
///
/// Which kernel that was, events behind the kernels tell: all that are given to
/// streams are numbered, and none waits for one behind it, so that the first
/// which has not ended is the one. A recorded run has no such events.
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

  /// The GPU of that number.
  static Status open(int number, std::shared_ptr<Device> &out_device);

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
  void interrupt() override;

protected:
  int blocksPerProcessor(uint32_t kernel) const override {
    return residentBlocks[kernel];
  }

private:
  class OwnStream;
  class OwnEvent;
  class Turn;
  struct GivenUp;
  /// A kernel or a replay that a stream was given; its event comes behind it.
  struct Launched {
    uint64_t number = 0;
    const std::string *kernel = nullptr; ///< null: of a library for products
    std::shared_ptr<const Origin> origin;
    bool isReplay = false;
    CUevent event = nullptr;
  };
  /// For one call of the driver.
  static Turn handleOf(Stream &stream);
  static CUdeviceptr address(const void *data);

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
  static GivenUp &givenUp();

  /// With `mutex` held.
  Status takeEvent(bool timed, CUevent &out_event);
  /// Notes what a stream has been given.
  Status note(OwnStream &stream, Launched work);
  /// Forgets what has ended, and finds the first that has not.
  const Launched *findRunning(OwnStream *&out_stream);
  void forgetEnded(OwnStream &stream);
  /// What has not ended, for people.
  std::string describe(const Launched &running, const OwnStream &stream) const;
  /// A wait begins anew with every kernel that has ended.
  struct Wait {
    std::chrono::steady_clock::time_point since;
    uint64_t ended; ///< of all streams
  };
  /// For waits that others end.
  Fault interrupted();
  /// Whether a wait has taken too long for what runs.
  Fault look(OwnStream &stream, Limit limit, Wait &wait);

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
  std::vector<int> residentBlocks;   ///< likewise, of a processor
  std::mutex mutex;                  ///< of what follows
  std::set<std::byte *> memory, hostMemory;
  std::set<OwnStream *> streams;
  std::vector<CUstream> strays;        ///< whose owners have gone
  std::vector<CUevent> spareEvents[2]; ///< by whether they tell times
  uint64_t given = 0, ended = 0;       ///< kernels and replays
  std::set<std::string> recordedKernels;

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
