/// A CUDA driver without a GPU, for tests: streams run at once, on the host.
/// While they are captured it follows CUDA's rules: neither looks at streams
/// nor memory of the host, no event from outside, all forked streams joined;
/// and one thread at a time.
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
  bool failed = false;       ///< a kernel, which streams then say
  size_t parameterBytes = 0; ///< of that kernel
  int launches = 0;
  unsigned threads = 0, sharedBytes = 0; ///< of the last launch
  int rectangles = 0;                    ///< copies of more than a row
  int allocations = 0;                   ///< that have not been freed
  int captures = 0, graphs = 0;          ///< that have not ended; likewise
  int graphLaunches = 0;
};

/// Exported by the fake as `fakeCuda`.
using FakeCudaFunction = FakeCuda *(*)();

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKECUDA_H
