// What mutations.py runs against a kernel with a defect: few cases that use
// every line of it. Ends with 1 where a number is wrong or the emulation finds
// a fault.

#include "ScoredCheck.h"

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

TEST(AttentionForward, probe_of_counted_items_and_negative_sums) {
  using Kept = cuda::ForwardConfig<BFloat16, 128, 128, 64, 2, 2, cuda::NoScore,
                                   cuda::StateForm::Sums>;
  Shape shape = {1, 260, 330, 2, 1};
  AttentionCheck<Kept> check(shape, {{full(shape)}}, 1, 0.1);
  Work work;
  work.isCounted = true;
  check.run(3, work);
  check.expectRight();
  check.spoilState();
  work.isCarried = true;
  ASSERT_NO_THROW(check.run(3, work));
}

TEST(ScoredForward, probe) {
  Shape shape = {2, 20, 100, 2, 1};
  std::vector<std::vector<Slice>> steps = {
      {{0, 20, 0, 25, kNone, kAll, 1, 1, 0}},
      {full(shape)},
      {{10, 15, 80, 90, kNone, kAll, 1, 1, 1}}};
  checkScored<BFloat16, 64, 64, 64, Sloped>(shape, steps, 1);
  checkScored<BFloat16, 64, 64, 64, Sloped>(shape, steps, 1, -FLT_MAX);
  checkScored<BFloat16, 64, 64, 64, Every>(shape, steps, 2);
  checkScoredResults<cuda::ForwardConfig<BFloat16, 64, 64, 64, 2, 2, Sloped>,
                     cuda::ForwardConfig<BFloat16, 64, 64, 64, 2, 2, Sloped,
                                         cuda::StateForm::Result>>(
      shape, steps[0], -INFINITY);
}
