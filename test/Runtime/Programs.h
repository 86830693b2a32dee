/// Small programs that several tests run.
#ifndef SP_TEST_RUNTIME_PROGRAMS_H
#define SP_TEST_RUNTIME_PROGRAMS_H

#include "PlanBuilder.h"

namespace sprt::test {

/// Width of the rows of `ringSum`: one page, so that memory is measured
/// exactly.
inline constexpr int64_t kRingWidth = 1024;

/// Every rank adds the blocks of all ranks, which travel round a ring on the
/// comm stream through two buffers in turn: `out[r] = sum over i of x[i]`,
/// where the rows of `length` are dealt by `kind` and row j of a block adds to
/// row j of the result.
PlanBuilder ringSum(int64_t ranks, int64_t length, plan::LayoutKind kind);

/// What `ringSum` gives.
std::vector<float> ringSumReference(int64_t ranks, int64_t length,
                                    plan::LayoutKind kind,
                                    const std::vector<float> &x);

/// Rows of an input go to far memory one by one, each through the same place,
/// and come back the last one first; streams compute, out and in as the
/// compiler has them: the result is the input upside down.
PlanBuilder throughFar(int64_t ranks);
inline constexpr int64_t kFarRows = 5, kFarWidth = 300;

/// What `throughFar` gives.
std::vector<float> farReference(const std::vector<float> &x);

/// Numbers that are exact in f32 however they are added.
std::vector<float> ramp(size_t count);

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_PROGRAMS_H
