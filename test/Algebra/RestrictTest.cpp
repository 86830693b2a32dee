#include "MaskGen.h"
#include "SliceChecks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace sprt::algebra;

namespace {

constexpr LayoutKind kinds[] = {LayoutKind::contiguous, LayoutKind::zigzag,
                                LayoutKind::striped};

/// Over all pairs of owners the slices show each visible pair exactly once and
/// nothing else, and their areas add up to the mask's. Empty if so.
std::string coverageFlaw(const Bands &mask, const Layout &queries,
                         const Layout &keys) {
  size_t width = size_t(keys.length());
  std::vector<uint8_t> shown(size_t(queries.length()) * width, 0);
  Area sum = 0;
  for (int64_t owner = 0; owner < queries.ranks(); ++owner)
    for (int64_t source = 0; source < keys.ranks(); ++source)
      for (const Slice &s : mask.restrict(queries, owner, keys, source)) {
        sum += area(s);
        if (s.q0 < 0 || s.q1 > queries.count(owner) || s.k0 < 0 ||
            s.k1 > keys.count(source))
          return "rows beyond the owner's: " + text(s);
        for (int64_t a = s.q0; a < s.q1; ++a)
          for (int64_t b = s.k0; b < s.k1; ++b) {
            int64_t line = s.qStride * a, key = s.kStride * b;
            if ((s.lo == unboundedBelow || line + s.lo <= key) &&
                (s.hi == unboundedAbove || key <= line + s.hi))
              ++shown[size_t(queries.toGlobal(owner, a)) * width +
                      size_t(keys.toGlobal(source, b))];
          }
      }
  for (int64_t i = 0; i < queries.length(); ++i)
    for (int64_t j = 0; j < keys.length(); ++j) {
      int times = shown[size_t(i) * width + size_t(j)];
      if (times != int(mask.visible(i, j)))
        return "query " + std::to_string(i) + " sees key " + std::to_string(j) +
               " " + std::to_string(times) + " times";
    }
  if (sum != mask.clipped(queries.length(), keys.length()).area())
    return "areas sum to " + toString(sum);
  return "";
}

TEST(Restrict, EveryVisiblePairIsComputedExactlyOnce) {
  for (int64_t n = 0; n <= 64; ++n) {
    int64_t cut = n / 3;
    const Bands masks[] = {
        Bands::full(n, n), Bands::causal(n, n), Bands::causal(n, n, -3),
        Bands::window(n, n, -5, 0), Bands::window(n, n, -2, 3),
        // A prefix everyone sees, then two causal documents.
        Bands({{0, n, 0, 2},
               {0, cut, 2, cut, unboundedBelow, 0},
               {cut, n, std::max<int64_t>(cut, 2), n, unboundedBelow, 0}})};
    for (const Bands &mask : masks)
      for (LayoutKind kind : kinds)
        for (int64_t ring = 1; ring <= 9; ++ring)
          for (int64_t split = 1; split <= 2; ++split) {
            Layout layout(kind, n, ring, split);
            ASSERT_EQ(coverageFlaw(mask, layout, layout), "")
                << layout.str() << " " << text(mask);
          }
  }
}

RC_GTEST_PROP(RestrictProperty, AnyMaskBetweenAnyLayouts, ()) {
  auto layout = [](int64_t length) {
    LayoutKind kind = *rc::gen::element(
        LayoutKind::contiguous, LayoutKind::zigzag, LayoutKind::striped);
    return Layout(kind, length, *rc::gen::inRange<int64_t>(1, 10),
                  *rc::gen::inRange<int64_t>(1, 4));
  };
  Layout queries = layout(*rc::gen::inRange<int64_t>(0, 65));
  Layout keys = layout(*rc::gen::inRange<int64_t>(0, 65));
  Bands mask = drawMask(queries.length(), keys.length());
  RC_LOG(queries.str() + " " + keys.str() + " " + text(mask));
  RC_ASSERT(coverageFlaw(mask, queries, keys) == "");
  int64_t owner = *rc::gen::inRange<int64_t>(0, queries.ranks());
  int64_t source = *rc::gen::inRange<int64_t>(0, keys.ranks());
  for (const Slice &slice : mask.restrict(queries, owner, keys, source))
    RC_ASSERT(flawOf(slice) == "");
}

TEST(Restrict, ZigzagCausalFollowsTheRingRule) {
  // The three forms of a zigzag ring's step (algorithm of ring flash
  // attention).
  for (int64_t ring : {1, 2, 3, 8})
    for (int64_t chunk : {1, 2, 5, 512}) {
      int64_t n = 2 * ring * chunk;
      Bands causal = Bands::causal(n, n);
      Layout layout(LayoutKind::zigzag, n, ring);
      for (int64_t rank = 0; rank < ring; ++rank)
        for (int64_t source = 0; source < ring; ++source) {
          Slice want{0, 2 * chunk, 0, 2 * chunk, unboundedBelow, 0, 1, 1, 0};
          if (source != rank)
            want.hi = unboundedAbove;
          if (source < rank)
            want.k1 = chunk;
          if (source > rank)
            want.q0 = chunk;
          auto slices = causal.restrict(layout, rank, layout, source);
          ASSERT_EQ(slices.size(), 1u);
          ASSERT_TRUE(equal(slices[0], want)) << text(slices[0]);
        }
    }
}

TEST(Restrict, ZigzagBalancesCausalWork) {
  for (int64_t ring : {1, 2, 3, 7, 8, 64})
    for (int64_t chunk : {1, 3, 128}) {
      int64_t n = 2 * ring * chunk;
      Bands causal = Bands::causal(n, n);
      Layout layout(LayoutKind::zigzag, n, ring);
      for (int64_t rank = 0; rank < ring; ++rank)
        for (int64_t source = 0; source < ring; ++source) {
          // 2 c^2 at every step; the first also has its diagonal, half of which
          // the continuous formula leaves out.
          int64_t want = 2 * chunk * chunk + (source == rank ? chunk : 0);
          ASSERT_EQ(area(causal.restrict(layout, rank, layout, source)),
                    Area(want));
        }
    }
}

TEST(Restrict, StripedCausalIsATriangleAtEveryStep) {
  Layout layout(LayoutKind::striped, 40, 5);
  Bands causal = Bands::causal(40, 40);
  for (int64_t rank = 0; rank < 5; ++rank)
    for (int64_t source = 0; source < 5; ++source) {
      auto slices = causal.restrict(layout, rank, layout, source);
      ASSERT_EQ(slices.size(), 1u);
      EXPECT_EQ(text(slices[0]), source <= rank
                                     ? "q [0,8) k [0,8) -inf..0 strides 1,1"
                                     : "q [1,8) k [0,7) -inf..-1 strides 1,1");
    }
  // Against gathered keys the strides stay.
  auto slices = causal.restrict(layout, 2, Layout::dense(40), 0);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(text(slices[0]), "q [0,8) k [0,38) -inf..2 strides 5,1");
}

TEST(Restrict, NothingVisibleMeansNoSlices) {
  Layout layout(LayoutKind::contiguous, 64, 8);
  EXPECT_TRUE(Bands::causal(64, 64).restrict(layout, 2, layout, 3).empty());
  // A window reaches one block back, not two.
  Bands window = Bands::window(64, 64, -7, 0);
  EXPECT_FALSE(window.restrict(layout, 4, layout, 3).empty());
  EXPECT_TRUE(window.restrict(layout, 4, layout, 2).empty());
  // Fewer positions than ranks.
  Layout few(LayoutKind::zigzag, 3, 8);
  EXPECT_TRUE(Bands::full(3, 3).restrict(few, 7, few, 0).empty());
}

TEST(Restrict, UniformBandsGiveUniformSlices) {
  Layout layout(LayoutKind::zigzag, 16, 2);
  Bands mask = Bands::causal(16, 16, -9).withUniformRows(16, 16);
  bool some = false;
  for (const Slice &slice : mask.restrict(layout, 0, layout, 1)) {
    bool hidden = layout.toGlobal(0, slice.q0) < 9;
    EXPECT_EQ(bool(slice.uniform), hidden) << text(slice);
    some |= hidden;
  }
  EXPECT_TRUE(some);
}

RC_GTEST_PROP(RestrictProperty, LargePositionsShowWhatTheMaskShows, ()) {
  auto length = rc::gen::oneOf(
      rc::gen::inRange<int64_t>(1, Layout::maxLength + 1),
      rc::gen::inRange<int64_t>(Layout::maxLength - 9, Layout::maxLength + 1));
  auto layout = [](int64_t length) {
    LayoutKind kind = *rc::gen::element(
        LayoutKind::contiguous, LayoutKind::zigzag, LayoutKind::striped);
    return Layout(kind, length, *rc::gen::inRange<int64_t>(1, 1 << 16),
                  *rc::gen::inRange<int64_t>(1, 17));
  };
  Layout queries = layout(*length), keys = layout(*length);
  Bands mask = drawMask(queries.length(), keys.length());
  RC_LOG(queries.str() + " " + keys.str() + " " + text(mask));
  // A key at the edge of what a query sees, or anywhere.
  int64_t i = *rc::gen::inRange<int64_t>(0, queries.length());
  int64_t j = *rc::gen::inRange<int64_t>(0, keys.length());
  if (!mask.bands().empty() && *rc::gen::inRange(0, 4) != 0) {
    const Band &band =
        mask.bands()[*rc::gen::inRange<size_t>(0, mask.bands().size())];
    int64_t offset = *rc::gen::element(band.lo, band.hi);
    if (offset != unboundedBelow && offset != unboundedAbove)
      j = i + offset + *rc::gen::inRange<int64_t>(-1, 2);
    j = std::clamp<int64_t>(j, 0, keys.length() - 1);
  }
  Layout::Place query = queries.toLocal(i), key = keys.toLocal(j);
  int times = 0;
  for (const Slice &slice :
       mask.restrict(queries, query.owner, keys, key.owner))
    times += visible(slice, query.row, key.row);
  RC_ASSERT(times == int(mask.visible(i, j)));
}

RC_GTEST_PROP(RestrictProperty, LargeAreasAddUp, ()) {
  int64_t n = *rc::gen::inRange<int64_t>(1, Layout::maxLength + 1);
  LayoutKind kind = *rc::gen::element(LayoutKind::contiguous,
                                      LayoutKind::zigzag, LayoutKind::striped);
  Layout layout(kind, n, *rc::gen::inRange<int64_t>(1, 6),
                *rc::gen::inRange<int64_t>(1, 3));
  Bands mask = drawMask(n, n);
  RC_LOG(layout.str() + " " + text(mask));
  Area sum = 0, gathered = 0;
  for (int64_t owner = 0; owner < layout.ranks(); ++owner) {
    gathered += area(mask.restrict(layout, owner, Layout::dense(n), 0));
    for (int64_t source = 0; source < layout.ranks(); ++source)
      sum += area(mask.restrict(layout, owner, layout, source));
  }
  RC_ASSERT(sum == mask.clipped(n, n).area());
  RC_ASSERT(gathered == sum);
}

} // namespace
