/// A GPU's context, which all devices of that GPU in this process share, and
/// calls of the driver in it.
#ifndef SPRT_LIB_DEVICE_DRIVERCONTEXT_H
#define SPRT_LIB_DEVICE_DRIVERCONTEXT_H

#include "device/CudaDriver.h"

#include <cstddef>
#include <string>

/// Makes a call of the driver, whose failure the function returns.
#define SPRT_CALL(gpu, name, ...)                                              \
  if (Status failure = (gpu).check((gpu).driver.name(__VA_ARGS__), #name))     \
  return failure

namespace sprt {

class DriverContext {
public:
  DriverContext() = default;
  DriverContext(const DriverContext &) = delete;
  DriverContext &operator=(const DriverContext &) = delete;
  /// Frees the context, with what is left in it, if no other device has it.
  ~DriverContext();

  /// Finds the GPU of that number, and what it is.
  Status find(int number);
  /// Opens its context.
  Status open();
  bool isOpen() const { return context != nullptr; }

  /// Makes the GPU the calling thread's; then the result of a call, as a
  /// status.
  Status enter() const;
  Status check(CUresult result, const char *call) const;

  CudaDriver driver;
  CUdevice device = -1;
  std::string name;     ///< for people
  int processors = 1;   ///< of the GPU
  int architecture = 0; ///< 90 for sm_90

private:
  CUcontext context = nullptr;
};

inline CUdeviceptr address(const void *data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

} // namespace sprt

#endif // SPRT_LIB_DEVICE_DRIVERCONTEXT_H
