/// What runs the commands of a program for GPUs: a GPU, or its emulation.
///
/// The interface is the driver's, made small. Work is put on streams and runs
/// later: in order on one stream, in any order among streams but for events.
/// Addresses of its memory are `std::byte *`, as everywhere, though the host
/// may not follow them. Any thread may call; a stream is one thread's at a
/// time.
///
///     a.record(event)     marks the work that a holds now
///     b.wait(event)       what b is given from now on comes after that mark;
///                         nothing where the event was never recorded
///
/// A run that will be repeated can be recorded, by all ranks of the device:
///
///     beginRecording(mine)    these streams are empty; what they are given is
///                             kept instead of run
///     endRecording()          their work is complete; once of all ranks
///     replay()                runs all of it again, once of all ranks; the
///                             streams hold it when the last of these returns
///
/// In between nobody synchronises these streams, gives a library their handles
/// or asks for their marks, and no work on them reads or writes memory of the
/// host but what `allocateHost` gave. Timed events tell the times of the last
/// replay.
#ifndef SPRT_LIB_DEVICE_DEVICE_H
#define SPRT_LIB_DEVICE_DEVICE_H

#include "program/Program.h"
#include "sprt/cuda/AttentionArguments.h"
#include "support/Message.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <variant>

namespace sprt {

struct GemmData;

class Device {
public:
  /// What a stream is being given: a failure of its work says so.
  struct Origin {
    int32_t command = -1;
    std::vector<int64_t> counters; ///< of the enclosing loops
  };

  /// A failure of work: its status, and what the stream was given then.
  struct Fault {
    Status status;
    std::shared_ptr<const Origin> origin; ///< null where nobody knows
  };

  class Event {
  public:
    virtual ~Event() = default;
    /// Whether the latest mark is passed.
    virtual bool reached() const = 0;
  };

  using Limit = std::chrono::duration<double>;
  /// Of the kernel that an attention names: by its key block, 0 for plain.
  using AttendArguments =
      std::variant<cuda::ForwardArguments, cuda::PlainArguments>;

  class Stream {
  public:
    explicit Stream(int64_t rank) : rank(rank) {}
    virtual ~Stream() = default;
    /// What a library for GPUs knows it by: a CUstream, or, of the emulated
    /// device, an EmulatedStream.
    virtual void *handle() = 0;

    virtual Status record(Event &event) = 0;
    virtual Status wait(Event &event) = 0;

    /// Between messages of equal size; memory of the device, or of the host,
    /// which then stays as it is until the stream has been synchronised.
    virtual Status copy(const Message &target, const Message &source) = 0;
    /// `data` may be gone once this returns.
    virtual Status upload(std::byte *target, const std::byte *data,
                          int64_t bytes) = 0;
    virtual Status fill(std::byte *target, uint8_t value, int64_t bytes) = 0;

    /// A kernel of the plan other than attention, in as many blocks. Its
    /// arguments: buffers, then scratch memory.
    virtual Status launch(uint32_t kernel, const std::vector<void *> &arguments,
                          int64_t blocks) = 0;
    /// An attention kernel of the plan, in as many blocks.
    virtual Status attend(uint32_t kernel, const AttendArguments &arguments,
                          int64_t blocks) = 0;
    virtual Status multiply(const plan::GemmT &gemm, const GemmData &data) = 0;

    /// Sleeps until the stream is empty. A failure of its rank's work, a
    /// consequence when other work failed or after `interrupt`, or a timeout:
    /// no kernel has ended for `limit` while the stream waited for what is no
    /// kernel of its rank, or one took longer than it may. Nothing waits for it
    /// then, see DriverDevice.
    virtual Fault synchronise(Limit limit) = 0;

    const int64_t rank; ///< whose work it runs
    std::string name;   ///< for people
    std::shared_ptr<const Origin> origin;
    /// What else may keep its work from its end: who synchronises it asks now
    /// and then, and with `late` once the limit has passed.
    std::function<Fault(bool late)> watch;
  };

  struct Capability {
    std::string name;
    int64_t memoryBytes = 0;
    int64_t freeBytes = 0;
    int processors = 1;
    int64_t productBytes = 0; ///< of a rank that multiplies matrices
  };

  virtual ~Device() = default;

  const Capability &capability() const { return abilities; }
  /// How many ranks have streams.
  size_t ranks() const { return rankNumbers.size(); }
  /// Whether it runs the portable kernels of the loaded program.
  bool isPortable() const { return portable; }

  /// Keeps attention off so many processors. Before any launch.
  void reserveProcessors(int count) { reserved = count; }
  /// How many blocks of an attention kernel run at once, each item after item.
  int64_t blocksAtOnce(uint32_t kernel) const;

  /// Finds the program's kernels. Before any launch; one program a device.
  virtual Status load(const Program &program) = 0;

  /// At least 256-byte aligned; freed with the device at the latest.
  virtual Status allocate(int64_t bytes, std::byte *&out_data) = 0;
  /// Memory of the host that copies read and write while the host goes on.
  virtual Status allocateHost(int64_t bytes, std::byte *&out_data) = 0;
  virtual void release(std::byte *data) = 0;

  virtual Status createStream(int64_t rank,
                              std::unique_ptr<Stream> &out_stream) = 0;
  /// Only of `timed` events may `elapsed` be asked.
  virtual Status createEvent(bool timed, std::unique_ptr<Event> &out_event) = 0;
  /// Seconds from one mark to another; both streams have been synchronised.
  virtual Status elapsed(const Event &from, const Event &to,
                         double &out_seconds) = 0;

  virtual Status encode(const cuda::TensorMapFields &fields,
                        cuda::TensorMap &out_map) = 0;

  virtual Status beginRecording(const std::vector<Stream *> &streams) = 0;
  virtual Status endRecording() = 0;
  virtual Status replay() = 0;

  /// How long a kernel may take, and a replay; at first for ever.
  void limitWork(Limit kernel, Limit wholeReplay) {
    kernelLimit = kernel.count();
    replayLimit = wholeReplay.count();
  }
  /// Ends every synchronise, present and future.
  virtual void interrupt() = 0;

  /// So many more (fewer) threads may still put work on streams: an emulation
  /// that repeats itself starts when none may.
  virtual void threadsRun(int) {}
  /// So many more (fewer) of those threads sleep until another process does
  /// something, for which it may need this device's work.
  virtual void threadsWait(int) {}

protected:
  virtual int blocksPerProcessor(uint32_t) const { return 1; }
  Capability abilities;
  int reserved = 0;
  std::set<int64_t> rankNumbers;
  bool portable = false; ///< set by `load`
  std::atomic<double> kernelLimit{HUGE_VAL}, replayLimit{HUGE_VAL};
};

/// How the code of an image runs on a GPU of some architecture (90 for sm_90).
enum class Fit {
  none,
  portable, ///< PTX, which the driver translates
  native,
};
Fit fitOf(const plan::ImageT &image, int architecture);

/// The GPU of that number, or "emulated".
Status openDevice(const std::string &name, std::shared_ptr<Device> &out_device);

/// Whether so many of a program's ranks fit into a device's free memory:
/// arenas, tables, what products need, and one copy of the constants.
Status checkMemory(const Program &program, int64_t ranks,
                   const Device::Capability &capability);

} // namespace sprt

#endif // SPRT_LIB_DEVICE_DEVICE_H
