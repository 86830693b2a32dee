// Gradients of attention: the runtime's part is slices, sizes, tiles, and that
// a damaged plan is a status.

#include "BackwardRing.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

void expectReference(const BackwardRing &ring, int threads = 1) {
  SCOPED_TRACE(std::to_string(ring.ranks) + " ranks, " +
               std::to_string(ring.length) + " tokens, layout " +
               std::to_string(int(ring.kind)) +
               (ring.causal ? ", causal" : ", full"));
  std::vector<std::vector<float>> inputs = backwardInputs(ring);
  Runner runner(backwardRing(ring), threads);
  ASSERT_EQ(runner.run(inputs), "");
  std::vector<std::vector<float>> expected = backwardReference(ring, inputs);
  for (size_t which = 0; which < expected.size(); ++which)
    for (size_t i = 0; i < expected[which].size(); ++i)
      ASSERT_NEAR(runner.results[which][i], expected[which][i], 2e-5)
          << which << " at " << i;
}

TEST(Backward, ringEqualsDense) {
  for (plan::LayoutKind kind :
       {plan::LayoutKind::contiguous, plan::LayoutKind::zigzag,
        plan::LayoutKind::striped})
    for (bool causal : {false, true})
      for (int64_t ranks : {1, 2, 3, 4, 7})
        for (int64_t length : {1, 5, 13, 24})
          expectReference({ranks, length, kind, causal});
}

TEST(Backward, threadsOfARankShareTiles) {
  expectReference({1, 29, plan::LayoutKind::contiguous, true}, 4);
  expectReference({2, 29, plan::LayoutKind::zigzag, true}, 3);
}

TEST(Backward, stepsThatSeeNothingComputeNothing) {
  // Contiguous and causal: rank r sees the blocks of ranks 0..r only, and its
  // own comes first.
  BackwardRing ring{4, 8, plan::LayoutKind::contiguous, true};
  Runner runner(backwardRing(ring));
  backwardTilesDone = 0;
  ASSERT_EQ(runner.run(backwardInputs(ring)), "");
  EXPECT_EQ(backwardTilesDone, (1 + 2 + 3 + 4) * backward::kKvHeads);
}

TEST(Backward, textNamesEveryBuffer) {
  sprt_program *program = nullptr;
  ASSERT_EQ(backwardRing({4, 8, plan::LayoutKind::zigzag, true}).load(&program),
            "");
  char *text = nullptr;
  ASSERT_EQ(take(sprt_program_text(program, &text)), "");
  sprt_program_free(program);
  std::string whole = text;
  sprt_buffer_free(text);
  for (const char *line :
       {"    attend_backward attend_backward q=arena[0; 128] k=arena[",
        " do=arena[", " lse=arena[", " delta=arena[", " dq=arena[",
        " dk=arena[", " dv=arena[",
        "   rows sp of layout 0   keys (sp - t + 4) % 4 of layout 0   heads "
        "0+4/4 kv 0+2/2   bands {q 0..8 k 0..8 -inf..0}   init queries   init "
        "keys   \"layer0\"   if t < 1\n"})
    EXPECT_THAT_CONTAINS(whole, line);
}

TEST(Backward, gpusRefuseIt) {
  BackwardRing ring{2, 8, plan::LayoutKind::contiguous, true};
  PlanBuilder builder = backwardRing(ring);
  builder.target(plan::Target::cuda);
  Runner runner(builder);
  std::string text = runner.run(backwardInputs(ring));
  EXPECT_THAT_CONTAINS(text, ", command 3 \"layer0\"");
  EXPECT_THAT_CONTAINS(text, "expected no gradient of attention in a plan for "
                             "GPUs");
}

/// A plan that `change` spoils, and what the status says, at load or in the
/// run.
struct Spoiled {
  const char *what;
  void (*change)(plan::AttendBackwardT &, plan::PlanT &);
  const char *expected;
};

class SpoiledBackward : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledBackward, isRefusedWithItsReason) {
  BackwardRing ring{2, 8, plan::LayoutKind::contiguous, false};
  PlanBuilder builder = backwardRing(ring);
  GetParam().change(backwardOf(builder.plan), builder.plan);
  sprt_program *program = nullptr;
  std::string text = builder.load(&program);
  sprt_program_free(program);
  if (text.empty())
    text = Runner(builder, 1, 2).run(backwardInputs(ring));
  EXPECT_THAT_CONTAINS(text, GetParam().expected);
}

using T = plan::AttendBackwardT;
using P = plan::PlanT;

