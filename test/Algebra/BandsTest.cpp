#include "MaskGen.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

using namespace sprt::algebra;

namespace {

bool sees(const Band &band, int64_t i, int64_t j) {
  return band.q0 <= i && i < band.q1 && band.k0 <= j && j < band.k1 &&
         (band.lo == unboundedBelow || i + band.lo <= j) &&
         (band.hi == unboundedAbove || j <= i + band.hi);
}

bool sees(const Bands &mask, int64_t i, int64_t j) {
  for (const Band &band : mask.bands())
    if (sees(band, i, j))
      return true;
  return false;
}

TEST(Bands, NamedMasksShowWhatTheirNamesSay) {
  for (int64_t queries : {0, 1, 2, 5, 9})
    for (int64_t keys : {0, 1, 2, 6, 9})
      for (int64_t lo = -10; lo <= 10; ++lo)
        for (int64_t hi = -10; hi <= 10; ++hi) {
          Bands full = Bands::full(queries, keys);
          Bands causal = Bands::causal(queries, keys, hi);
          Bands window = Bands::window(queries, keys, lo, hi);
          for (int64_t i = -1; i <= queries; ++i)
            for (int64_t j = -1; j <= keys; ++j) {
              bool in = i >= 0 && i < queries && j >= 0 && j < keys;
              ASSERT_EQ(full.visible(i, j), in);
              ASSERT_EQ(causal.visible(i, j), in && j <= i + hi);
              ASSERT_EQ(window.visible(i, j), in && i + lo <= j && j <= i + hi);
            }
          ASSERT_EQ(full.area(), Area(queries * keys));
        }
  EXPECT_EQ(Bands::causal(8, 8).area(), 36u);
  EXPECT_EQ(Bands::window(8, 8, -2, 0).area(), 21u);
}

TEST(Bands, ReportsCallMasksByName) {
  for (int64_t queries : {1, 2, 5, 9})
    for (int64_t keys : {1, 2, 6, 9})
      for (int64_t lo = -10; lo <= 10; ++lo)
        for (int64_t hi = lo; hi <= 10; ++hi) {
          // The first name that fits the pairs shown, whatever made them.
          Bands full = Bands::full(queries, keys);
          Bands window = Bands::window(queries, keys, lo, hi);
          const char *name = window.empty() ? "bands" : "window";
          for (int64_t offset = -9; offset <= 9; ++offset)
            if (!window.empty() &&
                window == Bands::causal(queries, keys, offset))
              name = "causal";
          if (window == full)
            name = "full";
          ASSERT_STREQ(window.name(queries, keys), name)
              << queries << " " << keys << " " << text(window);
        }
  EXPECT_STREQ(Bands::causal(9, 9).name(9, 9), "causal");
  EXPECT_STREQ(Bands::causal(4, 9, 5).name(4, 9), "causal");
  EXPECT_STREQ(Bands::full(9, 9).name(9, 9), "full");
  EXPECT_STREQ(Bands::full(9, 9).name(9, 10), "bands");
  EXPECT_STREQ(Bands::full(9, 9).withUniformRows(9, 9).name(9, 9), "full");
  EXPECT_STREQ(Bands().withUniformRows(9, 9).name(9, 9), "bands");
  EXPECT_STREQ(Bands().name(9, 9), "bands");
  Bands documents(
      {{0, 5, 0, 5, unboundedBelow, 0}, {5, 8, 5, 8, unboundedBelow, 0}});
  EXPECT_STREQ(documents.name(8, 8), "bands");
}

TEST(Bands, OverlapIsFound) {
  Bands documents({{5, 8, 5, 8, unboundedBelow, 0},
                   {0, 5, 0, 5, unboundedBelow, 0},
                   {3, 8, 0, 5, unboundedBelow, -4}});
  EXPECT_EQ(documents.overlap(), std::pair(size_t(1), size_t(2)));
  EXPECT_FALSE(Bands({documents.bands()[0], documents.bands()[1]}).overlap());
  EXPECT_FALSE(Bands().overlap());
}

TEST(Bands, LargeAreasAreExact) {
  int64_t n = int64_t(1) << 40;
  EXPECT_EQ(Bands::full(n, n).area(), Area(n) * Area(n));
  EXPECT_EQ(Bands::causal(n, n).area(), Area(n) * Area(n + 1) / 2);
  // 4096 keys behind, fewer at the start.
  EXPECT_EQ(Bands::window(n, n, -4095, 0).area(),
            Area(n) * 4096 - Area(4096) * 4095 / 2);
  EXPECT_EQ(toString(Bands::causal(n, n).area()), "604462909807864343166976");
}

TEST(Bands, MaskedRowsAreFound) {
  // Causal and shifted back: the first three queries see nothing.
  Bands mask = Bands::causal(8, 8, -3);
  EXPECT_EQ(mask.emptyRows(8, 8), (std::vector<Interval>{{0, 3}}));
  EXPECT_EQ(mask.withUniformRows(8, 8),
            Bands({{0, 3, 0, 8, unboundedBelow, unboundedAbove, true},
                   {3, 8, 0, 5, unboundedBelow, -3, false}}));
  EXPECT_EQ(Bands().emptyRows(4, 4), (std::vector<Interval>{{0, 4}}));
  EXPECT_EQ(Bands().emptyRows(0, 4), std::vector<Interval>{});
  EXPECT_TRUE(Bands().withUniformRows(4, 0).empty());
  EXPECT_EQ(Bands::full(4, 4).withUniformRows(4, 4), Bands::full(4, 4));
}

RC_GTEST_PROP(BandsProperty, SimplifyingKeepsPairs, ()) {
  int64_t queries = *rc::gen::inRange<int64_t>(0, 20);
  int64_t keys = *rc::gen::inRange<int64_t>(0, 20);
  Bands mask = drawMask(queries, keys);
  RC_LOG(text(mask));
  Bands simple = mask.simplified(), clipped = mask.clipped(queries, keys);
  size_t all = 0, inside = 0;
  for (int64_t i = -4; i < queries + 4; ++i)
    for (int64_t j = -4; j < keys + 4; ++j) {
      bool seen = sees(mask, i, j);
      bool in = i >= 0 && i < queries && j >= 0 && j < keys;
      RC_ASSERT(mask.visible(i, j) == seen);
      RC_ASSERT(simple.visible(i, j) == seen);
      RC_ASSERT(clipped.visible(i, j) == (seen && in));
      all += seen;
      inside += seen && in;
    }
  RC_ASSERT(mask.area() == all);
  RC_ASSERT(simple.area() == all);
  RC_ASSERT(clipped.area() == inside);
  RC_ASSERT(mask.empty() == (all == 0));
  RC_ASSERT(simple.simplified() == simple);
  RC_ASSERT(!mask.overlap());
  RC_ASSERT(!simple.overlap());
}

RC_GTEST_PROP(BandsProperty, TransposingSwapsQueriesAndKeys, ()) {
  Bands mask = drawMask(9, 12);
  RC_LOG(text(mask));
  Bands turned = mask.transposed();
  for (int64_t i = -4; i < 16; ++i)
    for (int64_t j = -4; j < 16; ++j)
      RC_ASSERT(sees(turned, j, i) == sees(mask, i, j));
  RC_ASSERT(turned.transposed() == mask);
}

RC_GTEST_PROP(BandsProperty, NormalFormIsUnique, ()) {
  // Two bands of the same pairs are the same band.
  Band a = drawBand(6, 6), b = drawBand(6, 6);
  bool same = true;
  for (int64_t i = -4; i < 10; ++i)
    for (int64_t j = -4; j < 10; ++j)
      same &= sees(a, i, j) == sees(b, i, j);
  RC_CLASSIFY(same);
  RC_ASSERT((Bands({a}).simplified() == Bands({b}).simplified()) == same);
}

RC_GTEST_PROP(BandsProperty, IntersectionAndOverlapAgree, ()) {
  Band a = drawBand(9, 9), b = drawBand(9, 9);
  Band both = intersect(a, b);
  bool meets = false;
  for (int64_t i = -4; i < 13; ++i)
    for (int64_t j = -4; j < 13; ++j) {
      bool seen = sees(a, i, j) && sees(b, i, j);
      RC_ASSERT(visible(both, i, j) == seen);
      meets |= seen;
    }
  RC_ASSERT(Bands({a, b}).overlap().has_value() == meets);
}

RC_GTEST_PROP(BandsProperty, EmptyRowsSeeNothingAndOthersSomething, ()) {
  int64_t queries = *rc::gen::inRange<int64_t>(0, 20);
  int64_t keys = *rc::gen::inRange<int64_t>(0, 20);
  Bands mask = drawMask(queries, keys);
  RC_LOG(text(mask));
  std::vector<bool> reported(size_t(queries), false);
  int64_t last = -1;
  for (Interval rows : mask.emptyRows(queries, keys)) {
    RC_ASSERT(last < rows.begin);
    RC_ASSERT(!rows.empty());
    last = rows.end;
    for (int64_t i = rows.begin; i < rows.end; ++i)
      reported[size_t(i)] = true;
  }
  Bands filled = mask.withUniformRows(queries, keys);
  RC_ASSERT(!filled.overlap());
  for (int64_t i = 0; i < queries; ++i) {
    bool some = false;
    for (int64_t j = 0; j < keys; ++j)
      some |= sees(mask, i, j);
    RC_ASSERT(reported[size_t(i)] == !some);
    for (int64_t j = 0; j < keys; ++j) {
      RC_ASSERT(filled.visible(i, j) == (!some || sees(mask, i, j)));
      for (const Band &band : filled.bands())
        RC_ASSERT(!sees(band, i, j) || band.uniform == !some);
    }
  }
}

RC_GTEST_PROP(BandsProperty, ExtremeBoundsAreHarmless, ()) {
  // Any numbers at all: what a damaged plan may hold.
  auto any =
      rc::gen::oneOf(rc::gen::arbitrary<int64_t>(),
                     rc::gen::element<int64_t>(INT64_MIN, INT64_MIN + 1, -1, 0,
                                               1, INT64_MAX - 1, INT64_MAX));
  Band band{*any, *any, *any, *any, *any, *any, false};
  Bands mask({band});
  int64_t n = *rc::gen::inRange<int64_t>(0, 12);
  Bands clipped = mask.clipped(n, n);
  size_t count = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      count += visible(band, i, j);
  RC_ASSERT(clipped.area() == count);
  RC_ASSERT(area(mask.restrict(denseRanges(n), denseRanges(n))) == count);
}

} // namespace
