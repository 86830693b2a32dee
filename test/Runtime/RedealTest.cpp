// Rows dealt anew, or moved along their dimension, as plan commands.

#include "sprt/algebra/Redeal.h"
#include "PlanBuilder.h"
#include "program/Program.h"
#include "walk/Prediction.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sprt::test {
namespace {

using algebra::Layout;
using algebra::LayoutKind;

constexpr int64_t kRanks = 4, kBatch = 2, kWidth = 3;

struct Setting {
  Layout from, onto;
  int64_t by;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (LayoutKind kind :
       {LayoutKind::contiguous, LayoutKind::zigzag, LayoutKind::striped})
    for (int64_t by : {0, 1, -1, 7, -13, 40}) {
      Layout whole(kind, 13, kRanks), first(kind, 12, kRanks, 1, 13);
      all.push_back({whole, whole, by});
      all.push_back({whole, first, by});
      all.push_back({first, whole, by});
      all.push_back({whole, Layout(LayoutKind::zigzag, 9, 2, 2), by});
      all.push_back({first, Layout::dense(2), by});
    }
  return all;
}

uint32_t add(PlanBuilder &builder, const Layout &layout) {
  uint32_t number =
      builder.layout(static_cast<plan::LayoutKind>(layout.kind()),
                     layout.length(), layout.ring(), layout.split());
  builder.plan.layouts.back()->within = layout.within();
  return number;
}

std::unique_ptr<plan::StridedT> rowsOf(int64_t at, int64_t rows) {
  auto strided = std::make_unique<plan::StridedT>();
  strided->view = view(at, kBatch * rows * kWidth * 4);
  strided->batch = kBatch;
  strided->inner_bytes = strided->head_stride = strided->row_stride =
      kWidth * 4;
  strided->batch_stride = rows * kWidth * 4;
  return strided;
}

/// y is 0 where x has no row.
PlanBuilder redealt(const Setting &setting) {
  PlanBuilder builder(kRanks);
  auto from = static_cast<int>(add(builder, setting.from)),
       onto = static_cast<int>(add(builder, setting.onto));
  int64_t before = setting.from.maxCount(), after = setting.onto.maxCount();
  int64_t x = builder.arena(kBatch * before * kWidth * 4),
          y = builder.arena(kBatch * after * kWidth * 4);
  builder.input("x", plan::DType::f32,
                {{kBatch}, {setting.from.length(), from}, {kWidth}}, x);
  // A dense result is that of rank 0.
  PlanBuilder::Dim rows{setting.onto.length(),
                        setting.onto.isDense() ? -1 : onto};
  builder.result("y", plan::DType::f32, {{kBatch}, rows, {kWidth}}, y);
  plan::FillT fill;
  fill.target = view(y, kBatch * after * kWidth * 4);
  builder.add(std::move(fill));
  plan::ExchangeT exchange;
  exchange.direction = plan::Direction::rowsToRows;
  exchange.onto = onto;
  exchange.by = setting.by;
  exchange.heads_total = exchange.head_count = 1;
  exchange.values.push_back(
      moved(static_cast<uint32_t>(from), rowsOf(x, before), rowsOf(y, after)));
  builder.add(std::move(exchange));
  return builder;
}

class Redealt : public testing::TestWithParam<plan::Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, Redealt, testing::ValuesIn(kTargets));

TEST_P(Redealt, rowsAreWherePositionsSay) {
  for (const Setting &setting : settings()) {
    SCOPED_TRACE(setting.from.str() + " onto " + setting.onto.str() + " by " +
                 std::to_string(setting.by));
    int64_t length = setting.from.length();
    std::vector<float> x(static_cast<size_t>(kBatch * length * kWidth));
    std::iota(x.begin(), x.end(), 1.0F);
    std::vector<float> expected;
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t p = 0; p < setting.onto.length(); ++p)
        for (int64_t i = 0; i < kWidth; ++i) {
          int64_t row = p + setting.by;
          bool isThere = row >= 0 && row < length;
          expected.push_back(
              isThere ? x[size_t((b * length + row) * kWidth + i)] : 0);
        }
    PlanBuilder builder = redealt(setting);
    Runner runner(builder.target(GetParam()));
    ASSERT_EQ(runner.run({x}), "");
    EXPECT_EQ(runner.results[0], expected);
    algebra::Redeal redeal(setting.from, setting.onto, setting.by);
    for (int64_t rank = 0; rank < kRanks; ++rank)
      EXPECT_EQ(runner.statistics(rank).bytes_sent,
                redeal.rowsToOthers(rank) * kBatch * kWidth * 4)
          << "rank " << rank;
  }
}

TEST(Redealt, bytesArePredicted) {
  for (const Setting &setting : settings()) {
    SCOPED_TRACE(setting.from.str() + " onto " + setting.onto.str() + " by " +
                 std::to_string(setting.by));
    Program program;
    std::vector<uint8_t> bytes = redealt(setting).bytes();
    Status failure = program.read(bytes.data(), bytes.size(), nullptr);
    ASSERT_FALSE(failure) << failure->text;
    std::vector<Prediction> predictions;
    ASSERT_FALSE(predict(program, predictions));
    algebra::Redeal redeal(setting.from, setting.onto, setting.by);
    for (int64_t rank = 0; rank < kRanks; ++rank)
      EXPECT_EQ(predictions[static_cast<size_t>(rank)].bytesSent,
                redeal.rowsToOthers(rank) * kBatch * kWidth * 4);
  }
}

TEST(Redealt, damageIsRefused) {
  struct Damage {
    const char *expected;
    void (*change)(plan::PlanT &plan, plan::ExchangeT &exchange);
  };
  const Damage damages[] = {
      {"onto layout -1", [](auto &, auto &exchange) { exchange.onto = -1; }},
      {"9", [](auto &, auto &exchange) { exchange.onto = 9; }},
      {"onto layout 1",
       [](auto &, auto &exchange) {
         exchange.direction = plan::Direction::rowsToHeads;
       }},
      {"expected 1 heads",
       [](auto &, auto &exchange) { exchange.head_layout = 0; }},
      {"by -9223372036854775808",
       [](auto &, auto &exchange) { exchange.by = INT64_MIN; }},
      {"rows are dealt to 3 owners in a group of 4",
       [](auto &plan, auto &exchange) {
         plan.layouts.push_back(
             std::make_unique<plan::LayoutT>(*plan.layouts[1]));
         plan.layouts.back()->ranks = 3;
         exchange.onto = 2;
       }},
      {"expected layout within 13 to",
       [](auto &plan, auto &) { plan.layouts[1]->within = 5; }},
      {"an exchange of nothing",
       [](auto &, auto &exchange) { exchange.values.clear(); }},
      {"differ in batch or element",
       [](auto &, auto &exchange) { exchange.values[0]->target->batch = 1; }},
  };
  for (const Damage &damage : damages) {
    Layout whole(LayoutKind::zigzag, 13, kRanks);
    PlanBuilder builder = redealt({whole, whole, 1});
    damage.change(builder.plan,
                  *builder.plan.commands.back()->operation.AsExchange());
    sprt_program *program = nullptr;
    std::string text = builder.load(&program);
    EXPECT_NE(text.find(damage.expected), std::string::npos)
        << damage.expected << " is not in: " << text;
  }
}

} // namespace
} // namespace sprt::test
