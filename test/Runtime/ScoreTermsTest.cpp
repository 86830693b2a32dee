// What a score function reads: the runtime hands over positions, addresses and
// strides, and refuses plans that do not say them in full.

#include "PlanBuilder.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

constexpr int64_t kLength = 7, kRanks = 2, kHeads = 4;

/// Where a kernel finds what it is given, and where its result goes.
struct Places {
  int queryPositions, keyPositions, terms, result;
  int queries, termStrides, resultStrides;
};

/// Writes what the terms hold for (head, query, key 0) to the result, plus a
/// thousand times each position: what it was given shows there.
void readTerms(const Places &at, void *const *buffers, const int64_t *sizes,
               int64_t heads) {
  const auto *queryAt =
      static_cast<const int32_t *>(buffers[at.queryPositions]);
  const auto *keyAt = static_cast<const int32_t *>(buffers[at.keyPositions]);
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t query = 0; query < sizes[at.queries]; ++query) {
      float sum = 1000 * static_cast<float>(queryAt[query]) +
                  100 * static_cast<float>(keyAt[0]);
      for (int term = 0; term < 2; ++term) {
        const int64_t *strides = sizes + at.termStrides + 4 * term;
        sum += static_cast<const float *>(
            buffers[at.terms + term])[head * strides[1] + query * strides[2]];
      }
      static_cast<float *>(
          buffers[at.result])[query * sizes[at.resultStrides + 1] +
                              head * sizes[at.resultStrides + 2]] = sum;
    }
}

void attendTerms(void *const *buffers, const int64_t *sizes, int64_t first,
                 int64_t, void *) {
  if (first == 0)
    readTerms({SPRT_ATTEND_QUERY_POSITIONS, SPRT_ATTEND_KEY_POSITIONS,
               SPRT_ATTEND_TERMS, SPRT_ATTEND_O, SPRT_ATTEND_QUERIES,
               SPRT_ATTEND_TERM_STRIDES, SPRT_ATTEND_O_STRIDES},
              buffers, sizes, sizes[SPRT_ATTEND_HEADS]);
}

void backwardTerms(void *const *buffers, const int64_t *sizes, int64_t first,
                   int64_t, void *) {
  if (first == 0)
    readTerms({SPRT_BACKWARD_QUERY_POSITIONS, SPRT_BACKWARD_KEY_POSITIONS,
               SPRT_BACKWARD_TERMS, SPRT_BACKWARD_DQ, SPRT_BACKWARD_QUERIES,
               SPRT_BACKWARD_TERM_STRIDES, SPRT_BACKWARD_DQ_STRIDES},
              buffers, sizes, sizes[SPRT_BACKWARD_HEADS]);
}

constexpr int64_t kMost = (kLength + kRanks - 1) / kRanks,
                  kHeld = kHeads / kRanks, kRowBytes = kMost * kHeld * 4;

void setKernel(PlanBuilder &builder, plan::AttendT &attend, int64_t result) {
  attend.kernel = builder.kernel("attend", attendTerms);
  attend.out = view(result, kRowBytes);
  attend.lse = view(builder.arena(kRowBytes), kRowBytes);
  attend.init = true;
  attend.o_strides = attend.lse_strides = {0, kHeld, 1};
  attend.query_block = kMost;
}

void setKernel(PlanBuilder &builder, plan::AttendBackwardT &backward,
               int64_t result) {
  auto room = [&](int64_t bytes) { return view(builder.arena(bytes), bytes); };
  backward.kernel = builder.kernel("attend_backward", backwardTerms);
  backward.d_out = room(kRowBytes);
  backward.delta = room(kRowBytes);
  backward.lse = room(2 * kRowBytes);
  backward.dq = view(result, kRowBytes);
  backward.dk = room(kRowBytes);
  backward.dv = room(kRowBytes);
  backward.kv_heads = Expr(kHeld).build();
  backward.init_queries = backward.init_keys = true;
  for (auto *strides :
       {&backward.d_out_strides, &backward.delta_strides, &backward.dq_strides,
        &backward.dk_strides, &backward.dv_strides})
    *strides = {0, kHeld, 1};
  backward.lse_strides = {0, 2 * kHeld, 2};
  backward.type = plan::DType::f32;
}

