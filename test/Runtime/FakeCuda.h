/// A CUDA driver without a GPU, for tests: streams run at once, on the host.
#ifndef SP_TEST_RUNTIME_FAKECUDA_H
#define SP_TEST_RUNTIME_FAKECUDA_H

#include "sprt/cuda/Emulated.h"

#include <cstddef>

namespace sprt::test {

/// What the driver pretends, and what it saw.
struct FakeCuda {
  int devices = 1;
  int major = 9, minor = 0;
  size_t freeBytes = size_t(1) << 30;
  bool stuck = false; ///< no stream is ever done
  /// The only kernel there is, "attend"; tensor maps are TensorMapFields.
  sprt_emulated_kernel kernel = nullptr;
  int launches = 0;
  unsigned threads = 0, sharedBytes = 0; ///< of the last launch
  int rectangles = 0;                    ///< copies of more than a row
  int allocations = 0;                   ///< that have not been freed
};

/// Exported by the fake as `fakeCuda`.
using FakeCudaFunction = FakeCuda *(*)();

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKECUDA_H
