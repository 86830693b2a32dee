/// A CUDA driver without a GPU, for tests: streams run at once, on the host.
/// While they are captured it follows CUDA's rules: neither looks at streams
/// nor memory of the host, no event from outside, all forked streams joined;
/// and one thread at a time.
///
/// Kernels may take time, though what they do is done at once. One may never
/// end: its stream is busy from then on, as is what waits for an event of it,
/// and neither does what it is given. Calls that free memory, streams, events,
/// graphs or modules wait for busy streams, as do copies on one from or to
/// memory of the host that is not pinned.
///
/// A process that loads it by its name may say in the environment which launch
/// that is, FAKE_CUDA_HANGS, and the GPU's architecture, FAKE_CUDA_ARCHITECTURE
/// (90). With FAKE_CUDA_WAITS it comes to no ordinary end while a stream is
/// busy.
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
  char moduleLoading[8] = ""; ///< CUDA_MODULE_LOADING at cuInit
  bool stuck = false;         ///< no stream is ever done
  int hangsAt = -1;           ///< the number of the launch that does not end
  double kernelSeconds = 0;   ///< how long the others take
  /// Seconds that a call waits for a busy stream; else for ever.
  double patience = 0;
  int blocked = 0; ///< calls that did
  /// The only kernel there is, "attend"; tensor maps are TensorMapFields.
  /// Without it there are all, which do nothing.
  sprt_emulated_kernel kernel = nullptr;
  bool failed = false;       ///< a kernel, which streams then say
  size_t parameterBytes = 0; ///< of that kernel
  int launches = 0;
  unsigned blocks = 0, threads = 0, sharedBytes = 0; ///< of the last launch
  int rectangles = 0;           ///< copies of more than a row
  int allocations = 0;          ///< that have not been freed
  int streams = 0, events = 0;  ///< likewise
  int captures = 0, graphs = 0; ///< that have not ended; likewise
  int graphLaunches = 0;
  /// Events with times that were recorded on streams, and into graphs.
  int timedMarks = 0, recordedMarks = 0;
};

/// Exported by the fake as `fakeCuda`.
using FakeCudaFunction = FakeCuda *(*)();

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKECUDA_H
