// Steps: results that become inputs, on ranks and devices alike.

#include "Programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace sprt::test {
namespace {

using plan::LayoutKind;
using Values = std::vector<float>;

class Steps : public testing::TestWithParam<plan::Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, Steps, testing::ValuesIn(kTargets));

/// A session, and arrays for its inputs and results as vectors; an empty one is
/// without data.
struct Training : Runner {
  using Runner::Runner;

  std::string open() { return Runner::open(options); }

  std::string feed(int64_t result, int64_t input) const {
    return take(sprt_session_feed(session, result, input));
  }

  std::string step(std::vector<Values> inputs, std::vector<Values> &results) {
    std::vector<sprt_array> in = arrays(sprt_program_input, inputs),
                            out = arrays(sprt_program_result, results);
    return take(sprt_session_step(session, in.data(),
                                  static_cast<int64_t>(in.size()), out.data(),
                                  static_cast<int64_t>(out.size())));
  }

  std::string collect(std::vector<Values> &results) {
    std::vector<sprt_array> out = arrays(sprt_program_result, results);
    return take(sprt_session_collect(session, out.data(),
                                     static_cast<int64_t>(out.size())));
  }

  template <typename Describe>
  std::vector<sprt_array> arrays(Describe describe,
                                 std::vector<Values> &values) const {
    std::vector<sprt_array> list;
    for (size_t i = 0; i < values.size(); ++i) {
      sprt_parameter parameter = {};
      parameter.size = sizeof parameter;
      EXPECT_EQ(take(describe(program, static_cast<int64_t>(i), &parameter)),
                "");
      list.push_back({sizeof(sprt_array), parameter.dtype, parameter.dimensions,
                      parameter.shape,
                      values[i].empty() ? nullptr : values[i].data()});
    }
    return list;
  }
};

/// Inputs a and b of as many elements, which also are the results b and a.
PlanBuilder exchange(int64_t elements) {
  PlanBuilder builder(1);
  int64_t a = builder.arena(4 * elements), b = builder.arena(4 * elements);
  builder.input("a", plan::DType::f32, {{elements}}, a);
  builder.input("b", plan::DType::f32, {{elements}}, b);
  builder.result("first", plan::DType::f32, {{elements}}, b);
  builder.result("second", plan::DType::f32, {{elements}}, a);
  builder.add(plan::SyncT());
  return builder;
}

TEST_P(Steps, fedResultIsTheNextInput) {
  for (int64_t ranks : {1, 3, 4})
    for (LayoutKind kind : {LayoutKind::zigzag, LayoutKind::striped}) {
      int64_t length = 7;
      Training training(ringSum(ranks, length, kind).target(GetParam()));
      ASSERT_EQ(training.open(), "");
      ASSERT_EQ(training.feed(0, 0), "");
      Values x = ramp(static_cast<size_t>(length * kRingWidth));
      std::vector<Values> none(1), results = {Values(x.size(), -1.0F)};
      ASSERT_EQ(training.step({x}, none), "");
      // From the third run on a device repeats what it has recorded.
      for (int step = 0; step < 3; ++step) {
        x = ringSumReference(ranks, length, kind, x);
        ASSERT_EQ(training.step({{}}, results), "");
        EXPECT_EQ(results[0], ringSumReference(ranks, length, kind, x))
            << ranks << " ranks, step " << step;
      }
    }
}

TEST_P(Steps, resultWithoutDataStaysUntilItIsCollected) {
  Training training(ringSum(3, 5, LayoutKind::contiguous).target(GetParam()));
  ASSERT_EQ(training.open(), "");
  Values x = ramp(5 * kRingWidth);
  std::vector<Values> none(1), results = {Values(x.size(), -1.0F)};
  EXPECT_EQ(training.collect(results),
            "expected a run before its results are collected");
  ASSERT_EQ(training.step({x}, none), "");
  ASSERT_EQ(training.collect(results), "");
  EXPECT_EQ(results[0], ringSumReference(3, 5, LayoutKind::contiguous, x));
}

TEST_P(Steps, inputThatNothingFeedsIsKept) {
  Training training(ringSum(2, 4, LayoutKind::contiguous).target(GetParam()));
  ASSERT_EQ(training.open(), "");
  Values x = ramp(4 * kRingWidth);
  std::vector<Values> none(1), results = {Values(x.size(), -1.0F)};
  ASSERT_EQ(training.step({x}, none), "");
  ASSERT_EQ(training.step({{}}, results), "");
  EXPECT_EQ(results[0], ringSumReference(2, 4, LayoutKind::contiguous, x));
}

