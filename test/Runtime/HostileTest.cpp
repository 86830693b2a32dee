// Damaged and hostile plans: each is one status, none a crash.

#include "BackwardRing.h"
#include "CudaRing.h"
#include "Programs.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

std::string loadBytes(const std::vector<uint8_t> &bytes, size_t size) {
  auto lookup = [](const char *, void *) -> sprt_kernel {
    return [](void *const *, const int64_t *, int64_t, int64_t, void *) {};
  };
  sprt_program *program = nullptr;
  std::string text = take(sprt_program_create(bytes.data(), size, nullptr,
                                              lookup, nullptr, &program));
  // What loads must also print.
  if (program) {
    char *printed = nullptr;
    EXPECT_EQ(take(sprt_program_text(program, &printed)), "");
    sprt_buffer_free(printed);
  }
  sprt_program_free(program);
  return text;
}

TEST(Hostile, everyTruncationIsRefused) {
  std::vector<uint8_t> bytes = ringSum(4, 16, plan::LayoutKind::zigzag).bytes();
  // The last few bytes may be nothing but padding.
  for (size_t size = 0; size + 8 < bytes.size(); ++size)
    EXPECT_NE(loadBytes(bytes, size), "") << size;
  EXPECT_EQ(loadBytes(bytes, bytes.size()), "");
}

TEST(Hostile, everyFlippedByteLoadsOrIsRefused) {
  for (const std::vector<uint8_t> &bytes :
       {ringSum(4, 16, plan::LayoutKind::zigzag).bytes(),
        cudaRing({4, 16, plan::LayoutKind::zigzag, true}).bytes(),
        backwardRing({4, 16, plan::LayoutKind::zigzag, true}).bytes(),
        termGradients().bytes()}) {
    size_t refused = 0;
    for (size_t at = 0; at < bytes.size(); ++at)
      for (uint8_t mask : {0x01, 0x80, 0xFF}) {
        std::vector<uint8_t> damaged = bytes;
        damaged[at] ^= mask;
        refused += !loadBytes(damaged, damaged.size()).empty();
      }
    EXPECT_GT(refused, bytes.size() / 2);
  }
}

TEST(Hostile, randomBytesAreRefused) {
  uint32_t state = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<uint8_t> bytes(static_cast<size_t>(16 + round * 7));
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    EXPECT_NE(loadBytes(bytes, bytes.size()), "");
  }
}

/// A plan that `change` spoils, and what its status says.
struct Spoiled {
  const char *what;
  void (*change)(plan::PlanT &);
  const char *expected;
};

plan::LoopT &loopOf(plan::PlanT &plan) {
  return *plan.commands[2]->operation.AsLoop();
}

class SpoiledPlan : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledPlan, isRefusedWithItsReason) {
  PlanBuilder builder = ringSum(4, 16, plan::LayoutKind::zigzag);
  GetParam().change(builder.plan);
  sprt_program *program = nullptr;
  EXPECT_THAT_CONTAINS(builder.load(&program), GetParam().expected);
  EXPECT_EQ(program, nullptr);
  sprt_program_free(program);
}

