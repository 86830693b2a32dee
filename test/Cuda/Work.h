/// What the checks of attention kernels compute.
#ifndef SP_TEST_CUDA_WORK_H
#define SP_TEST_CUDA_WORK_H

#include "sprt/cuda/AttentionArguments.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

namespace sprt::test {

using cuda::Slice;

inline constexpr int kNone = INT32_MIN, kAll = INT32_MAX;

struct Shape {
  int batch, queries, keys, heads, kvHeads;
};

inline bool sees(const std::vector<Slice> &slices, int a, int b,
                 bool &isUniform) {
  for (const Slice &s : slices) {
    int64_t q = int64_t(s.qStride) * a, k = int64_t(s.kStride) * b;
    if (a >= s.q0 && a < s.q1 && b >= s.k0 && b < s.k1 &&
        (s.lo == kNone || q + s.lo <= k) && (s.hi == kAll || k <= q + s.hi)) {
      isUniform = s.uniform;
      return true;
    }
  }
  return false;
}

/// The slices that rows of each block are in.
inline std::vector<int32_t> rangesOf(const std::vector<Slice> &slices,
                                     const std::vector<int32_t> &order,
                                     int queryBlock) {
  std::vector<int32_t> ranges;
  for (int block : order) {
    int q0 = block * queryBlock, q1 = q0 + queryBlock;
    auto meets = [&](const Slice &s) { return s.q0 < q1 && q0 < s.q1; };
    auto first = std::find_if(slices.begin(), slices.end(), meets);
    auto last = std::find_if(slices.rbegin(), slices.rend(), meets);
    ranges.push_back(static_cast<int>(first - slices.begin()));
    ranges.push_back(static_cast<int>(slices.rend() - last));
  }
  return ranges;
}

/// How items of work are numbered and taken.
struct Work {
  bool isAscending = false, hasRanges = false, isCounted = false;
  int groupPairs = 0;
  bool isCarried = false; ///< the first step takes up what state there is
};

} // namespace sprt::test

#endif // SP_TEST_CUDA_WORK_H
