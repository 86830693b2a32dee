// Plans that ask kernels for something else than their code does.

#include "PlanBuilder.h"
#include "program/Program.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

/// Two kernels and what they touch: one adds 64 bytes of its first buffer to
/// its second, the other attends with head size 4 in f32 and a term of keys.
struct Known {
  plan::SignaturesT table;

  Known() {
    auto add = std::make_unique<plan::SignatureT>();
    add->symbol = "add";
    add->tiles = 1;
    add->scratch_bytes = 256;
    add->operands = {{64, false}, {64, true}};
    table.kernels.push_back(std::move(add));
    auto attend = std::make_unique<plan::SignatureT>();
    attend->symbol = "attend";
    attend->kind = plan::KernelKind::attend;
    attend->type = attend->out_type = plan::DType::f32;
    attend->head_size = attend->value_size = 4;
    attend->query_block = 8;
    attend->sums = attend->scored = true;
    attend->terms = {{plan::TermKind::key, plan::DType::f32, 0},
                     {plan::TermKind::table, plan::DType::f32, 16}};
    table.kernels.push_back(std::move(attend));
  }

  std::unique_ptr<Signatures> read() const {
    flatbuffers::FlatBufferBuilder builder;
    builder.FinishSizePrefixed(plan::Signatures::Pack(builder, &table));
    auto known = std::make_unique<Signatures>();
    EXPECT_FALSE(known->read(builder.GetBufferPointer(), builder.GetSize()));
    return known;
  }
};

constexpr int64_t kRows = 6, kHeads = 2;

/// Loops twice over an addition and an attention; the offset of what is added
/// to depends on the step.
PlanBuilder steps() {
  PlanBuilder builder(1);
  auto nothing = [](void *const *, const int64_t *, int64_t, int64_t, void *) {
  };
  uint32_t rowsDealt = builder.layout(plan::LayoutKind::contiguous, kRows, 1);
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = Expr(2).build();
  plan::LaunchT launch;
  launch.kernel = builder.kernel("add", nothing);
  launch.tiles = 1;
  launch.scratch_bytes = 256;
  int64_t from = builder.arena(64), to = builder.arena(128);
  launch.buffers.push_back(view(from, 64));
  launch.buffers.push_back(view(Expr(to) + Expr::counter(0) * 64, 64));
  builder.add(std::move(launch), &loop.body);

  plan::AttendT attend;
  attend.kernel = builder.kernel("attend", nothing);
  constexpr int64_t bytes = kRows * kHeads * 4 * 4;
  for (auto *one : {&attend.q, &attend.k, &attend.v, &attend.out})
    *one = view(builder.arena(bytes), bytes);
  attend.lse = view(builder.arena(bytes / 2), bytes / 2);
  for (auto *strides : {&attend.q_strides, &attend.k_strides, &attend.v_strides,
                        &attend.o_strides})
    *strides = {kRows * kHeads * 4, kHeads * 4, 4};
  attend.lse_strides = {kRows * kHeads * 2, kHeads * 2, 2};
  attend.batch = Expr(1).build();
  attend.heads = Expr(kHeads).build();
  attend.head_first = Expr(0).build();
  attend.kv_first = Expr(0).build();
  attend.heads_total = attend.kv_total = kHeads;
  attend.queries = rows(rowsDealt, 0);
  attend.keys = rows(rowsDealt, 0);
  attend.bands = {plan::Band(0, kRows, 0, kRows, INT64_MIN, INT64_MAX, false)};
  attend.scale = 1;
  attend.query_block = 8;
  attend.head_size = attend.value_size = 4;
  attend.scored = attend.init = true;
  for (int64_t elements : {kRows, int64_t(16)}) {
    attend.terms.push_back(std::make_unique<plan::ScoreTermT>());
    attend.terms.back()->view = view(builder.arena(elements * 4), elements * 4);
    attend.terms.back()->strides = {0, 0, 0, elements == kRows};
  }
  builder.add(std::move(attend), &loop.body);
  builder.add(std::move(loop));
  builder.plan.scratch_bytes = 256;
  return builder;
}

/// The status of loading it, or else of running it.
std::string load(const PlanBuilder &builder,
                 std::unique_ptr<Signatures> known) {
  std::vector<uint8_t> bytes = builder.bytes();
  auto lookup = [](const char *symbol, void *context) {
    auto &kernels = static_cast<const PlanBuilder *>(context)->kernels;
    auto found = kernels.find(symbol);
    return found == kernels.end() ? nullptr : found->second;
  };
  sprt_program program;
  if (Status failure =
          program.create(bytes.data(), bytes.size(), nullptr, lookup,
                         const_cast<PlanBuilder *>(&builder), std::move(known)))
    return failure->text;
  sprt_session_options options;
  sprt_session_options_init(&options);
  options.timeout_seconds = 2;
  sprt_session *session = nullptr;
  EXPECT_EQ(take(sprt_session_create(&program, &options, &session)), "");
  std::string text = take(sprt_session_run(session, nullptr, 0, nullptr, 0));
  sprt_session_free(session);
  return text;
}

TEST(Signatures, sayOfWhichTypeResultsAre) {
  Known known;
  known.table.kernels[1]->out_type = plan::DType::f64;
  EXPECT_THAT_CONTAINS(load(steps(), known.read()),
                       "\"out\" of 384 bytes does not fit into its buffer of "
                       "192");
}

TEST(Signatures, fitTheirPlan) { EXPECT_EQ(load(steps(), Known().read()), ""); }

