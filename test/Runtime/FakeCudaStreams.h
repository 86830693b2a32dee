/// Streams of the fake CUDA driver, for its sources.
#ifndef SP_TEST_RUNTIME_FAKECUDASTREAMS_H
#define SP_TEST_RUNTIME_FAKECUDASTREAMS_H

#include "FakeCuda.h"

#include <functional>

#include <cuda.h>

namespace sprt::test {

/// Calls on streams and memory need the thread's context.
CUresult entered();
bool captured(CUstream stream);
/// Ends a capture that a call has spoilt.
CUresult invalidate(CUstream stream, CUresult result);
/// Does work at once, or keeps it for a graph.
CUresult submit(CUstream stream, const std::function<void()> &work);

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_FAKECUDASTREAMS_H
