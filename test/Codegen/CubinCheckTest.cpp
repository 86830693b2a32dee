// What is found in code for GPUs, instruction by instruction.

#include "CUDA/CubinCheck.h"

#include "gtest/gtest.h"

using namespace mlir::sp;

namespace {

GpuInstruction product(unsigned sums, unsigned factor) {
  return {0x41e0000000007df0 | uint64_t(sums) << 16 | uint64_t(factor) << 24,
          0};
}
GpuInstruction wait(unsigned pending) {
  return {0x8000000079c5, 0xfe40000010000 | uint64_t(pending) << 8};
}
GpuInstruction operation(unsigned opcode, unsigned result) {
  return {0x7000 | opcode | uint64_t(result) << 16, 0};
}

constexpr unsigned kAdd = 0x221, kPower = 0x308, kStoreLocal = 0x387,
                   kLoadShared = 0x984, kUniform = 0x892;

TEST(CubinCheck, finds_a_factor_overwritten_before_the_wait) {
  CubinCensus census =
      takeCensus({product(24, 152), wait(1), operation(kAdd, 155), wait(0)});
  ASSERT_EQ(census.hazards.size(), 1u);
  EXPECT_EQ(census.hazards[0],
            "instruction 2 writes R155, which a product still reads");
}

TEST(CubinCheck, lets_factors_change_behind_the_wait) {
  EXPECT_TRUE(takeCensus({product(24, 152), wait(0), operation(kAdd, 152)})
                  .hazards.empty());
}

TEST(CubinCheck, looks_at_all_that_a_load_brings) {
  EXPECT_EQ(takeCensus({product(24, 152), operation(kLoadShared, 150), wait(0)})
                .hazards.size(),
            1u);
}

TEST(CubinCheck, knows_results_that_are_no_registers) {
  EXPECT_TRUE(takeCensus({product(24, 152), operation(kUniform, 152),
                          operation(kAdd, 255), operation(kAdd, 156), wait(0)})
                  .hazards.empty());
}

TEST(CubinCheck, counts) {
  CubinCensus census =
      takeCensus({operation(kPower, 1), product(24, 152), product(24, 156),
                  wait(1), operation(kPower, 2), operation(kPower, 3), wait(0),
                  operation(kPower, 4), operation(kStoreLocal, 5)});
  EXPECT_EQ(census.instructions, 9);
  EXPECT_EQ(census.products, 2);
  EXPECT_EQ(census.overlappedPowers, 2);
  EXPECT_EQ(census.localAccesses, 1);
}

GpuInstruction setRegisters(unsigned count, bool isAsking) {
  return {0x79c8 | uint64_t(count) << 32,
          isAsking ? 0x000e240008000600u : 0x000e0000080e0500u};
}

std::string overSubscription(unsigned producer, unsigned consumer,
                             int64_t registers, int64_t threads) {
  CubinCensus census =
      takeCensus({setRegisters(consumer, true), setRegisters(producer, false)});
  EXPECT_EQ(census.raised, consumer);
  EXPECT_EQ(census.lowered, producer);
  census.registers = registers;
  census.threads = threads;
  return census.overSubscription();
}

TEST(CubinCheck, counts_the_registers_that_warpgroups_ask_for) {
  EXPECT_EQ(overSubscription(24, 240, 168, 384), "");
  EXPECT_EQ(overSubscription(32, 160, 128, 512), "");
  EXPECT_EQ(
      overSubscription(32, 240, 168, 384),
      "3 warpgroups ask for 32 and 2 times 240 registers a thread, 512 in "
      "all, of the 504 that they were launched with: they would wait for "
      "ever");
  EXPECT_NE(overSubscription(24, 240, 160, 384), "");
  EXPECT_EQ(takeCensus({operation(kAdd, 1)}).overSubscription(), "");
}

/// To the instruction that many further on; negative: back.
GpuInstruction branch(int64_t by, bool isAlways) {
  uint64_t words = static_cast<uint64_t>(4 * (by - 1));
  return {(isAlways ? 0x7947u : 0x947u) | (words & 0xff) << 16 |
              (words >> 8 & 0x3fffffff) << 34,
          0x3800000};
}

TEST(CubinCheck, counts_the_shortest_way_around_a_step) {
  // Of two ways to the end of the loop, one has a power more.
  CubinCensus census = takeCensus(
      {operation(kAdd, 1), product(24, 152), wait(1), operation(kPower, 2),
       branch(3, false), operation(kPower, 3), operation(kAdd, 4), wait(0),
       operation(kAdd, 5), branch(-9, false), operation(kAdd, 6)});
  EXPECT_EQ(census.stepInstructions, 7);
  EXPECT_EQ(census.stepPowers, 1);
  EXPECT_EQ(takeCensus({product(24, 152), wait(1), wait(0)}).stepInstructions,
            0);
  EXPECT_EQ(takeCensus({wait(1), branch(2, true), branch(-2, true),
                        operation(kAdd, 1)})
                .stepInstructions,
            0);
}

TEST(CubinCheck, refuses_what_is_no_cubin) {
  std::string error;
  EXPECT_TRUE(failed(takeCensus(llvm::ArrayRef<char>("none", 4), "k", error)));
  EXPECT_NE(error.find("expected a cubin with the kernel 'k'"),
            std::string::npos);
}

} // namespace
