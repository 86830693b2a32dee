#include "device/DriverContext.h"

namespace sprt {

DriverContext::~DriverContext() {
  if (context)
    (void)driver.cuDevicePrimaryCtxRelease(device);
}

Status DriverContext::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status::success();
  const char *text = nullptr;
  if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS)
    text = "unknown error";
  return fail(SPRT_FAILED) << name << ", " << call << ": " << text << " ("
                           << int(result) << ")";
}

Status DriverContext::enter() const {
  return check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Status DriverContext::find(int number) {
  name = "GPU " + std::to_string(number);
  if (Status failure = driver.open())
    return failure;
  SPRT_CALL(*this, cuInit, 0);
  int count = 0;
  SPRT_CALL(*this, cuDeviceGetCount, &count);
  if (number >= count)
    return fail(SPRT_UNSUPPORTED)
           << "expected the number of a GPU below " << count << " but got "
           << number << "; or run with --device=emulated";
  SPRT_CALL(*this, cuDeviceGet, &device, number);
  char model[128] = "";
  SPRT_CALL(*this, cuDeviceGetName, model, sizeof model, device);
  name += std::string(" (") + model + ")";
  int major = 0, minor = 0;
  for (auto [attribute, out] :
       {std::pair(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major),
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors}})
    SPRT_CALL(*this, cuDeviceGetAttribute, out, attribute, device);
  architecture = 10 * major + minor;
  return Status::success();
}

Status DriverContext::open() {
  SPRT_CALL(*this, cuDevicePrimaryCtxRetain, &context, device);
  return enter();
}

} // namespace sprt
