// What counts as touched, on which measured memory stands.

#include "executor/Region.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sprt::test {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(RegionTest, CountsTouchedPages) {
  Region region;
  ASSERT_FALSE(region.map(16 * kMiB));
  EXPECT_EQ(region.residentBytes(), 0);
  region.data()[5 * kMiB] = std::byte(1);
  EXPECT_GT(region.residentBytes(), 0);
  EXPECT_LE(region.residentBytes(), 64 * 1024);
}

TEST(RegionTest, LargePagesTouchNothingElse) {
  Region region;
  ASSERT_FALSE(region.map(16 * kMiB));
  std::byte *tensor = region.data() + kMiB / 2;
  constexpr int64_t bytes = 7 * kMiB;
  region.preferLargePages(tensor, bytes);
  EXPECT_EQ(region.residentBytes(), 0);
  std::memset(tensor, 1, bytes);
  EXPECT_GE(region.residentBytes(), bytes);
  EXPECT_LE(region.residentBytes(), bytes + 128 * 1024);
}

TEST(RegionTest, ShortTensorsAndNone) {
  Region region, none;
  ASSERT_FALSE(region.map(4 * kMiB));
  region.preferLargePages(region.data() + 1, kMiB);
  region.data()[kMiB / 2] = std::byte(1);
  EXPECT_LE(region.residentBytes(), 64 * 1024);
  ASSERT_FALSE(none.map(0));
  none.preferLargePages(none.data(), 0);
  EXPECT_EQ(none.residentBytes(), 0);
}

} // namespace
} // namespace sprt::test
