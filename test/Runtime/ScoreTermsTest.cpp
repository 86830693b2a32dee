// What a score function reads: the runtime hands over positions, addresses and
// strides, and refuses plans that do not say them in full.

#include "PlanBuilder.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

constexpr int64_t kLength = 7, kRanks = 2, kHeads = 4;

/// Writes what the terms hold for (head, query, key 0) to o, plus a thousand
/// times each position: what it was given shows in the result.
void readTerms(void *const *buffers, const int64_t *sizes, int64_t first,
               int64_t last, void *) {
  const auto *queryAt =
      static_cast<const int32_t *>(buffers[SPRT_ATTEND_QUERY_POSITIONS]);
  const auto *keyAt =
      static_cast<const int32_t *>(buffers[SPRT_ATTEND_KEY_POSITIONS]);
  int64_t queries = sizes[SPRT_ATTEND_QUERIES];
  for (int64_t head = first; head < last; ++head)
    for (int64_t query = 0; query < queries; ++query) {
      float sum = 1000 * static_cast<float>(queryAt[query]) +
                  100 * static_cast<float>(keyAt[0]);
      for (int term = 0; term < 2; ++term) {
        const int64_t *strides = sizes + SPRT_ATTEND_TERM_STRIDES + 4 * term;
        sum += static_cast<const float *>(
            buffers[SPRT_ATTEND_TERMS + term])[head * strides[1] +
                                               query * strides[2]];
      }
      float *o = static_cast<float *>(buffers[SPRT_ATTEND_O]);
      o[query * sizes[SPRT_ATTEND_O_STRIDES + 1] +
        head * sizes[SPRT_ATTEND_O_STRIDES + 2]] = sum;
    }
}

/// One attention of dealt queries by dealt keys, with a value of each query and
/// one of each head, of which a rank begins at its own.
PlanBuilder scoredAttention() {
  PlanBuilder builder(kRanks);
  using D = PlanBuilder::Dim;
  uint32_t dealt =
      builder.layout(plan::LayoutKind::contiguous, kLength, kRanks);
  int deal = static_cast<int>(dealt);
  int64_t most = (kLength + kRanks - 1) / kRanks, held = kHeads / kRanks;
  int64_t rowBytes = most * held * 4;
  int64_t q = builder.arena(rowBytes), o = builder.arena(rowBytes),
          lse = builder.arena(rowBytes), ofQueries = builder.arena(most * 4),
          ofHeads = builder.arena(kHeads * 4);
  builder.input("queries", plan::DType::f32, {D{kLength, deal}}, ofQueries);
  builder.input("heads", plan::DType::f32, {D{kHeads}}, ofHeads);
  builder.result("o", plan::DType::f32, {D{kLength, deal}, D{held}}, o);
  Expr rank = Expr::coordinate(0);
  plan::AttendT attend;
  attend.kernel = builder.kernel("attend", readTerms);
  for (auto *one : {&attend.q, &attend.k, &attend.v})
    *one = view(q, rowBytes);
  attend.out = view(o, rowBytes);
  attend.lse = view(lse, rowBytes);
  attend.batch = Expr(1).build();
  attend.heads = Expr(held).build();
  attend.head_first = (rank * held).build();
  attend.heads_total = attend.kv_total = kHeads;
  attend.kv_first = (rank * held).build();
  attend.queries = rows(dealt, rank);
  attend.keys = rows(dealt, (rank + 1) % kRanks);
  attend.bands = {
      plan::Band(0, kLength, 0, kLength, INT64_MIN, INT64_MAX, false)};
  attend.scale = 1;
  attend.init = true;
  for (auto *strides : {&attend.q_strides, &attend.k_strides, &attend.v_strides,
                        &attend.o_strides, &attend.lse_strides})
    *strides = {0, held, 1};
  attend.query_block = most;
  attend.head_size = attend.value_size = 1;
  attend.scored = true;
  for (bool isOfHeads : {false, true}) {
    auto term = std::make_unique<plan::ScoreTermT>();
    term->view =
        isOfHeads ? view(ofHeads, kHeads * 4) : view(ofQueries, most * 4);
    term->strides = isOfHeads ? std::vector<int64_t>{0, 1, 0, 0}
                              : std::vector<int64_t>{0, 0, 1, 0};
    term->head_bytes = isOfHeads ? 4 : 0;
    attend.terms.push_back(std::move(term));
  }
  builder.add(std::move(attend));
  return builder;
}

TEST(ScoreTerms, reachTheKernelWithPositions) {
  Runner runner(scoredAttention());
  std::vector<float> queries = {0, 1, 2, 3, 4, 5, 6}, heads = {10, 20, 30, 40};
  ASSERT_EQ(runner.run({queries, heads}), "");
  int64_t held = kHeads / kRanks, most = (kLength + kRanks - 1) / kRanks;
  for (int64_t i = 0; i < kLength; ++i)
    for (int64_t head = 0; head < held; ++head) {
      int64_t rank = i / most, firstKey = rank == 0 ? most : 0;
      // A thousand for the position, one for the element of the same query.
      int64_t expected =
          1001 * i + 100 * firstKey + 10 * (rank * held + head + 1);
      EXPECT_EQ(runner.results[0][static_cast<size_t>(i * held + head)],
                static_cast<float>(expected))
          << i << " " << head;
    }
}

/// What a change to the attention makes of loading the plan.
struct Spoiled {
  const char *what;
  void (*change)(plan::AttendT &);
  const char *expected;
};

class SpoiledTerms : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledTerms, areRefusedWithTheirReason) {
  PlanBuilder builder = scoredAttention();
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
  PlanBuilder builder = scoredAttention();
  builder.plan.commands[0]->operation.AsAttend()->terms.clear();
  sprt_program *program = nullptr;
  EXPECT_EQ(builder.load(&program), "");
  sprt_program_free(program);
}

} // namespace
} // namespace sprt::test
