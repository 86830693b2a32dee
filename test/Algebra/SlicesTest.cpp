#include "SliceChecks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

using namespace sprt::algebra;

namespace {

rc::Gen<Slice> smallSlice() {
  auto bound = [](int64_t unbounded) {
    return rc::gen::weightedOneOf<int64_t>(
        {{1, rc::gen::just(unbounded)},
         {6, rc::gen::inRange<int64_t>(-120, 121)}});
  };
  auto row = rc::gen::inRange<int64_t>(0, 25);
  auto stride = rc::gen::inRange<int64_t>(1, 10);
  return rc::gen::build<Slice>(
      rc::gen::set(&Slice::q0, row), rc::gen::set(&Slice::q1, row),
      rc::gen::set(&Slice::k0, row), rc::gen::set(&Slice::k1, row),
      rc::gen::set(&Slice::lo, bound(unboundedBelow)),
      rc::gen::set(&Slice::hi, bound(unboundedAbove)),
      rc::gen::set(&Slice::qStride, stride),
      rc::gen::set(&Slice::kStride, stride));
}

RC_GTEST_PROP(SliceProperty, AreaCountsVisiblePairs, ()) {
  Slice slice = *smallSlice();
  std::set<Pair> pairs = pairsOf(slice);
  RC_LOG(text(slice));
  RC_ASSERT(area(slice) == pairs.size());
  for (int64_t a = -1; a <= 25; ++a) {
    Interval keys = keysOf(slice, a);
    for (int64_t b = -1; b <= 25; ++b) {
      bool seen = pairs.count({a, b}) != 0;
      RC_ASSERT(visible(slice, a, b) == seen);
      RC_ASSERT((keys.begin <= b && b < keys.end) == seen);
    }
  }
}

RC_GTEST_PROP(SliceProperty, TightenKeepsPairsAndIsNormal, ()) {
  Slice slice = *smallSlice();
  std::set<Pair> pairs = pairsOf(slice);
  RC_LOG(text(slice));
  RC_ASSERT(tighten(slice) == !pairs.empty());
  if (pairs.empty())
    return;
  RC_LOG(text(slice));
  RC_ASSERT(pairsOf(slice) == pairs);
  RC_ASSERT(flawOf(slice) == "");
  Slice again = slice;
  RC_ASSERT(tighten(again) && equal(again, slice));
}

RC_GTEST_PROP(SliceProperty, JoinKeepsPairs, ()) {
  // Cuts of one slice, so that joining has something to find.
  Slice whole = *smallSlice();
  int64_t q = *rc::gen::inRange<int64_t>(0, 25);
  int64_t k = *rc::gen::inRange<int64_t>(0, 25);
  std::vector<Slice> slices;
  std::set<Pair> pairs;
  std::vector<int> order{0, 1, 2, 3};
  for (int turn = *rc::gen::inRange(0, 24); turn > 0; --turn)
    std::next_permutation(order.begin(), order.end());
  for (int quarter : order) {
    Slice part = whole;
    (quarter & 1 ? part.q0 : part.q1) =
        quarter & 1 ? std::max(part.q0, q) : std::min(part.q1, q);
    (quarter & 2 ? part.k0 : part.k1) =
        quarter & 2 ? std::max(part.k0, k) : std::min(part.k1, k);
    if (!tighten(part))
      continue;
    slices.push_back(part);
    pairs.merge(pairsOf(part));
  }
  RC_ASSERT(pairs == pairsOf(whole));
  join(slices);
  RC_ASSERT(area(slices) == pairs.size());
  std::set<Pair> joined;
  for (const Slice &slice : slices) {
    RC_ASSERT(flawOf(slice) == "");
    joined.merge(pairsOf(slice));
  }
  RC_ASSERT(joined == pairs);
  if (whole.qStride == 1 && whole.kStride == 1)
    RC_ASSERT(slices.size() <= 1u);
}

RC_GTEST_PROP(SliceProperty, LargeAreasAddUp, ()) {
  // A slice of any size cut at a query and a key: the parts add up, and a cut
  // down to one query row shows an interval of keys.
  auto large = rc::gen::inRange<int64_t>(0, int64_t(1) << 40);
  auto stride = rc::gen::inRange<int64_t>(1, 1 << 20);
  Slice s{0, *large + 1, 0, *large + 1, 0, 0, *stride, *stride, 0};
  int64_t reach = int64_t(1) << 60;
  s.lo = *rc::gen::inRange<int64_t>(-reach, reach);
  s.hi = *rc::gen::oneOf(rc::gen::inRange<int64_t>(s.lo, reach),
                         rc::gen::inRange<int64_t>(s.lo, s.lo + (1 << 21)),
                         rc::gen::just(unboundedAbove));
  int64_t q = *rc::gen::inRange<int64_t>(0, s.q1);
  int64_t k = *rc::gen::inRange<int64_t>(0, s.k1);
  Slice top = s, bottom = s, left = s, right = s, line = s;
  top.q1 = bottom.q0 = q;
  left.k1 = right.k0 = k;
  line.q0 = q;
  line.q1 = q + 1;
  RC_ASSERT(area(top) + area(bottom) == area(s));
  RC_ASSERT(area(left) + area(right) == area(s));
  RC_ASSERT(area(line) == Area(keysOf(s, q).size()));
  Area whole = area(s);
  RC_ASSERT(tighten(s) == (whole != 0));
  RC_ASSERT(whole == 0 || area(s) == whole);
}

TEST(Slice, HolesAreTrimmedAtTheEnds) {
  // 3a + 1 = 7b: a = 2, b = 1; a = 9, b = 4; a = 16, b = 7.
  Slice slice{0, 16, 0, 100, 1, 1, 3, 7, 0};
  EXPECT_EQ(area(slice), 2u);
  ASSERT_TRUE(tighten(slice));
  EXPECT_EQ(text(slice), "q [2,10) k [1,5) 1..1 strides 3,7");
  Slice none{0, 2, 0, 100, 1, 1, 3, 7, 0};
  EXPECT_FALSE(tighten(none));
}

TEST(Slice, EqualStridesVanish) {
  Slice slice{0, 3, 0, 3, unboundedBelow, -1, 4, 4, 0};
  ASSERT_TRUE(tighten(slice));
  EXPECT_EQ(text(slice), "q [1,3) k [0,2) -inf..-1 strides 1,1");
}

TEST(Slice, UniformPairsStayApart) {
  Slice scored{0, 2, 0, 4, unboundedBelow, unboundedAbove, 1, 1, 0};
  Slice uniform{2, 4, 0, 4, unboundedBelow, unboundedAbove, 1, 1, 1};
  std::vector<Slice> slices{scored, uniform};
  join(slices);
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_TRUE(equal(slices[0], scored));
  EXPECT_TRUE(equal(slices[1], uniform));
}

TEST(Slice, ExtremeBoundsDoNotOverflow) {
  int64_t n = int64_t(1) << 61;
  for (int64_t bound : {INT64_MIN + 1, INT64_MAX - 1, -n, n, int64_t(0)}) {
    Slice below{0, n, 0, n, unboundedBelow, bound, 1, 1, 0};
    Slice above{0, n, 0, n, bound, unboundedAbove, 1, 1, 0};
    // Together they count the diagonal `bound` twice.
    Area diagonal = bound == 0 ? Area(n) : 0;
    EXPECT_EQ(toString(area(below) + area(above)),
              toString(Area(n) * Area(n) + diagonal));
    EXPECT_EQ(tighten(below), bound > -n);
    EXPECT_EQ(tighten(above), bound < n);
  }
  EXPECT_EQ(toString(Area(n) * Area(n)),
            "5316911983139663491615228241121378304");
  EXPECT_EQ(toString(0), "0");
}

} // namespace
