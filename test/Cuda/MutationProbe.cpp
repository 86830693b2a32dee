// What mutations.py runs against a kernel with a defect: few cases that use
// every line of it. Ends with 1 where a number is wrong or the emulation finds
// a fault.

#include "AttentionCheck.h"

using namespace sprt;
using namespace sprt::test;

using Probed = cuda::ForwardConfig<BFloat16, 128, 128, 64, 2, 2>;

TEST(AttentionForward, probe) {
  Shape shape = {1, 260, 330, 2, 1};
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    check<Probed>(shape,
                  {{banded(shape, kNone, -40)},
                   {full(shape)},
                   {{0, 130, 0, 100, kNone, 3, 1, 1, 0},
                    {130, 260, 7, 256, -200, 5, 2, 3, 0},
                    {10, 50, 100, 120, kNone, kAll, 1, 1, 1}}},
                  seed, 0.1, /*blocks=*/1);
    check<Probed>(shape, {{}, {full(shape)}}, seed, 0.1, /*blocks=*/3);
  }
}