TEST_P(Steps, argumentsReturnedAsTheyWereChangePlaces) {
  Values a = ramp(100), b(100, 7.0F);
  Training training(exchange(100).target(GetParam()));
  ASSERT_EQ(training.open(), "");
  ASSERT_EQ(training.feed(0, 0), "");
  ASSERT_EQ(training.feed(1, 1), "");
  std::vector<Values> none(2), results = {Values(100), Values(100)};
  ASSERT_EQ(training.step({a, b}, none), "");
  ASSERT_EQ(training.step({{}, {}}, results), "");
  EXPECT_EQ(results, (std::vector<Values>{a, b}));
  ASSERT_EQ(training.step({{}, {}}, results), "");
  EXPECT_EQ(results, (std::vector<Values>{b, a}));
}

TEST_P(Steps, argumentsInFarMemoryChangePlaces) {
  // More than is copied at once.
  constexpr int64_t kElements = 300'001, kPages = 4096 * 293;
  Values a = ramp(kElements), b(kElements, 7.0F);
  std::string directory = std::filesystem::temp_directory_path();
  for (auto [isFarA, isFarB] :
       {std::pair(true, true), {true, false}, {false, true}})
    for (const char *where : {(const char *)nullptr, directory.c_str()}) {
      if (where && GetParam() != plan::Target::cpu)
        continue;
      PlanBuilder builder = exchange(kElements);
      builder.plan.far_bytes = 2 * kPages;
      auto place = [](plan::ViewT &view, bool isFar, int64_t at) {
        if (!isFar)
          return;
        view.space = plan::Space::far;
        view.offset = Expr(at).build();
      };
      plan::PlanT &plan = builder.plan;
      place(*plan.inputs[0]->view, isFarA, 0);
      place(*plan.results[1]->view, isFarA, 0);
      place(*plan.inputs[1]->view, isFarB, kPages);
      place(*plan.results[0]->view, isFarB, kPages);
      Training training(builder.target(GetParam()));
      training.options.far_directory = where;
      ASSERT_EQ(training.open(), "");
      ASSERT_EQ(training.feed(0, 0), "");
      ASSERT_EQ(training.feed(1, 1), "");
      std::vector<Values> none(2), results(2, Values(kElements));
      ASSERT_EQ(training.step({a, b}, none), "");
      ASSERT_EQ(training.step({{}, {}}, results), "");
      EXPECT_EQ(results, (std::vector<Values>{a, b}));
      ASSERT_EQ(training.step({{}, {}}, results), "");
      EXPECT_EQ(results, (std::vector<Values>{b, a}));
      sprt_rank_statistics measured = training.statistics(0);
      EXPECT_EQ(measured.far_read_bytes, 0);
      EXPECT_GE(measured.far_peak_bytes, 4 * kElements);
    }
}

TEST_P(Steps, resultsInMemoryOfOtherInputsArriveWhole) {
  // Results lie one input further than the input that they feed, and half an
  // input further than itself the last one, which only saving brings home.
  constexpr int64_t kElements = 16, kBytes = 4 * kElements;
  PlanBuilder builder(1);
  int64_t at = builder.arena(5 * kBytes);
  for (int64_t i = 0; i < 4; ++i) {
    std::string number = std::to_string(i);
    int64_t offset = at + i * kBytes;
    builder.input("w" + number, plan::DType::f32, {{kElements}}, offset);
    builder.result("new" + number, plan::DType::f32, {{kElements}},
                   offset + (i < 3 ? kBytes : kBytes / 2));
  }
  plan::CopyT copy;
  copy.source = view(at, kBytes / 2);
  copy.target = view(at + 4 * kBytes, kBytes / 2);
  builder.add(std::move(copy));
  Training training(builder.target(GetParam()));
  ASSERT_EQ(training.open(), "");
  std::vector<Values> inputs, none(4), results(4, Values(kElements));
  for (int64_t i = 0; i < 4; ++i) {
    ASSERT_EQ(training.feed(i, i), "");
    inputs.emplace_back(kElements, static_cast<float>(i));
  }
  ASSERT_EQ(training.step(inputs, none), "");
  ASSERT_EQ(training.step({{}, {}, {}, {}}, results), "");
  // The inputs were 1, 2, 3 and half 3, half 0.
  Values last(kElements, 3.0F);
  std::fill(last.begin() + kElements / 2, last.end(), 0.0F);
  EXPECT_EQ(results[0], Values(kElements, 2.0F));
  EXPECT_EQ(results[1], Values(kElements, 3.0F));
  EXPECT_EQ(results[2], last);
  Values end(kElements, 0.0F);
  std::fill(end.begin() + kElements / 2, end.end(), 1.0F);
  EXPECT_EQ(results[3], end);
}