const Spoiled kSpoiled[] = {
    {"version", [](plan::PlanT &plan) { plan.version = SPRT_ABI_VERSION + 1; },
     "; use the runtime that belongs to the compiler"},
    {"ranks", [](plan::PlanT &plan) { plan.ranks = 0; }, "ranks but got 0"},
    {"factor", [](plan::PlanT &plan) { plan.factors[0]->size = 3; },
     "does not divide 4 ranks"},
    {"arena", [](plan::PlanT &plan) { plan.arena_bytes = -1; },
     "expected an arena of 0 to"},
    {"feature", [](plan::PlanT &plan) { plan.features = {"amx-imaginary"}; },
     "CPU features that this machine lacks: amx-imaginary; compile with "
     "--cpu=native"},
    {"kernel", [](plan::PlanT &plan) { plan.kernels[0]->symbol = "absent"; },
     "calls kernel \"absent\" but the artifact does not define it"},
    {"kernelIndex",
     [](plan::PlanT &plan) {
       loopOf(plan).body[2]->operation.AsLaunch()->kernel = 9;
     },
     "kernel 9 of 1"},
    {"event", [](plan::PlanT &plan) { loopOf(plan).body[0]->waits = {99}; },
     "waits for event 99 of 3"},
    {"twoRecorders",
     [](plan::PlanT &plan) {
       loopOf(plan).body[2]->records = loopOf(plan).body[1]->records;
     },
     "is recorded on two streams"},
    {"counter",
     [](plan::PlanT &plan) {
       plan.commands[0]->when = Expr::counter(0).build();
     },
     "names counter 0 of 0"},
    {"stack",
     [](plan::PlanT &plan) {
       plan.commands[0]->when = Expr(plan::ExprOp::add, 0).build();
     },
     "pops an empty stack"},
    {"twoValues",
     [](plan::PlanT &plan) {
       plan.commands[0]->when = Expr(1).build();
       plan.commands[0]->when->terms.emplace_back(plan::ExprOp::constant, 1);
     },
     "leaves 2 values"},
    {"viewSize",
     [](plan::PlanT &plan) {
       plan.commands[0]->operation.AsFill()->target->bytes = 1 << 30;
     },
     "bytes but got 1073741824"},
    {"constantTarget",
     [](plan::PlanT &plan) {
       plan.commands[0]->operation.AsFill()->target->space =
           plan::Space::constant;
     },
     "written to constant memory"},
    {"copySizes",
     [](plan::PlanT &plan) {
       plan.commands[1]->operation.AsCopy()->source->bytes -= 4;
     },
     "a copy of"},
    {"layoutIndex",
     [](plan::PlanT &plan) { plan.inputs[0]->dims[0]->atoms[0]->layout = 5; },
     "names layout 5 of 1"},
    {"localSize",
     [](plan::PlanT &plan) {
       plan.inputs[0]->dims[0]->atoms[0]->local_size = 3;
     },
     "deals 16 elements, at most 3 a rank"},
    {"inputBuffer", [](plan::PlanT &plan) { plan.inputs[0]->view->bytes -= 1; },
     "but its buffer has"},
    {"noOperation",
     [](plan::PlanT &plan) { plan.commands[0]->operation.Reset(); },
     "no operation"},
    {"kernelOnComm",
     [](plan::PlanT &plan) {
       loopOf(plan).body[2]->stream = plan::Stream::comm;
     },
     "a kernel on stream comm"},
    {"ringDigit",
     [](plan::PlanT &plan) {
       auto needs = std::make_unique<plan::NeedsT>();
       needs->size = 3;
       needs->hops = 1;
       loopOf(plan).body[1]->operation.AsSendRecv()->needs = std::move(needs);
     },
     "a ring of 4 that turns by 1 over 1 hops of 3 ranks at stride 1"},
};

INSTANTIATE_TEST_SUITE_P(Plans, SpoiledPlan, testing::ValuesIn(kSpoiled),
                         [](const auto &info) {
                           return std::string(info.param.what);
                         });

TEST(Hostile, epiloguesOfProductsAreChecked) {
  auto load = [](int64_t biasBytes, int activation, bool onto = false) {
    PlanBuilder builder(1);
    int64_t at = builder.arena(256);
    plan::GemmT gemm;
    gemm.type = gemm.out_type = plan::DType::f32;
    gemm.batch = gemm.m = gemm.k = 1;
    gemm.n = 4;
    gemm.a_strides = gemm.b_strides = gemm.c_strides = {0, 4, 1};
    gemm.a = view(at, 4);
    gemm.b = view(at + 16, 16);
    gemm.c = view(at + 32, 16);
    if (biasBytes != 0)
      gemm.bias = view(at + 48, biasBytes);
    gemm.activation = static_cast<plan::Activation>(activation);
    gemm.onto = onto;
    builder.add(std::move(gemm));
    sprt_program *program = nullptr;
    std::string text = builder.load(&program);
    sprt_program_free(program);
    return text;
  };
  EXPECT_EQ(load(16, 2), "");
  EXPECT_THAT_CONTAINS(load(12, 2),
                       "expected the bias of a gemm of 16 to 256 bytes but "
                       "got 12");
  EXPECT_THAT_CONTAINS(load(16, 3), "unknown activation 3 of a gemm");
  EXPECT_EQ(load(0, 0, /*onto=*/true), "");
  for (auto [biasBytes, activation] : {std::pair(16, 0), {0, 1}})
    EXPECT_THAT_CONTAINS(load(biasBytes, activation, /*onto=*/true),
                         "a bias or an activation, expected f32 alone");
}

