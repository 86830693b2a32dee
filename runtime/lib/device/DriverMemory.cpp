// A GPU's memory, and what fills and copies it.

#include "device/DriverHandles.h"

#include <algorithm>
#include <cstring>

namespace sprt {

/// The driver's largest pitch.
static constexpr int64_t kMaxPitch = INT32_MAX;

Status DriverDevice::allocate(int64_t bytes, std::byte *&out_data) {
  CUdeviceptr data = 0;
  if (Status failure = enter())
    return failure;
  if (Status failure =
          check(driver.cuMemAlloc(
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
  if (Status failure = enter())
    return failure;
  if (Status failure =
          check(driver.cuMemHostAlloc(&data, static_cast<size_t>(bytes), 0),
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
  if (hostMemory.erase(data) && !enter())
    (void)driver.cuMemFreeHost(data);
  if (memory.erase(data) && !enter())
    (void)driver.cuMemFree(address(data));
}

Status DriverDevice::copy(Stream &stream, const Message &target,
                          const Message &source) {
  if (Status failure = enter())
    return failure;
  Status failure;
  auto copyRow = [&](const Rectangle &part, int64_t row) {
    return check(
        driver.cuMemcpyAsync(address(part.target + row * part.targetPitch),
                             address(part.source + row * part.sourcePitch),
                             static_cast<size_t>(part.width), handleOf(stream)),
        "cuMemcpyAsync");
  };
  forEachRectangle(target, source, [&](const Rectangle &part) {
    bool atOnce = part.height > 1 && part.targetPitch <= kMaxPitch &&
                  part.sourcePitch <= kMaxPitch;
    for (int64_t row = 0; !atOnce && !failure && row < part.height; ++row)
      failure = copyRow(part, row);
    if (!atOnce || failure)
      return;
    CUDA_MEMCPY2D copied;
    std::memset(&copied, 0, sizeof copied);
    // The driver knows from the address whose memory it is.
    copied.srcMemoryType = copied.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copied.srcDevice = address(part.source);
    copied.srcPitch = static_cast<size_t>(part.sourcePitch);
    copied.dstDevice = address(part.target);
    copied.dstPitch = static_cast<size_t>(part.targetPitch);
    copied.WidthInBytes = static_cast<size_t>(part.width);
    copied.Height = static_cast<size_t>(part.height);
    failure = check(driver.cuMemcpy2DAsync(&copied, handleOf(stream)),
                    "cuMemcpy2DAsync");
  });
  return failure;
}

Status DriverDevice::upload(Stream &stream, std::byte *target,
                            const std::byte *data, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status failure = enter())
    return failure;
  // From memory that is not pinned, the driver has its own copy when it
  // returns.
  SPRT_CALL(cuMemcpyAsync, address(target), address(data),
            static_cast<size_t>(bytes), handleOf(stream));
  return Status::success();
}

Status DriverDevice::fill(Stream &stream, std::byte *target, uint8_t value,
                          int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  if (Status failure = enter())
    return failure;
  SPRT_CALL(cuMemsetD8Async, address(target), value, static_cast<size_t>(bytes),
            handleOf(stream));
  return Status::success();
}

} // namespace sprt
