/// Events of a GPU, which serve again and again: they are freed with the
/// device.
#ifndef SPRT_LIB_DEVICE_EVENTPOOL_H
#define SPRT_LIB_DEVICE_EVENTPOOL_H

#include "device/DriverContext.h"

#include <mutex>
#include <vector>

namespace sprt {

class EventPool {
public:
  explicit EventPool(const DriverContext &gpu) : gpu(gpu) {}

  /// In the GPU's context.
  Status take(bool timed, CUevent &out_event) {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<CUevent> &those = spare[timed];
    if (those.empty()) {
      SPRT_CALL(gpu, cuEventCreate, &out_event,
                timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
      return Status::success();
    }
    out_event = those.back();
    those.pop_back();
    return Status::success();
  }
  void giveBack(bool timed, CUevent event) {
    std::lock_guard<std::mutex> lock(mutex);
    spare[timed].push_back(event);
  }
  /// Frees those that nobody has, while that context exists.
  void close() {
    for (const std::vector<CUevent> &those : spare)
      for (CUevent event : those)
        (void)gpu.driver.cuEventDestroy(event);
  }

private:
  const DriverContext &gpu;
  std::mutex mutex;
  std::vector<CUevent> spare[2]; ///< by whether they tell times
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_EVENTPOOL_H