const Spoiled kSpoiled[] = {
    {"kernel", [](T &step, P &) { step.kernel = 3; }, "kernel 3 of 1"},
    {"scratch", [](T &step, P &) { step.scratch_bytes = 64; },
     "scratch of 64 bytes, the plan promises 0"},
    {"noQuery", [](T &step, P &) { step.q.reset(); },
     "an operand of attention"},
    {"noCotangent", [](T &step, P &) { step.d_out.reset(); },
     "an operand of attention"},
    {"noSums", [](T &step, P &) { step.lse.reset(); },
     "an operand of attention"},
    {"noDelta", [](T &step, P &) { step.delta.reset(); },
     "an operand of attention"},
    {"noGradient", [](T &step, P &) { step.dv.reset(); },
     "a gradient of attention"},
    {"constantGradient",
     [](T &step, P &) { step.dk->space = plan::Space::constant; },
     "written to constant memory"},
    {"noKvHeads", [](T &step, P &) { step.kv_heads.reset(); },
     "a size of attention"},
    {"noHeads", [](T &step, P &) { step.heads.reset(); },
     "a size of attention"},
    {"noRows", [](T &step, P &) { step.keys.reset(); },
     "no rows for rows of attention"},
    {"layout", [](T &step, P &) { step.queries->layout = 7; }, "layout 7"},
    {"strides", [](T &step, P &) { step.dk_strides.pop_back(); },
     "expected 3 strides of attention but got 2"},
    {"noStrides", [](T &step, P &) { step.d_out_strides.clear(); },
     "expected 3 strides of attention but got 0"},
    {"noDeltaStrides", [](T &step, P &) { step.delta_strides.clear(); },
     "expected 3 strides of attention but got 0"},
    {"termsOfNoFunction",
     [](T &step, P &) {
       step.terms.push_back(std::make_unique<plan::ScoreTermT>());
     },
     "terms without a score function"},
    {"termWithoutStrides",
     [](T &step, P &) {
       step.scored = true;
       step.terms.push_back(std::make_unique<plan::ScoreTermT>());
     },
     "expected 4 strides of a term but got 0"},
    {"oneNumberForAFunction",
     [](T &step, P &) {
       step.scored = true;
       step.lse_strides = {32, 8, 2};
     },
     "\"lse\" of 128 bytes does not fit into its buffer of 64"},
    {"negativeStride", [](T &step, P &) { step.dv_strides[1] = -4; },
     "a stride"},
    {"headsTotal", [](T &step, P &) { step.heads_total = 0; },
     "a size of attention"},
    {"headSize", [](T &step, P &) { step.head_size = -1; },
     "a size of attention"},
    {"type", [](T &step, P &) { step.type = plan::DType::i32; },
     "a gradient of attention of type 5"},
    {"uniform",
     [](T &step, P &) {
       step.bands = {plan::Band(0, 8, 0, 8, INT64_MIN, INT64_MAX, true)};
     },
     "a uniform band in a gradient of attention"},
    {"onComm",
     [](T &, P &plan) {
       plan.commands[2]->operation.AsLoop()->body[0]->stream =
           plan::Stream::comm;
     },
     "a kernel on stream comm"},
    {"tooManyHeads", [](T &step, P &) { step.heads = Expr(5).build(); },
     "heads 0 to 5 of 4"},
    {"tooManyKvHeads", [](T &step, P &) { step.kv_heads = Expr(3).build(); },
     "3 kv heads from 0 of 2 for 4 query heads from 0 of 4, batch 1"},
    {"tooFewKvHeads", [](T &step, P &) { step.kv_heads = Expr(1).build(); },
     "1 kv heads from 0 of 2 for 4 query heads"},
    {"laterKvHeads",
     [](T &step, P &) {
       step.kv_first = Expr(1).build();
       step.kv_heads = Expr(1).build();
     },
     "1 kv heads from 1 of 2 for 4 query heads"},
    {"batch", [](T &step, P &) { step.batch = Expr(INT64_MAX).build(); },
     "batch 9223372036854775807"},
    {"shortBuffer", [](T &step, P &) { step.dq->bytes -= 1; },
     "\"dq\" of 256 bytes does not fit into its buffer of 255"},
    {"wideRows", [](T &step, P &) { step.v_strides[1] = 1 << 20; },
     "\"v\" of "},
    {"widerType", [](T &step, P &) { step.type = plan::DType::f64; },
     "\"q\" of 512 bytes does not fit into its buffer of 256"},
    {"unaligned", [](T &step, P &) { step.dk->offset = Expr(4).build(); },
     "not 64-byte aligned"},
    {"overKeys",
     [](T &step, P &) {
       step.dk->offset = std::make_unique<plan::ExprT>(*step.k->offset);
     },
     "\"dk\" overlaps with \"k\""},
    {"gradientsOverlap",
     [](T &step, P &) {
       step.dv->offset = std::make_unique<plan::ExprT>(*step.dk->offset);
     },
     "\"dv\" overlaps with \"dk\""},
    {"overSums",
     [](T &step, P &) {
       step.dq->offset = std::make_unique<plan::ExprT>(*step.lse->offset);
     },
     "\"dq\" overlaps with \"lse\""},
};

INSTANTIATE_TEST_SUITE_P(Plans, SpoiledBackward, testing::ValuesIn(kSpoiled),
                         [](const auto &info) {
                           return std::string(info.param.what);
                         });

} // namespace
} // namespace sprt::test
