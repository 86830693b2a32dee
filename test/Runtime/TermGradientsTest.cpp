// Gradients of terms: the runtime hands over where the rank's part of them
// begins and strides, and refuses what does not lie in its buffer alone.

#include "BackwardRing.h"

#include <gtest/gtest.h>

namespace sprt::test {

static constexpr int64_t kLength = 6, kRanks = 2, kHeads = 4,
                         kMost = kLength / kRanks, kHeld = kHeads / kRanks;

static float numberOf(int64_t head, int64_t query, int64_t key) {
  return static_cast<float>(100 * head + 10 * query + key);
}

/// Adds a number of each pair to both gradients.
static void addNumbers(void *const *buffers, const int64_t *sizes,
                       int64_t first, int64_t, void *) {
  if (first != 0)
    return;
  auto positions = [&](int buffer) {
    return static_cast<const int32_t *>(buffers[buffer]);
  };
  for (int64_t head = 0; head < sizes[SPRT_BACKWARD_HEADS]; ++head)
    for (int64_t query = 0; query < sizes[SPRT_BACKWARD_QUERIES]; ++query)
      for (int64_t key = 0; key < sizes[SPRT_BACKWARD_KEYS]; ++key) {
        int64_t position = positions(SPRT_BACKWARD_KEY_POSITIONS)[key];
        float number =
            numberOf(sizes[SPRT_BACKWARD_HEAD_FIRST] + head,
                     positions(SPRT_BACKWARD_QUERY_POSITIONS)[query], position);
        // Behind the one term.
        for (int64_t i = 1; i < 3; ++i) {
          const int64_t *strides = sizes + SPRT_BACKWARD_TERM_STRIDES + 4 * i;
          static_cast<float *>(
              buffers[SPRT_BACKWARD_TERMS +
                      i])[head * strides[1] + query * strides[2] +
                          position * strides[3]] += number;
        }
      }
}

PlanBuilder termGradients() {
  PlanBuilder builder(kRanks);
  using D = PlanBuilder::Dim;
  uint32_t dealt =
      builder.layout(plan::LayoutKind::contiguous, kLength, kRanks);
  int deal = static_cast<int>(dealt),
      each = static_cast<int>(
          builder.layout(plan::LayoutKind::contiguous, kRanks, kRanks));
  plan::AttendBackwardT step;
  for (auto *one : {&step.q, &step.k, &step.v, &step.d_out, &step.lse,
                    &step.delta, &step.dq, &step.dk, &step.dv})
    // Of two batches.
    *one = view(builder.arena(4 * kMost * kHeld * 4), 4 * kMost * kHeld * 4);
  for (auto *strides :
       {&step.q_strides, &step.k_strides, &step.v_strides, &step.d_out_strides,
        &step.lse_strides, &step.delta_strides, &step.dq_strides,
        &step.dk_strides, &step.dv_strides})
    *strides = {0, 2 * kHeld, 2};
  Expr rank = Expr::coordinate(0);
  step.batch = Expr(1).build();
  step.heads = Expr(kHeld).build();
  step.kv_heads = Expr(kHeld).build();
  step.head_first = (rank * kHeld).build();
  step.kv_first = (rank * kHeld).build();
  step.heads_total = step.kv_total = kHeads;
  step.queries = rows(dealt, rank);
  step.keys = rows(dealt, (rank + 1) % kRanks);
  step.bands = {
      plan::Band(0, kLength, 0, kLength, INT64_MIN, INT64_MAX, false)};
  step.scale = 1;
  step.head_size = step.value_size = 1;
  step.type = plan::DType::f32;
  step.scored = true;
  step.kernel = builder.kernel("attend_backward", addNumbers);
  auto add = [](auto &list, int64_t at, int64_t elements,
                std::vector<int64_t> strides, int64_t headBytes) {
    list.push_back(std::make_unique<plan::ScoreTermT>());
    list.back()->view = view(at, elements * 4);
    list.back()->strides = std::move(strides);
    list.back()->head_bytes = headBytes;
  };
  int64_t ofPairs = kMost * kHeld * kLength, ofKeys = kHeads * kLength,
          pairs = builder.arena(ofPairs * 4), sums = builder.arena(ofKeys * 4);
  add(step.terms, builder.arena(kHeads * 4), kHeads, {0, 1, 0, 0}, 4);
  add(step.term_gradients, pairs, ofPairs, {0, kLength, kHeld * kLength, 1}, 0);
  add(step.term_gradients, sums, ofKeys, {0, kLength, 0, 1}, kLength * 4);
  std::vector<D> pairDims = {D{kLength, deal}, D{kHeld}, D{kLength}},
                 sumDims = {D{kRanks, each}, D{kHeads}, D{kLength}};
  builder.input("ontoPairs", plan::DType::f32, pairDims, pairs);
  builder.input("ontoSums", plan::DType::f32, sumDims, sums);
  builder.result("pairs", plan::DType::f32, pairDims, pairs);
  builder.result("sums", plan::DType::f32, sumDims, sums);
  builder.add(std::move(step));
  return builder;
}

namespace {

std::vector<std::vector<float>> inputs() {
  return {std::vector<float>(kLength * kHeld * kLength, 0.25F),
          std::vector<float>(kRanks * kHeads * kLength, 0.5F)};
}

TEST(TermGradients, areAddedToWhereTheRankBegins) {
  Runner runner(termGradients());
  ASSERT_EQ(runner.run(inputs()), "");
  std::vector<std::vector<float>> expected = inputs();
  for (int64_t query = 0; query < kLength; ++query)
    for (int64_t held = 0; held < kHeld; ++held)
      for (int64_t key = 0; key < kLength; ++key) {
        int64_t rank = query / kMost, head = rank * kHeld + held;
        if (key / kMost == rank)
          continue;
        float number = numberOf(head, query, key);
        expected[0]
                [static_cast<size_t>((query * kHeld + held) * kLength + key)] +=
            number;
        expected[1]
                [static_cast<size_t>((rank * kHeads + head) * kLength + key)] +=
            number;
      }
  EXPECT_EQ(runner.results, expected);
}

TEST(TermGradients, areNamedInTheText) {
  sprt_program *program = nullptr;
  ASSERT_EQ(termGradients().load(&program), "");
  char *text = nullptr;
  ASSERT_EQ(take(sprt_program_text(program, &text)), "");
  sprt_program_free(program);
  std::string whole = text;
  sprt_buffer_free(text);
  EXPECT_THAT_CONTAINS(
      whole,
      " term=arena[1472; 16] d_term=arena[1152; 144] d_term=arena[1344; 96]");
}

/// A step that `change` spoils, and what the status says, at load or in the
/// run.
struct Spoiled {
  const char *what;
  void (*change)(plan::AttendBackwardT &step);
  const char *expected;
};

class SpoiledTermGradients : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledTermGradients, areRefusedWithTheirReason) {
  PlanBuilder builder = termGradients();
  GetParam().change(*builder.plan.commands[0]->operation.AsAttendBackward());
  sprt_program *program = nullptr;
  std::string text = builder.load(&program);
  sprt_program_free(program);
  if (text.empty())
    text = Runner(builder, 1, 2).run(inputs());
  EXPECT_THAT_CONTAINS(text, GetParam().expected);
}

using T = plan::AttendBackwardT;

const Spoiled kSpoiled[] = {
    {"notScored",
     [](T &step) {
       step.scored = false;
       step.terms.clear();
     },
     "gradients of terms without a score function"},
    {"noStrides", [](T &step) { step.term_gradients[0]->strides.clear(); },
     "expected 4 strides of a gradient of a term but got 0"},
    {"negativeStride", [](T &step) { step.term_gradients[1]->strides[3] = -1; },
     "expected a stride of a gradient of a term of 0 to"},
    {"negativeHead", [](T &step) { step.term_gradients[1]->head_bytes = -4; },
     "expected a head of a gradient of a term of 0 to"},
    {"noBuffer", [](T &step) { step.term_gradients[0]->view.reset(); },
     "no buffer for a gradient of a term"},
    {"constant",
     [](T &step) {
       step.term_gradients[0]->view->space = plan::Space::constant;
     },
     "written to constant memory"},
    {"outside", [](T &step) { step.term_gradients[0]->view->bytes = 1 << 30; },
     "bytes but got 1073741824"},
    {"headsPastTheEnd",
     [](T &step) { step.term_gradients[1]->head_bytes = 28; },
     "expected a gradient of a term of 4 heads of 28 bytes but got 96 bytes"},
    {"rowsPastTheEnd", [](T &step) { step.term_gradients[0]->strides[2] += 1; },
     "a gradient of a term of 152 bytes does not fit into its buffer of 144"},
    {"keysPastTheEnd", [](T &step) { step.term_gradients[0]->strides[3] = 2; },
     "a gradient of a term of 164 bytes does not fit into its buffer of 144"},
    {"headsOfTheLastRank",
     [](T &step) { step.term_gradients[1]->strides[3] = 2; },
     "a gradient of a term of 116 bytes does not fit into its buffer of 96"},
    {"hugeStride",
     [](T &step) { step.term_gradients[0]->strides[2] = int64_t(1) << 46; },
     "does not fit into its buffer of 144"},
    {"sharedHeads", [](T &step) { step.term_gradients[1]->strides[1] = 0; },
     "expected a gradient of a term to have elements of its own for each of 2 "
     "heads"},
    {"sharedBatches", [](T &step) { step.batch = Expr(2).build(); },
     "expected a gradient of a term to have elements of its own for each of 2 "
     "batches"},
    {"overKeys",
     [](T &step) {
       step.term_gradients[0]->view->offset =
           std::make_unique<plan::ExprT>(*step.k->offset);
     },
     "a gradient of a term overlaps with \"k\""},
    {"overATerm",
     [](T &step) {
       step.term_gradients[1]->view->offset =
           std::make_unique<plan::ExprT>(*step.terms[0]->view->offset);
       step.term_gradients[1]->view->bytes = 16;
       step.term_gradients[1]->strides = {0, 1, 0, 0};
       step.term_gradients[1]->head_bytes = 4;
     },
     "a gradient of a term overlaps with \"a term\""},
    {"overEachOther",
     [](T &step) {
       step.term_gradients[1]->view->offset =
           std::make_unique<plan::ExprT>(*step.term_gradients[0]->view->offset);
     },
     "a gradient of a term overlaps with \"a gradient of a term\""},
};

INSTANTIATE_TEST_SUITE_P(Plans, SpoiledTermGradients,
                         testing::ValuesIn(kSpoiled), [](const auto &info) {
                           return std::string(info.param.what);
                         });

} // namespace
} // namespace sprt::test
