// Redistribution between rows and heads, and all-gathers, as plan commands.

#include "PlanBuilder.h"
#include "sprt/algebra/Heads.h"
#include "sprt/algebra/Layout.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sprt::test {
namespace {

using algebra::Interval;
using algebra::Layout;
using algebra::LayoutKind;

constexpr int64_t kBatch = 2, kInner = 3;

/// `heads` of `headsTotal` query heads' tensor; rows dealt by `kind`.
struct Setting {
  int64_t ranks, length, headsTotal, heads;
  LayoutKind kind;
  bool gather; ///< every head to every rank
};

Interval heldHeads(const Setting &setting, int64_t rank) {
  if (setting.gather)
    return {0, setting.heads};
  return algebra::heldHeads(
      Layout(LayoutKind::contiguous, setting.headsTotal, setting.ranks), rank,
      setting.heads);
}

/// x -> rows to heads -> heads to rows -> y; y must equal x.
PlanBuilder roundTrip(const Setting &setting) {
  PlanBuilder builder(setting.ranks);
  uint32_t dealt = builder.layout(static_cast<plan::LayoutKind>(setting.kind),
                                  setting.length, setting.ranks);
  uint32_t heads = builder.layout(plan::LayoutKind::contiguous,
                                  setting.headsTotal, setting.ranks);
  int64_t most = (setting.length + setting.ranks - 1) / setting.ranks, held = 0;
  for (int64_t rank = 0; rank < setting.ranks; ++rank)
    held = std::max(held, heldHeads(setting, rank).size());
  int64_t inner = kInner * 4;
  int64_t rowsBytes = kBatch * most * setting.heads * inner;
  int64_t headsBytes =
      kBatch * setting.length * std::max<int64_t>(held, 1) * inner;
  int64_t x = builder.arena(rowsBytes), dense = builder.arena(headsBytes),
          y = builder.arena(rowsBytes);
  std::vector<PlanBuilder::Dim> dims = {
      {kBatch},
      {setting.length, static_cast<int>(dealt)},
      {setting.heads},
      {kInner}};
  builder.input("x", plan::DType::f32, dims, x);
  builder.result("y", plan::DType::f32, dims, y);
  auto strided = [&](int64_t at, int64_t bytes, int64_t rowCount,
                     int64_t headCount) {
    auto result = std::make_unique<plan::StridedT>();
    result->view = view(at, bytes);
    result->batch = kBatch;
    result->inner_bytes = inner;
    result->head_stride = inner;
    result->row_stride = headCount * inner;
    result->batch_stride = rowCount * headCount * inner;
    return result;
  };
  for (plan::Direction direction :
       {plan::Direction::rowsToHeads, plan::Direction::headsToRows}) {
    bool forth = direction == plan::Direction::rowsToHeads;
    plan::ExchangeT exchange;
    exchange.direction = direction;
    exchange.head_layout = setting.gather ? -1 : static_cast<int>(heads);
    exchange.heads_total = setting.headsTotal;
    exchange.head_count = setting.heads;
    auto rowSide = strided(forth ? x : y, rowsBytes, most, setting.heads);
    auto headSide =
        strided(dense, headsBytes, setting.length, std::max<int64_t>(held, 1));
    if (!forth)
      std::swap(rowSide, headSide);
    exchange.values.push_back(
        moved(dealt, std::move(rowSide), std::move(headSide)));
    builder.add(std::move(exchange));
  }
  return builder;
}

void expectRoundTrip(const Setting &setting, plan::Target target) {
  SCOPED_TRACE(std::to_string(setting.ranks) + " ranks, " +
               std::to_string(setting.length) + " rows, " +
               std::to_string(setting.heads) + " of " +
               std::to_string(setting.headsTotal) + " heads, " +
               algebra::name(setting.kind) +
               (setting.gather ? ", gathered" : ""));
  std::vector<float> x(
      static_cast<size_t>(kBatch * setting.length * setting.heads * kInner));
  std::iota(x.begin(), x.end(), 1.0F);
  Runner runner(roundTrip(setting).target(target));
  ASSERT_EQ(runner.run({x}), "");
  EXPECT_EQ(runner.results[0], x);

  // Bytes: own rows of what others hold, then all rows of heads nobody before
  // holds.
  Layout rows(setting.kind, setting.length, setting.ranks);
  int64_t element = kBatch * kInner * 4;
  for (int64_t rank = 0; rank < setting.ranks; ++rank) {
    int64_t expected = 0;
    for (int64_t peer = 0; peer < setting.ranks; ++peer)
      if (peer != rank)
        expected +=
            rows.count(rank) * heldHeads(setting, peer).size() * element;
    if (!setting.gather) {
      Interval own = heldHeads(setting, rank);
      for (int64_t earlier = 0; earlier < rank && !own.empty(); ++earlier)
        own.begin = std::max(own.begin, heldHeads(setting, earlier).end);
      expected += (setting.length - rows.count(rank)) * own.size() * element;
    }
    EXPECT_EQ(runner.statistics(rank).bytes_sent, expected) << "rank " << rank;
  }
}

class Exchange : public testing::TestWithParam<plan::Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, Exchange, testing::ValuesIn(kTargets));

TEST_P(Exchange, roundTripGivesTheRowsBack) {
  for (LayoutKind kind :
       {LayoutKind::contiguous, LayoutKind::zigzag, LayoutKind::striped})
    for (int64_t ranks : {1, 2, 3, 5})
      for (int64_t length : {1, 7, 12})
        for (auto [total, heads] : {std::pair<int64_t, int64_t>(8, 8),
                                    {8, 2},
                                    {7, 3},
                                    {3, 3},
                                    {2, 1}})
          for (bool gather : {false, true})
            expectRoundTrip({ranks, length, total, heads, kind, gather},
                            GetParam());
}

