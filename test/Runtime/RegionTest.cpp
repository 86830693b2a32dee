// What counts as touched, on which measured memory stands.

#include "executor/Region.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sprt::test {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(RegionTest, CountsTouchedPages) {
  Region region;
  ASSERT_FALSE(region.map(kMiB));
  EXPECT_EQ(region.residentBytes(), 0);
  region.data()[kMiB / 2] = std::byte(1);
  EXPECT_GT(region.residentBytes(), 0);
  EXPECT_LE(region.residentBytes(), 64 * 1024);
}

TEST(RegionTest, LargePagesStayInside) {
  Region region;
  constexpr int64_t bytes = 7 * kMiB + 100;
  ASSERT_FALSE(region.map(bytes));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(region.data()) % (2 * kMiB), 0U);
  EXPECT_EQ(region.residentBytes(), 0);
  region.data()[3 * kMiB] = std::byte(1);
  EXPECT_GT(region.residentBytes(), 0);
  EXPECT_LE(region.residentBytes(), 2 * kMiB);
  std::memset(region.data(), 1, bytes);
  EXPECT_EQ(region.residentBytes(), bytes);
}

TEST(RegionTest, TouchesAllAtOnce) {
  Region region;
  ASSERT_FALSE(region.map(3 * kMiB, /*prefault=*/true));
  EXPECT_EQ(region.residentBytes(), 3 * kMiB);
}

TEST(RegionTest, MayBeEmpty) {
  Region region;
  ASSERT_FALSE(region.map(0));
  EXPECT_EQ(region.residentBytes(), 0);
}

TEST(RegionTest, SaysWhatCannotBeReserved) {
  Region region;
  Status failure = region.map(int64_t(1) << 60);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "this machine cannot reserve 1152921504606846976 "
                           "bytes for a rank");
}

} // namespace
} // namespace sprt::test
