/// Which work of a GPU has not ended, for who waits in vain.
///
/// Events behind the kernels tell: all that are given to streams are numbered,
/// and none waits for one behind it, so that the first which has not ended is
/// the one. A recorded run has no such events.
#ifndef SPRT_LIB_DEVICE_LAUNCHLOG_H
#define SPRT_LIB_DEVICE_LAUNCHLOG_H

#include "device/Device.h"
#include "device/EventPool.h"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace sprt {

class LaunchLog {
public:
  LaunchLog(const DriverContext &gpu, EventPool &events)
      : gpu(gpu), events(events) {}

  /// A kernel or a replay that a stream is given.
  struct Launch {
    const std::string *kernel = nullptr; ///< null: of a library for products
    bool isReplay = false;
  };
  /// Marks it on the stream, of that handle, which has just been given it. In
  /// the GPU's context.
  Status note(const Device::Stream &stream, CUstream handle,
              const Launch &launch);
  /// What a stream was given that records.
  void noteRecorded(const Launch &launch);
  /// The stream goes.
  void forget(const Device::Stream &stream);

  /// The first work of all streams that has not ended.
  struct Running {
    int64_t rank; ///< whose stream it is on
    bool isReplay;
    std::string text; ///< for people
    std::shared_ptr<const Device::Origin> origin;
  };
  /// `out_ended`: how many have ended, so that who asks again sees whether any
  /// did.
  std::optional<Running> findRunning(uint64_t &out_ended);

private:
  struct Entry {
    uint64_t number;
    Launch launch;
    std::shared_ptr<const Device::Origin> origin;
    CUevent event = nullptr; ///< behind it
  };
  void forgetEnded(std::deque<Entry> &entries);
  std::string describe(const Launch &launch,
                       const Device::Stream &stream) const;

  const DriverContext &gpu;
  EventPool &events;
  std::mutex mutex; ///< of what follows
  std::map<const Device::Stream *, std::deque<Entry>> given;
  uint64_t count = 0, ended = 0; ///< of kernels and replays
  std::set<std::string> recordedKernels;
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_LAUNCHLOG_H
