#include "device/CudaDriver.h"

namespace sprt {

Status CudaDriver::open() {
  if (!library.open({"libcuda.so.1"}, /*stays=*/false))
    return fail(SPRT_UNSUPPORTED)
           << "no CUDA driver on this machine (" << library.failure
           << "); install NVIDIA's, or run with --device=emulated";
// The second macro sees the name that cuda.h gives the first one's.
#define SPRT_CUDA_TEXT(name) #name
#define SPRT_CUDA_FIND(name) library.find(SPRT_CUDA_TEXT(name), name);
  SPRT_CUDA_CALLS(SPRT_CUDA_FIND)
#undef SPRT_CUDA_FIND
#undef SPRT_CUDA_TEXT
  if (library.missing)
    return fail(SPRT_UNSUPPORTED)
           << "the CUDA driver of this machine has no \"" << library.missing
           << "\"; expected one of CUDA " << CUDA_VERSION / 1000 << "."
           << CUDA_VERSION % 1000 / 10 << " or later";
  return Status::success();
}

} // namespace sprt
