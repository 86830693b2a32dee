// Programs for GPUs on the emulated device: whatever the order of streams, the
// results are those of the CPU; and a wait that is missing shows.

#include "device/Device.h"
#include "Programs.h"
#include "support/Message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>

namespace sprt::test {
namespace {

using plan::LayoutKind;

/// Programs whose streams run in an order that a seed repeats.
class Emulated : public testing::Test {
protected:
  ~Emulated() override { unsetenv("SPRT_EMULATION_SEED"); }

  static void seed(int number) {
    setenv("SPRT_EMULATION_SEED", std::to_string(number).c_str(), 1);
  }
  static PlanBuilder ring(int64_t ranks, int64_t length) {
    return ringSum(ranks, length, LayoutKind::zigzag)
        .target(plan::Target::cuda);
  }
  static std::vector<float> run(const PlanBuilder &builder, int64_t length,
                                int order) {
    seed(order);
    Runner runner(builder);
    EXPECT_EQ(runner.run({ramp(static_cast<size_t>(length * kRingWidth))}), "");
    return runner.results[0];
  }
  /// In how many of so many orders a ring of 3 over 7 rows is wrong.
  static int wrongOrders(void (*spoil)(plan::LoopT &)) {
    PlanBuilder builder = ring(3, 7);
    spoil(*builder.plan.commands[2]->operation.AsLoop());
    std::vector<float> expected =
        ringSumReference(3, 7, LayoutKind::zigzag, ramp(7 * kRingWidth));
    int wrong = 0;
    for (int order = 0; order < 20; ++order)
      wrong += run(builder, 7, order) != expected;
    return wrong;
  }
};

TEST_F(Emulated, ringEqualsReferenceInEveryOrder) {
  for (int64_t ranks : {1, 2, 3, 5})
    for (int64_t length : {1, 7, 16})
      for (int order = 0; order < 8; ++order)
        EXPECT_EQ(
            run(ring(ranks, length), length, order),
            ringSumReference(ranks, length, LayoutKind::zigzag,
                             ramp(static_cast<size_t>(length * kRingWidth))))
            << ranks << " ranks, " << length << " rows, order " << order;
}

// In the loop: 0 clear on comm, 1 shift on comm, 2 add, 3 wait for the shift.
TEST_F(Emulated, everyMissingWaitGivesWrongResultsInSomeOrder) {
  EXPECT_EQ(wrongOrders([](plan::LoopT &) {}), 0);
  EXPECT_GT(wrongOrders([](plan::LoopT &loop) { loop.body[3]->waits = {}; }), 2)
      << "computing before the block arrives";
  EXPECT_GT(
      wrongOrders([](plan::LoopT &loop) { loop.body[0]->waits.pop_back(); }), 2)
      << "receiving before the block is computed with";
  EXPECT_GT(wrongOrders([](plan::LoopT &loop) {
              loop.body[0]->waits.erase(loop.body[0]->waits.begin());
            }),
            2)
      << "sending before the own block is there";
}

TEST_F(Emulated, orderRepeatsForItsSeed) {
  PlanBuilder builder = ring(3, 7);
  plan::LoopT &loop = *builder.plan.commands[2]->operation.AsLoop();
  loop.body[0]->waits = loop.body[3]->waits = {};
  // NaNs differ from themselves: bits are compared.
  auto bitsOf = [&](int order) {
    std::vector<float> result = run(builder, 7, order);
    const char *bytes = reinterpret_cast<const char *>(result.data());
    return std::string(bytes, result.size() * sizeof(float));
  };
  std::vector<std::string> first;
  for (int order = 0; order < 10; ++order)
    first.push_back(bitsOf(order));
  for (int round = 0; round < 5; ++round)
    for (int order = 0; order < 10; ++order)
      EXPECT_EQ(bitsOf(order), first[static_cast<size_t>(order)]) << order;
  EXPECT_NE(std::set<std::string>(first.begin(), first.end()).size(), 1U);
}

TEST_F(Emulated, memoryThatNobodyWroteIsNotANumber) {
  PlanBuilder builder(2);
  uint32_t dealt = builder.layout(LayoutKind::contiguous, 2, 2);
  builder.result("x", plan::DType::f32, {{2, static_cast<int>(dealt)}},
                 builder.arena(4));
  Runner runner(builder.target(plan::Target::cuda));
  ASSERT_EQ(runner.run({}), "");
  EXPECT_TRUE(std::isnan(runner.results[0][0]));
}

TEST_F(Emulated, injectedFailuresEndEveryRank) {
  for (bool stalls : {false, true}) {
    Runner runner(ring(3, 7), 1, stalls ? 0.3 : 20);
    runner.options.inject_rank = 1;
    runner.options.inject_command = 4;
    runner.options.inject_stall = stalls;
    std::string text = runner.run({ramp(7 * kRingWidth)});
    EXPECT_THAT_CONTAINS(text, stalls ? "waited 0.6 s"
                                      : "rank 1, command 4 "
                                        "\"shift\", step 0: "
                                        "failed on request");
    if (!stalls)
      EXPECT_THAT_CONTAINS(text, "because rank 1 ended the run");
  }
}

TEST_F(Emulated, workWaitsUntilNoRankMayAddAny) {
  std::shared_ptr<Device> device;
  ASSERT_FALSE(openDevice("emulated", device));
  std::unique_ptr<Device::Stream> stream;
  ASSERT_FALSE(device->createStream(0, stream));
  uint8_t value = 1;
  ASSERT_FALSE(stream->fill(reinterpret_cast<std::byte *>(&value), 7, 1));
  device->threadsRun(2);
  Device::Fault fault = stream->synchronise(Device::Limit(0.1));
  ASSERT_TRUE(fault.status);
  EXPECT_EQ(fault.status->text, "waited 0.1 s for the device");
  EXPECT_EQ(fault.status->code, SPRT_TIMEOUT);
  EXPECT_EQ(value, 1);
  device->threadsRun(-1);
  EXPECT_FALSE(stream->synchronise(Device::Limit(5)).status);
  EXPECT_EQ(value, 7);
}

TEST_F(Emulated, arenasLargerThanTheMachineAreRefused) {
  PlanBuilder builder = ring(2, 4);
  builder.plan.arena_bytes = int64_t(1) << 45;
  Runner runner(builder);
  EXPECT_THAT_CONTAINS(runner.open(runner.options),
                       "that are free on the emulated device, where 0 would "
                       "fit; compile for a smaller mesh or problem, or with "
                       "--memory-limit=");
}

TEST_F(Emulated, optionsThatDoNotFitAreRefused) {
  Runner runner(ring(2, 4));
  auto refused = [&](const char *communicator, const char *executor,
                     const char *device) {
    sprt_session_options options = runner.options;
    options.communicator = communicator;
    options.executor = executor;
    options.device = device;
    return runner.open(options);
  };
  EXPECT_EQ(refused("thread", nullptr, "emulated"),
            "expected communicator \"local\" or \"nccl\" for executor \"cuda\" "
            "but got \"thread\"");
  EXPECT_EQ(refused(nullptr, "cpu", "emulated"),
            "expected executor \"cuda\" for a program compiled with "
            "--target=cuda but got \"cpu\"; compile with --target=cpu");
  EXPECT_EQ(refused(nullptr, nullptr, "tpu"),
            "expected the number of a GPU or \"emulated\" but got \"tpu\"");
  EXPECT_EQ(refused("local", "cuda", "emulated"), "");
  setenv("SPRT_EMULATION_SEED", "many", 1);
  EXPECT_EQ(refused(nullptr, nullptr, "emulated"),
            "expected a number in SPRT_EMULATION_SEED but got \"many\"");
}

TEST_F(Emulated, programsWithoutEmulationAreRefused) {
  PlanBuilder builder = ring(2, 4);
  builder.kernels.clear();
  Runner runner(builder);
  EXPECT_EQ(runner.open(runner.options),
            "the artifact has kernel \"add_rows\" for GPUs only; compile with "
            "--emulation to run it with --device=emulated");
}

TEST(Device, memoryThatDoesNotSufficeIsSaidByHowMuch) {
  sprt_program *program = nullptr;
  ASSERT_EQ(ringSum(4, 16, LayoutKind::zigzag)
                .target(plan::Target::cuda)
                .load(&program),
            "");
  Device::Capability capability{"GPU 0", 1000000, 200000, 1};
  EXPECT_FALSE(checkMemory(*program, 3, capability));
  Status status = checkMemory(*program, 4, capability);
  ASSERT_TRUE(status);
  EXPECT_EQ(
      status->text,
      "4 ranks of 65536 bytes (65536 of arena and scratch, 0 of tables, 0 for "
      "products) and 0 bytes of constants are 62144 bytes more than the "
      "200000 of 1000000 that are free on GPU 0, where 3 would fit; "
      "compile for a smaller mesh or problem, or with "
      "--memory-limit=50000B");
  sprt_program_free(program);
}

TEST(Device, copiesAreCutIntoFewRectangles) {
  std::byte from[400], to[400];
  auto piece = [](std::byte *base, int64_t batch, int64_t rows, int64_t heads,
                  int64_t pitch) {
    Piece piece;
    piece.base = base;
    piece.inner = 4;
    piece.counts[0] = batch;
    piece.counts[1] = rows;
    piece.counts[2] = heads;
    piece.strides[0] = 10 * pitch;
    piece.strides[1] = pitch;
    piece.strides[2] = 4;
    return piece;
  };
  std::vector<Rectangle> parts;
  auto cut = [&](const Message &target, const Message &source) {
    parts.clear();
    forEachRectangle(target, source,
                     [&](const Rectangle &part) { parts.push_back(part); });
    return parts.size();
  };
  // Two batches of five rows of eight bytes, 16 apart, from rows 20 apart.
  Message strided = {piece(from, 2, 5, 2, 20)};
  ASSERT_EQ(cut({piece(to, 2, 5, 2, 16)}, strided), 2U);
  EXPECT_EQ(parts[1].target, to + 160);
  EXPECT_EQ(parts[1].source, from + 200);
  EXPECT_EQ(parts[1].width, 8);
  EXPECT_EQ(parts[1].height, 5);
  EXPECT_EQ(parts[1].targetPitch, 16);
  EXPECT_EQ(parts[1].sourcePitch, 20);
  EXPECT_EQ(cut(denseMessage(to, 80), strided), 2U);
  EXPECT_EQ(cut(denseMessage(to, 80), denseMessage(from, 80)), 1U);
  EXPECT_EQ(cut({}, {}), 0U);
}

} // namespace
} // namespace sprt::test