TEST(Signatures, nameEveryKernel) {
  Known known;
  known.table.kernels[0]->symbol = "another";
  EXPECT_EQ(load(steps(), known.read()),
            "damaged plan: the plan calls kernel \"add\" but the artifact does "
            "not say what it touches");
}

TEST(Signatures, areReadWhole) {
  uint32_t size = 4;
  EXPECT_TRUE(Signatures().read(&size, sizeof size));
}

struct Spoiled {
  const char *what;
  void (*change)(plan::PlanT &plan, plan::LaunchT &launch,
                 plan::AttendT &attend);
  const char *expected;
};

class SpoiledOperands : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledOperands, areRefusedWithTheirReason) {
  PlanBuilder builder = steps();
  plan::LoopT &loop = *builder.plan.commands[0]->operation.AsLoop();
  GetParam().change(builder.plan, *loop.body[0]->operation.AsLaunch(),
                    *loop.body[1]->operation.AsAttend());
  EXPECT_THAT_CONTAINS(load(builder, Known().read()), GetParam().expected);
}

using P = plan::PlanT;
using L = plan::LaunchT;
using A = plan::AttendT;

const Spoiled kSpoiled[] = {
    {"tiles", [](P &, L &launch, A &) { launch.tiles = 2; },
     "expected a number of tiles, 1 for kernel \"add\" but got 2"},
    {"flops", [](P &, L &launch, A &) { launch.flops = -1; },
     "expected FLOPs of 0 to"},
    {"fewBuffers", [](P &, L &launch, A &) { launch.buffers.pop_back(); },
     "expected a number of buffers, 2 for kernel \"add\" but got 1"},
    {"shortBuffer", [](P &, L &launch, A &) { launch.buffers[0]->bytes = 63; },
     "expected a buffer of 64 to"},
    {"constants",
     [](P &plan, L &launch, A &) {
       plan.constant_bytes = 64;
       launch.buffers[1]->space = plan::Space::constant;
     },
     "would be written to constant memory"},
    {"offset",
     [](P &plan, L &launch, A &) {
       launch.buffers[0]->offset = Expr(plan.arena_bytes - 63).build();
     },
     "a buffer from byte"},
    {"overlap",
     [](P &, L &launch, A &) {
       launch.buffers[1]->offset = (Expr::counter(0) * 64).build();
     },
     "rank 0, command 1, step 0: buffer 1 of kernel \"add\", which it writes, "
     "overlaps with buffer 0"},
    {"scratch", [](P &, L &launch, A &) { launch.scratch_bytes = 255; },
     "expected bytes of scratch memory, 256 for kernel \"add\" but got 255"},
    {"allScratch", [](P &plan, L &, A &) { plan.scratch_bytes = 1 << 30; },
     "expected at most 256 bytes of scratch memory but got 1073741824"},
    {"otherKernel", [](P &, L &launch, A &) { launch.kernel = 1; },
     "expected a kernel for a command of kind launch but got \"attend\""},
    {"headSize", [](P &, L &, A &attend) { attend.head_size = 8; },
     "expected head size 4 for kernel \"attend\" but got 8"},
    {"queryBlock", [](P &, L &, A &attend) { attend.query_block = 2; },
     "expected blocks of queries of 8 for kernel \"attend\" but got 2"},
    {"fewTerms", [](P &, L &, A &attend) { attend.terms.pop_back(); },
     "expected a number of terms 2 for kernel \"attend\" but got 1"},
    {"keyStride", [](P &, L &, A &attend) { attend.k_strides[1] = 10; },
     "\"k\" of 232 bytes does not fit into its buffer of 192"},
    {"lse", [](P &, L &, A &attend) { attend.lse->bytes -= 1; },
     "\"lse\" of 96 bytes does not fit into its buffer of 95"},
    {"length", [](P &plan, L &, A &) { plan.layouts[0]->length = 7; },
     "does not fit into its buffer of 192"},
    {"batch", [](P &, L &, A &attend) { attend.batch = Expr(2).build(); },
     "does not fit into its buffer of 192"},
    {"absurdBatch",
     [](P &, L &, A &attend) {
       attend.batch = Expr(INT64_MAX).build();
       for (auto *strides :
            {&attend.q_strides, &attend.k_strides, &attend.v_strides,
             &attend.o_strides, &attend.lse_strides})
         (*strides)[0] = 0;
     },
     "does not fit into its buffer of 192"},
    {"kvHeads", [](P &, L &, A &attend) { attend.kv_total = 4; },
     "\"k\" of 288 bytes does not fit into its buffer of 192"},
    {"termStride", [](P &, L &, A &attend) { attend.terms[0]->strides[3] = 2; },
     "a term of a score function of 44 bytes does not fit into its buffer of "
     "24"},
    {"termOffset",
     [](P &, L &, A &attend) {
       attend.terms[0]->view->offset = Expr(2).build();
     },
     "a term of a score function is not aligned to 4 bytes"},
    {"table", [](P &, L &, A &attend) { attend.terms[1]->view->bytes = 60; },
     "a term of a score function of 64 bytes does not fit into its buffer of "
     "60"},
    {"positions",
     [](P &plan, L &, A &) { plan.layouts[0]->length = int64_t(1) << 31; },
     "expected keys of a rank of 0 to 2147483647 but got 2147483648"},
};

INSTANTIATE_TEST_SUITE_P(Plans, SpoiledOperands, testing::ValuesIn(kSpoiled),
                         [](const auto &info) {
                           return std::string(info.param.what);
                         });

} // namespace
} // namespace sprt::test