TEST_P(Steps, newInputDoesNotReachWhatTheOldOneFeeds) {
  // Result 1 is a: b is what a was a step ago.
  Training training(exchange(3).target(GetParam()));
  ASSERT_EQ(training.open(), "");
  ASSERT_EQ(training.feed(1, 1), "");
  std::vector<Values> none(2), results = {Values(3), Values(3)};
  ASSERT_EQ(training.step({{1, 2, 3}, {0, 0, 0}}, none), "");
  ASSERT_EQ(training.step({{4, 5, 6}, {}}, results), "");
  EXPECT_EQ(results[0], (Values{1, 2, 3}));
  EXPECT_EQ(results[1], (Values{4, 5, 6}));
}

TEST_P(Steps, newInputInFarMemoryDoesNotReachWhatTheOldOneFeeds) {
  // Result 1 is a, which lies in far memory.
  PlanBuilder builder = exchange(1024);
  builder.plan.far_bytes = 4096;
  for (plan::ViewT *view : {builder.plan.inputs[0]->view.get(),
                            builder.plan.results[1]->view.get()}) {
    view->space = plan::Space::far;
    view->offset = Expr(0).build();
  }
  Training training(builder.target(GetParam()));
  ASSERT_EQ(training.open(), "");
  ASSERT_EQ(training.feed(1, 1), "");
  Values first(1024, 1.0F), second(1024, 4.0F), zero(1024, 0.0F);
  std::vector<Values> none(2), results = {Values(1024), Values(1024)};
  ASSERT_EQ(training.step({first, zero}, none), "");
  ASSERT_EQ(training.step({second, {}}, results), "");
  EXPECT_EQ(results[0], first);
  EXPECT_EQ(results[1], second);
}

TEST_P(Steps, donatedInputIsFed) {
  PlanBuilder builder = ringSum(2, 4, LayoutKind::contiguous);
  builder.plan.inputs[0]->donated_to = 0;
  Training training(builder.target(GetParam()));
  ASSERT_EQ(training.open(), "");
  EXPECT_EQ(sprt_session_fed_by(training.session, 0), 0);
  EXPECT_EQ(sprt_session_fed_by(training.session, 1), -1);
  Values x = ramp(4 * kRingWidth);
  std::vector<Values> none(1), results = {Values(x.size(), -1.0F)};
  ASSERT_EQ(training.step({x}, none), "");
  ASSERT_EQ(training.step({{}}, results), "");
  Values once = ringSumReference(2, 4, LayoutKind::contiguous, x);
  EXPECT_EQ(results[0], ringSumReference(2, 4, LayoutKind::contiguous, once));
}

TEST(Feed, firstStepNeedsEveryInput) {
  Training training(exchange(3));
  ASSERT_EQ(training.open(), "");
  std::vector<Values> none(2);
  EXPECT_EQ(training.step({{1, 2, 3}, {}}, none), "no data for \"b\"");
  EXPECT_EQ(training.step({{1, 2, 3}, {1, 2, 3}}, none), "");
}

TEST(Feed, numbersThatDoNotExistAreRefused) {
  Training training(exchange(3));
  ASSERT_EQ(training.open(), "");
  EXPECT_EQ(training.feed(2, 0), "expected one of 2 results but got result 2");
  EXPECT_EQ(training.feed(0, -1), "expected one of 2 inputs but got input -1");
}

TEST(Feed, otherTypesAreRefused) {
  PlanBuilder builder = exchange(3);
  builder.plan.results[0]->type = plan::DType::i32;
  Training training(builder);
  ASSERT_EQ(training.open(), "");
  EXPECT_EQ(training.feed(0, 1),
            "expected result \"first\" to feed an input of its type, 3xi32, "
            "but \"b\" is 3xf32");
}

TEST(Feed, otherDealingIsRefusedAlsoWhereAPlanSaysIt) {
  PlanBuilder builder(2);
  int dealt = static_cast<int>(builder.layout(LayoutKind::zigzag, 6, 2));
  int64_t at = builder.arena(64);
  builder.input("w", plan::DType::f32, {{6, dealt}, {2}}, at);
  builder.result("new", plan::DType::f32, {{6}, {2}}, at);
  builder.add(plan::SyncT());
  std::string refused =
      "expected result \"new\" and input \"w\", which it feeds, to be dealt to "
      "ranks alike but got [6, 2] and [6 by zigzag of 2, 2]; the compiler "
      "deals what is donated alike";
  Training training(builder);
  ASSERT_EQ(training.open(), "");
  EXPECT_EQ(training.feed(0, 0), refused);
  builder.plan.inputs[0]->donated_to = 0;
  EXPECT_EQ(Training(builder).open(), refused);
}

} // namespace
} // namespace sprt::test
