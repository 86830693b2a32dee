#include "device/CudaDriver.h"

#include <dlfcn.h>

namespace sprt {

CudaDriver::~CudaDriver() {
  if (library)
    dlclose(library);
}

Status CudaDriver::open() {
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(SPRT_UNSUPPORTED)
           << "no CUDA driver on this machine (" << dlerror()
           << "); install NVIDIA's, or run with --device=emulated";
  const char *missing = nullptr;
  auto find = [&](const char *symbol) {
    void *function = dlsym(library, symbol);
    if (!function && !missing)
      missing = symbol;
    return function;
  };
// The second macro sees the name that cuda.h gives the first one's.
#define SPRT_CUDA_TEXT(name) #name
#define SPRT_CUDA_FIND(name)                                                   \
  name = reinterpret_cast<decltype(name)>(find(SPRT_CUDA_TEXT(name)));
  SPRT_CUDA_CALLS(SPRT_CUDA_FIND)
#undef SPRT_CUDA_FIND
#undef SPRT_CUDA_TEXT
  if (missing)
    return fail(SPRT_UNSUPPORTED)
           << "the CUDA driver of this machine has no \"" << missing
           << "\"; expected one of CUDA " << CUDA_VERSION / 1000 << "."
           << CUDA_VERSION % 1000 / 10 << " or later";
  return Status::success();
}

} // namespace sprt
