// Becomes a libcuda.so.1: see FakeCuda.h.

#include "FakeCudaStreams.h"
#include "sprt/cuda/TensorMap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

using sprt::cuda::TensorMapFields;
using sprt::test::invalidate;
using sprt::test::submit;
using sprt::test::waitForStreams;

namespace {

sprt::test::FakeCuda fake;
std::mutex mutex;
thread_local CUcontext current = nullptr;
CUcontext const kContext = reinterpret_cast<CUcontext>(&fake);

/// Of the device, or of the host but pinned, by address.
std::map<CUdeviceptr, size_t> memory;

void *host(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

CUdeviceptr reserve(size_t bytes) {
  void *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(data, 0xFF, bytes);
  auto address = reinterpret_cast<CUdeviceptr>(data);
  std::lock_guard<std::mutex> lock(mutex);
  memory[address] = bytes;
  ++fake.allocations;
  return address;
}

size_t dismiss(CUdeviceptr address) {
  std::free(host(address));
  std::lock_guard<std::mutex> lock(mutex);
  size_t bytes = memory[address];
  memory.erase(address);
  --fake.allocations;
  return bytes;
}

/// What is copied while a stream is captured must still be there later.
bool lasts(CUdeviceptr address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto after = memory.upper_bound(address);
  if (after == memory.begin())
    return false;
  auto [base, size] = *std::prev(after);
  return address - base + bytes <= size;
}

CUresult copy(CUstream stream, CUdeviceptr target, size_t targetBytes,
              CUdeviceptr source, size_t sourceBytes,
              const std::function<void()> &work) {
  if (!(lasts(target, targetBytes) && lasts(source, sourceBytes))) {
    if (sprt::test::captured(stream))
      return invalidate(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (sprt::test::busy(stream))
      waitForStreams();
  }
  return submit(stream, work);
}

} // namespace

CUresult sprt::test::entered() {
  return current == kContext ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
using sprt::test::entered;

extern "C" {

sprt::test::FakeCuda *fakeCuda() { return &fake; }

CUresult cuInit(unsigned) {
  if (const char *text = std::getenv("CUDA_MODULE_LOADING"))
    std::strncpy(fake.moduleLoading, text, sizeof fake.moduleLoading - 1);
  if (const char *text = std::getenv("FAKE_CUDA_HANGS"))
    fake.hangsAt = std::atoi(text);
  if (const char *text = std::getenv("FAKE_CUDA_ARCHITECTURE")) {
    fake.major = std::atoi(text) / 10;
    fake.minor = std::atoi(text) % 10;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = fake.devices;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::strncpy(name, "Fake", static_cast<size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice) {
  *value =
      attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? fake.major
      : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? fake.minor
                                                                  : 2;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = kContext;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  waitForStreams();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "fake error";
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(size_t *free, size_t *total) {
  *free = fake.freeBytes;
  *total = 2 * fake.freeBytes;
  return entered();
}
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (bytes > fake.freeBytes)
      return CUDA_ERROR_OUT_OF_MEMORY;
    fake.freeBytes -= bytes;
  }
  *address = reserve(bytes);
  return entered();
}
CUresult cuMemFree(CUdeviceptr address) {
  waitForStreams();
  size_t bytes = dismiss(address);
  std::lock_guard<std::mutex> lock(mutex);
  fake.freeBytes += bytes;
  return entered();
}
CUresult cuMemHostAlloc(void **data, size_t bytes, unsigned) {
  *data = host(reserve(bytes));
  return entered();
}
CUresult cuMemFreeHost(void *data) {
  waitForStreams();
  dismiss(reinterpret_cast<CUdeviceptr>(data));
  return entered();
}
CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                       CUstream stream) {
  return copy(stream, target, bytes, source, bytes,
              [=] { std::memmove(host(target), host(source), bytes); });
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *given, CUstream stream) {
  CUDA_MEMCPY2D rectangle = *given;
  if (rectangle.srcMemoryType != CU_MEMORYTYPE_UNIFIED ||
      rectangle.dstMemoryType != CU_MEMORYTYPE_UNIFIED ||
      rectangle.srcPitch < rectangle.WidthInBytes ||
      rectangle.dstPitch < rectangle.WidthInBytes)
    return CUDA_ERROR_INVALID_VALUE;
  auto span = [&](size_t pitch) {
    return (rectangle.Height - 1) * pitch + rectangle.WidthInBytes;
  };
  return copy(stream, rectangle.dstDevice, span(rectangle.dstPitch),
              rectangle.srcDevice, span(rectangle.srcPitch), [rectangle] {
                for (size_t row = 0; row < rectangle.Height; ++row)
                  std::memcpy(
                      host(rectangle.dstDevice + row * rectangle.dstPitch),
                      host(rectangle.srcDevice + row * rectangle.srcPitch),
                      rectangle.WidthInBytes);
                std::lock_guard<std::mutex> lock(mutex);
                ++fake.rectangles;
              });
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes,
                         CUstream stream) {
  return submit(stream, [=] { std::memset(host(target), value, bytes); });
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  *module = reinterpret_cast<CUmodule>(const_cast<void *>(image));
  return entered();
}
CUresult cuModuleUnload(CUmodule) {
  waitForStreams();
  return entered();
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  *function = reinterpret_cast<CUfunction>(&fake);
  bool exists = !fake.kernel || std::strcmp(name, "attend") == 0;
  return exists ? entered() : CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return entered();
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction,
                                                     int threads,
                                                     size_t shared) {
  // Of a processor: registers aside.
  constexpr size_t kThreads = 2048, kShared = size_t(228) << 10;
  *blocks = static_cast<int>(std::min(
      {kThreads / static_cast<size_t>(threads), kShared / (shared + 1024)}));
  return entered();
}
CUresult cuLaunchKernel(CUfunction, unsigned blocks, unsigned, unsigned,
                        unsigned threads, unsigned, unsigned, unsigned shared,
                        CUstream stream, void **parameters, void **) {
  const auto *first = static_cast<const std::byte *>(parameters[0]);
  std::vector<std::byte> copied(first, first + fake.parameterBytes);
  return submit(stream, [=] {
    char error[64];
    {
      std::lock_guard<std::mutex> lock(mutex);
      fake.blocks = blocks;
      fake.threads = threads;
      fake.sharedBytes = shared;
      // Tests look on meanwhile.
      bool hangs = __atomic_fetch_add(&fake.launches, 1, __ATOMIC_RELAXED) ==
                   fake.hangsAt;
      sprt::test::takeTime(hangs);
      if (hangs)
        return;
    }
    if (fake.kernel &&
        fake.kernel(copied.data(), blocks, 0, error, sizeof error) != 0)
      fake.failed = true;
  });
}
CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType, cuuint32_t rank, void *base,
    const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  TensorMapFields fields = {};
  fields.base = base;
  fields.boxRows = static_cast<int32_t>(box[1]);
  bool fits = rank == TensorMapFields::kRank && box[0] == 64 && box[2] == 1 &&
              box[3] == 1 && swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
  for (int dim = 0; dim < TensorMapFields::kRank; ++dim) {
    fields.sizes[dim] = static_cast<int64_t>(sizes[dim]);
    fits &= sizes[dim] > 0;
  }
  for (int dim = 0; dim + 1 < TensorMapFields::kRank; ++dim) {
    fields.strides[dim] = static_cast<int64_t>(strides[dim]);
    fits &= strides[dim] > 0 && strides[dim] % 16 == 0;
  }
  std::memcpy(map, &fields, sizeof fields);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // extern "C"