/// A mesh dp=2, sp=3; sp is the first factor.
PlanBuilder twoAxes() {
  PlanBuilder builder(6);
  builder.plan.factors[0]->size = 3;
  auto outer = std::make_unique<plan::FactorT>();
  outer->name = "dp";
  outer->size = 2;
  outer->stride = 3;
  builder.plan.factors.push_back(std::move(outer));
  return builder;
}

TEST_P(Exchange, valuesAreReducedTogetherOverTwoAxes) {
  // 1, 7 and 3 of each rank's elements, from an arena of its own.
  PlanBuilder builder = twoAxes();
  uint32_t dealt = builder.layout(plan::LayoutKind::contiguous, 6, 6);
  plan::AllReduceT reduce;
  reduce.factors = {1, 0};
  reduce.type = plan::DType::f32;
  std::vector<std::vector<float>> inputs, expected;
  for (int64_t size : {1, 7, 3}) {
    int64_t at = builder.arena(4 * size);
    std::string name = "x" + std::to_string(size);
    for (bool input : {true, false}) {
      std::vector<PlanBuilder::Dim> dims = {{6, static_cast<int>(dealt)},
                                            {size}};
      if (input)
        builder.input(name, plan::DType::f32, dims, at);
      else
        builder.result(name, plan::DType::f32, dims, at);
      auto &list = input ? builder.plan.inputs : builder.plan.results;
      list.back()->dims[0]->atoms[0]->owner =
          (Expr::coordinate(1) * 3 + Expr::coordinate(0)).build();
    }
    reduce.views.push_back(view(at, 4 * size));
    inputs.emplace_back();
    expected.emplace_back();
    for (int64_t i = 0; i < 6 * size; ++i) {
      inputs.back().push_back(static_cast<float>(size + i));
      // Of rows that begin at 0, size, ... 5 size.
      expected.back().push_back(
          static_cast<float>(6 * (size + i % size) + 15 * size));
    }
  }
  builder.add(std::move(reduce));
  Runner runner(builder.target(GetParam()));
  ASSERT_EQ(runner.run(inputs), "");
  EXPECT_EQ(runner.results, expected);
  // Each value is dealt on its own: rank 0 keeps 1, 2 and 1 of the elements.
  EXPECT_EQ(runner.statistics(0).bytes_sent, 4 * (11 - 4 + 5 * 4));
}

TEST_P(Exchange, groupsOfASecondAxisStayApart) {
  // An all-reduce along sp adds within each half only.
  PlanBuilder builder = twoAxes();
  uint32_t dealt = builder.layout(plan::LayoutKind::contiguous, 6, 6);
  int64_t x = builder.arena(4);
  for (bool input : {true, false}) {
    if (input)
      builder.input("x", plan::DType::f32, {{6, static_cast<int>(dealt)}}, x);
    else
      builder.result("x", plan::DType::f32, {{6, static_cast<int>(dealt)}}, x);
    auto &list = input ? builder.plan.inputs : builder.plan.results;
    list[0]->dims[0]->atoms[0]->owner =
        (Expr::coordinate(1) * 3 + Expr::coordinate(0)).build();
  }
  plan::AllReduceT reduce;
  reduce.factors = {0};
  reduce.views.push_back(view(x, 4));
  reduce.type = plan::DType::f32;
  builder.add(std::move(reduce));
  Runner runner(builder.target(GetParam()));
  ASSERT_EQ(runner.run({{1, 2, 3, 10, 20, 30}}), "");
  EXPECT_EQ(runner.results[0], (std::vector<float>{6, 6, 6, 60, 60, 60}));
}

TEST_P(Exchange, valuesOfTwoLayoutsAreGatheredTogether) {
  // Each along rows of its own, one with two batches.
  PlanBuilder builder(3);
  uint32_t first = builder.layout(plan::LayoutKind::zigzag, 7, 3),
           second = builder.layout(plan::LayoutKind::contiguous, 4, 3);
  int64_t x = builder.arena(3 * 8), y = builder.arena(2 * 2 * 4),
          wholeX = builder.arena(7 * 8), wholeY = builder.arena(2 * 4 * 4);
  builder.input("x", plan::DType::f32, {{7, static_cast<int>(first)}, {2}}, x);
  builder.input("y", plan::DType::f32, {{2}, {4, static_cast<int>(second)}}, y);
  builder.result("wholeX", plan::DType::f32, {{7}, {2}}, wholeX);
  builder.result("wholeY", plan::DType::f32, {{2}, {4}}, wholeY);
  auto columns = [](int64_t at, int64_t count) {
    auto result = rowsOf(at, 2 * count * 4, 4);
    result->batch = 2;
    result->batch_stride = count * 4;
    return result;
  };
  plan::ExchangeT gather;
  gather.heads_total = gather.head_count = 1;
  gather.values.push_back(
      moved(first, rowsOf(x, 3 * 8, 8), rowsOf(wholeX, 7 * 8, 8)));
  gather.values.push_back(moved(second, columns(y, 2), columns(wholeY, 4)));
  builder.add(std::move(gather));
  Runner runner(builder.target(GetParam()));
  std::vector<std::vector<float>> inputs(2);
  for (size_t size : {14, 8}) {
    inputs[size == 8].resize(size);
    std::iota(inputs[size == 8].begin(), inputs[size == 8].end(), 1.0F);
  }
  ASSERT_EQ(runner.run(inputs), "");
  EXPECT_EQ(runner.results, inputs);
  // Rows 0 and 5, 6; columns 0 and 1.
  EXPECT_EQ(runner.statistics(0).bytes_sent, 2 * (3 * 8 + 2 * 2 * 4));
}

} // namespace
} // namespace sprt::test