TEST(Hostile, reductionsAreChecked) {
  auto load = [](const std::vector<uint32_t> &factors,
                 const std::vector<int64_t> &sizes) {
    PlanBuilder builder(2);
    builder.plan.factors.push_back(
        std::make_unique<plan::FactorT>(*builder.plan.factors[0]));
    builder.plan.factors[1]->is_part = true;
    int64_t at = builder.arena(64);
    plan::AllReduceT reduce;
    reduce.factors = factors;
    for (int64_t bytes : sizes)
      reduce.views.push_back(view(at, bytes));
    reduce.type = plan::DType::f32;
    builder.add(std::move(reduce));
    sprt_program *program = nullptr;
    std::string text = builder.load(&program);
    sprt_program_free(program);
    return text;
  };
  EXPECT_EQ(load({0}, {16, 4, 0}), "");
  EXPECT_EQ(load({1}, {16}), "");
  EXPECT_THAT_CONTAINS(load({2}, {16}), "mesh factor 2 of 2");
  EXPECT_THAT_CONTAINS(load({}, {16}),
                       "along different axes but got 0 factors");
  EXPECT_THAT_CONTAINS(load({0, 0}, {16}),
                       "got 2 factors, not all of them different");
  EXPECT_THAT_CONTAINS(load({0, 1}, {16}),
                       "got 2 factors, some of them parts of axes");
  EXPECT_THAT_CONTAINS(load({0}, {}), "an all-reduce of nothing");
  EXPECT_THAT_CONTAINS(load({0}, {16, 128}), "bytes but got 128");
  EXPECT_THAT_CONTAINS(load({0}, {16, 6}),
                       "an all-reduce of 6 bytes, not of whole f32");
}

TEST(Hostile, deepNestingIsRefused) {
  PlanBuilder builder(1);
  PlanBuilder::Commands *into = nullptr;
  for (int depth = 0; depth < 70; ++depth) {
    plan::LoopT loop;
    loop.lower = Expr(0).build();
    loop.upper = Expr(1).build();
    into = &builder.add(std::move(loop), into).operation.AsLoop()->body;
  }
  sprt_program *program = nullptr;
  EXPECT_THAT_CONTAINS(builder.load(&program), "nest deeper than 64");
}

TEST(Hostile, offsetOutsideTheArenaEndsTheRun) {
  PlanBuilder builder = ringSum(2, 4, plan::LayoutKind::contiguous);
  builder.plan.commands[0]->operation.AsFill()->target->offset =
      (Expr::coordinate(0) * (1 << 20)).build();
  Runner runner(builder, 1, 2);
  std::string text = runner.run({ramp(4 * kRingWidth)});
  EXPECT_THAT_CONTAINS(text, "rank 1, command 0");
  EXPECT_THAT_CONTAINS(text, "of an arena of");
}

TEST(Hostile, streamsThatWaitForEachOtherAreADeadlockAtOnce) {
  PlanBuilder builder(1);
  uint32_t a = builder.event(), b = builder.event();
  plan::CommandT &first = builder.add(plan::SyncT());
  first.records = static_cast<int32_t>(b);
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = Expr(2).build();
  // compute waits for comm's record of this step, which waits for compute's.
  plan::CommandT &comm = builder.add(plan::SyncT(), &loop.body);
  comm.stream = plan::Stream::comm;
  comm.records = static_cast<int32_t>(a);
  builder.add(std::move(loop));
  plan::CommandT &skipped = builder.add(plan::SyncT());
  skipped.waits = {a};
  Runner fine(builder, 1, 2);
  EXPECT_EQ(fine.run({}), "");
  // The recorder fails to be reached when its stream dies: nothing waits for
  // ever.
  builder.plan.commands[1]->operation.AsLoop()->upper =
      (Expr(1).apply(plan::ExprOp::floordiv, 0)).build();
  Runner broken(builder, 1, 2);
  EXPECT_THAT_CONTAINS(broken.run({}), "floordiv of 1 and 0");
}

} // namespace
} // namespace sprt::test
