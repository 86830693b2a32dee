// A GPU's memory.

#include "device/DriverHandles.h"

#include <algorithm>

namespace sprt {

Status DriverDevice::allocate(int64_t bytes, std::byte *&out_data) {
  CUdeviceptr data = 0;
  if (Status failure = gpu.enter())
    return failure;
  if (Status failure = gpu.check(
          gpu.driver.cuMemAlloc(
              &data, static_cast<size_t>(std::max<int64_t>(bytes, 1))),
          "cuMemAlloc"))
    return std::move(failure).within(std::to_string(bytes) + " bytes");
  out_data = reinterpret_cast<std::byte *>(data);
  std::lock_guard<std::mutex> lock(mutex);
  memory.insert(out_data);
  return Status::success();
}

Status DriverDevice::allocateHost(int64_t bytes, std::byte *&out_data) {
  void *data = nullptr;
  if (Status failure = gpu.enter())
    return failure;
  if (Status failure = gpu.check(
          gpu.driver.cuMemHostAlloc(&data, static_cast<size_t>(bytes), 0),
          "cuMemHostAlloc"))
    return std::move(failure).within(std::to_string(bytes) + " bytes");
  out_data = static_cast<std::byte *>(data);
  std::lock_guard<std::mutex> lock(mutex);
  hostMemory.insert(out_data);
  return Status::success();
}

void DriverDevice::release(std::byte *data) {
  // The driver waits for work of the GPU, whatever it uses.
  if (!data || !mayFree())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (hostMemory.erase(data) && !gpu.enter())
    (void)gpu.driver.cuMemFreeHost(data);
  if (memory.erase(data) && !gpu.enter())
    (void)gpu.driver.cuMemFree(address(data));
}

} // namespace sprt