/// One attention of dealt queries by dealt keys, or its gradients, with a value
/// of each query and one of each head, of which a rank begins at its own.
template <typename TableT> PlanBuilder scored() {
  PlanBuilder builder(kRanks);
  using D = PlanBuilder::Dim;
  uint32_t dealt =
      builder.layout(plan::LayoutKind::contiguous, kLength, kRanks);
  int deal = static_cast<int>(dealt);
  int64_t q = builder.arena(kRowBytes), result = builder.arena(kRowBytes),
          ofQueries = builder.arena(kMost * 4),
          ofHeads = builder.arena(kHeads * 4);
  builder.input("queries", plan::DType::f32, {D{kLength, deal}}, ofQueries);
  builder.input("heads", plan::DType::f32, {D{kHeads}}, ofHeads);
  builder.result("o", plan::DType::f32, {D{kLength, deal}, D{kHeld}}, result);
  Expr rank = Expr::coordinate(0);
  TableT attend;
  for (auto *one : {&attend.q, &attend.k, &attend.v})
    *one = view(q, kRowBytes);
  attend.batch = Expr(1).build();
  attend.heads = Expr(kHeld).build();
  attend.head_first = (rank * kHeld).build();
  attend.heads_total = attend.kv_total = kHeads;
  attend.kv_first = (rank * kHeld).build();
  attend.queries = rows(dealt, rank);
  attend.keys = rows(dealt, (rank + 1) % kRanks);
  attend.bands = {
      plan::Band(0, kLength, 0, kLength, INT64_MIN, INT64_MAX, false)};
  attend.scale = 1;
  for (auto *strides :
       {&attend.q_strides, &attend.k_strides, &attend.v_strides})
    *strides = {0, kHeld, 1};
  attend.head_size = attend.value_size = 1;
  attend.scored = true;
  for (bool isOfHeads : {false, true}) {
    auto term = std::make_unique<plan::ScoreTermT>();
    term->view =
        isOfHeads ? view(ofHeads, kHeads * 4) : view(ofQueries, kMost * 4);
    term->strides = isOfHeads ? std::vector<int64_t>{0, 1, 0, 0}
                              : std::vector<int64_t>{0, 0, 1, 0};
    term->head_bytes = isOfHeads ? 4 : 0;
    attend.terms.push_back(std::move(term));
  }
  setKernel(builder, attend, result);
  builder.add(std::move(attend));
  return builder;
}

void expectTerms(const PlanBuilder &builder) {
  Runner runner(builder);
  std::vector<float> queries = {0, 1, 2, 3, 4, 5, 6}, heads = {10, 20, 30, 40};
  ASSERT_EQ(runner.run({queries, heads}), "");
  for (int64_t i = 0; i < kLength; ++i)
    for (int64_t head = 0; head < kHeld; ++head) {
      int64_t rank = i / kMost, firstKey = rank == 0 ? kMost : 0;
      // A thousand for the position, one for the element of the same query.
      int64_t expected =
          1001 * i + 100 * firstKey + 10 * (rank * kHeld + head + 1);
      EXPECT_EQ(runner.results[0][static_cast<size_t>(i * kHeld + head)],
                static_cast<float>(expected))
          << i << " " << head;
    }
}

TEST(ScoreTerms, reachTheKernelWithPositions) {
  expectTerms(scored<plan::AttendT>());
}

TEST(ScoreTerms, reachTheKernelOfGradients) {
  expectTerms(scored<plan::AttendBackwardT>());
}

/// What a change to the attention makes of loading the plan.
struct Spoiled {
  const char *what;
  void (*change)(plan::AttendT &);
  const char *expected;
};

class SpoiledTerms : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledTerms, areRefusedWithTheirReason) {
  PlanBuilder builder = scored<plan::AttendT>();
  GetParam().change(*builder.plan.commands[0]->operation.AsAttend());
  sprt_program *program = nullptr;
  EXPECT_THAT_CONTAINS(builder.load(&program), GetParam().expected);
  EXPECT_EQ(program, nullptr);
  sprt_program_free(program);
}

const Spoiled kSpoiled[] = {
    {"notScored", [](plan::AttendT &attend) { attend.scored = false; },
     "terms without a score function"},
    {"noStrides",
     [](plan::AttendT &attend) { attend.terms[0]->strides.clear(); },
     "expected 4 strides of a term but got 0"},
    {"threeStrides",
     [](plan::AttendT &attend) { attend.terms[1]->strides.pop_back(); },
     "expected 4 strides of a term but got 3"},
    {"fiveStrides",
     [](plan::AttendT &attend) { attend.terms[1]->strides.push_back(1); },
     "expected 4 strides of a term but got 5"},
    {"headsPastTheEnd",
     [](plan::AttendT &attend) { attend.terms[1]->head_bytes = 8; },
     "expected a term of 4 heads of 8 bytes but got 16 bytes"},
    {"negativeStride",
     [](plan::AttendT &attend) { attend.terms[0]->strides[3] = -1; },
     "expected a stride of a term of 0 to"},
    {"negativeHead",
     [](plan::AttendT &attend) { attend.terms[1]->head_bytes = -4; },
     "expected a head of a term of 0 to"},
    {"hugeHead",
     [](plan::AttendT &attend) { attend.terms[1]->head_bytes = INT64_MAX; },
     "expected a head of a term of 0 to"},
    {"noBuffer", [](plan::AttendT &attend) { attend.terms[0]->view.reset(); },
     "no buffer for a term"},
    {"bufferOutside",
     [](plan::AttendT &attend) { attend.terms[0]->view->bytes = 1 << 30; },
     "bytes but got 1073741824"},
};

INSTANTIATE_TEST_SUITE_P(Plans, SpoiledTerms, testing::ValuesIn(kSpoiled),
                         [](const auto &info) {
                           return std::string(info.param.what);
                         });

TEST(ScoreTerms, withoutAnyAreFine) {
  PlanBuilder builder = scored<plan::AttendT>();
  builder.plan.commands[0]->operation.AsAttend()->terms.clear();
  sprt_program *program = nullptr;
  EXPECT_EQ(builder.load(&program), "");
  sprt_program_free(program);
}

} // namespace
} // namespace sprt::test
