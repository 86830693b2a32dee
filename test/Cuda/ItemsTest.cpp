// Which items of work the blocks of a grid take.

#include "Work.h"

#include "sprt/cuda/AttendWork.cuh"

#include "gtest/gtest.h"

using namespace sprt;
using namespace sprt::test;

namespace {

/// What each block takes, one after another.
std::vector<std::vector<int>> taken(int blocks, int items, int32_t *counter) {
  cuda::AttendArguments arguments = {};
  arguments.pairs = 1;
  arguments.queryBlocks = items;
  arguments.counter = counter;
  std::vector<std::vector<int>> all(static_cast<size_t>(blocks));
  cuda::emulation::run({blocks, 128, 1024, 1}, [&] {
    if (ptx::thread() != 0)
      return;
    cuda::Items list(arguments);
    for (int item = list.next(); item >= 0; item = list.next())
      all[static_cast<size_t>(ptx::block())].push_back(item);
  });
  return all;
}

TEST(Items, are_taken_in_waves_to_and_fro) {
  EXPECT_EQ(taken(3, 8, nullptr),
            (std::vector<std::vector<int>>{{0, 5, 6}, {1, 4, 7}, {2, 3}}));
}

TEST(Items, are_counted_once_and_the_counter_is_left_as_it_was) {
  int32_t counter = 0;
  for (int launch = 0; launch < 2; ++launch) {
    std::vector<int> items;
    for (const std::vector<int> &own : taken(3, 8, &counter))
      items.insert(items.end(), own.begin(), own.end());
    std::sort(items.begin(), items.end());
    EXPECT_EQ(items, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(counter, 0);
  }
}

} // namespace
