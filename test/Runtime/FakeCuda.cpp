// Becomes a libcuda.so.1: see FakeCuda.h.

#include "FakeCuda.h"
#include "sprt/cuda/TensorMap.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <cuda.h>

using sprt::cuda::TensorMapFields;

namespace {

sprt::test::FakeCuda fake;
std::mutex mutex;
thread_local CUcontext current = nullptr;
CUcontext const kContext = reinterpret_cast<CUcontext>(&fake);

struct Event {
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};
struct Stream {
  std::atomic<int> looks{0};
};

/// Calls on streams and memory need the thread's context.
CUresult entered() {
  return current == kContext ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

void *host(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

} // namespace

extern "C" {

sprt::test::FakeCuda *fakeCuda() { return &fake; }

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
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
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
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
  void *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(data, 0xFF, bytes);
  *address = reinterpret_cast<CUdeviceptr>(data);
  std::lock_guard<std::mutex> lock(mutex);
  ++fake.allocations;
  return entered();
}
CUresult cuMemFree(CUdeviceptr address) {
  std::free(host(address));
  std::lock_guard<std::mutex> lock(mutex);
  --fake.allocations;
  return entered();
}
CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                       CUstream) {
  std::memmove(host(target), host(source), bytes);
  return entered();
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream) {
  if (copy->srcMemoryType != CU_MEMORYTYPE_UNIFIED ||
      copy->dstMemoryType != CU_MEMORYTYPE_UNIFIED ||
      copy->srcPitch < copy->WidthInBytes ||
      copy->dstPitch < copy->WidthInBytes)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t row = 0; row < copy->Height; ++row)
    std::memcpy(host(copy->dstDevice + row * copy->dstPitch),
                host(copy->srcDevice + row * copy->srcPitch),
                copy->WidthInBytes);
  std::lock_guard<std::mutex> lock(mutex);
  ++fake.rectangles;
  return entered();
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes,
                         CUstream) {
  std::memset(host(target), value, bytes);
  return entered();
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(new Stream);
  return entered();
}
CUresult cuStreamDestroy(CUstream stream) {
  delete reinterpret_cast<Stream *>(stream);
  return entered();
}
CUresult cuStreamQuery(CUstream stream) {
  // Done at every second look.
  bool done = ++reinterpret_cast<Stream *>(stream)->looks % 2 == 0;
  return fake.stuck || !done ? CUDA_ERROR_NOT_READY : entered();
}
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return entered(); }
CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new Event);
  return entered();
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<Event *>(event);
  return entered();
}
CUresult cuEventRecord(CUevent event, CUstream) {
  auto *recorded = reinterpret_cast<Event *>(event);
  recorded->recorded = true;
  recorded->time = std::chrono::steady_clock::now();
  return entered();
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  auto *first = reinterpret_cast<Event *>(from),
       *last = reinterpret_cast<Event *>(to);
  if (!first->recorded || !last->recorded)
    return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds =
      std::chrono::duration<float, std::milli>(last->time - first->time)
          .count();
  return entered();
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  *module = reinterpret_cast<CUmodule>(const_cast<void *>(image));
  return entered();
}
CUresult cuModuleUnload(CUmodule) { return entered(); }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  *function = reinterpret_cast<CUfunction>(&fake);
  return std::strcmp(name, "attend") == 0 ? entered() : CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return entered();
}
CUresult cuLaunchKernel(CUfunction, unsigned blocks, unsigned, unsigned,
                        unsigned threads, unsigned, unsigned, unsigned shared,
                        CUstream, void **parameters, void **) {
  char error[64];
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++fake.launches;
    fake.threads = threads;
    fake.sharedBytes = shared;
  }
  int failed = fake.kernel(parameters[0], blocks, 0, error, sizeof error);
  return failed ? CUDA_ERROR_LAUNCH_FAILED : entered();
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
