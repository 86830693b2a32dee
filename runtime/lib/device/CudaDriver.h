/// The functions of the CUDA driver that we call, from a library that is looked
/// for at run time: a machine without one has no link error, but a status.
#ifndef SPRT_LIB_DEVICE_CUDADRIVER_H
#define SPRT_LIB_DEVICE_CUDADRIVER_H

#include "support/SharedLibrary.h"
#include "support/Status.h"

#include <cuda.h>

namespace sprt {

// cuda.h renames some of them to their latest version, which is then looked
// for.
// clang-format off
#define SPRT_CUDA_CALLS(X)                                                     \
  X(cuCtxSetCurrent) X(cuDeviceGet) X(cuDeviceGetAttribute)                    \
  X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDevicePrimaryCtxRelease)          \
  X(cuDevicePrimaryCtxRetain) X(cuEventCreate) X(cuEventDestroy)               \
  X(cuEventElapsedTime) X(cuEventQuery) X(cuEventRecordWithFlags)              \
  X(cuFuncSetAttribute) X(cuGetErrorString) X(cuGraphDestroy)                  \
  X(cuGraphExecDestroy) X(cuGraphInstantiate) X(cuGraphLaunch) X(cuInit)       \
  X(cuLaunchKernel) X(cuMemAlloc) X(cuMemcpy2DAsync) X(cuMemcpyAsync)          \
  X(cuMemFree) X(cuMemFreeHost) X(cuMemGetInfo) X(cuMemHostAlloc)              \
  X(cuMemsetD8Async)                                                           \
  X(cuModuleGetFunction) X(cuModuleLoadData) X(cuModuleUnload)                 \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                               \
  X(cuStreamBeginCapture) X(cuStreamCreate) X(cuStreamDestroy)                 \
  X(cuStreamEndCapture) X(cuStreamQuery) X(cuStreamWaitEvent)                  \
  X(cuTensorMapEncodeTiled)
// clang-format on

class CudaDriver {
public:
  /// Loads the driver's library and finds every function.
  Status open();

// NOLINTNEXTLINE(bugprone-macro-parentheses): the argument is a name
#define SPRT_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
  SPRT_CUDA_CALLS(SPRT_CUDA_MEMBER)
#undef SPRT_CUDA_MEMBER

private:
  SharedLibrary library;
};

} // namespace sprt

#endif // SPRT_LIB_DEVICE_CUDADRIVER_H
