// Plans whose rows the documents of a batch deal: damaged ones are refused.

#include "Programs.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

/// Rows that documents deal.
PlanBuilder byBatches() {
  PlanBuilder builder = ringSum(4, 16, plan::LayoutKind::zigzag);
  plan::PlanT &plan = builder.plan;
  plan.layouts[0]->kind = plan::LayoutKind::batch;
  plan.layouts[0]->holds = 4;
  builder.input("ids", plan::DType::i32, {{16}}, builder.arena(64));
  plan.document_numbers.push_back(std::make_unique<plan::DocumentNumbersT>());
  plan.document_numbers[0]->input = 1;
  plan.document_numbers[0]->length = 16;
  plan.batch = std::make_unique<plan::BatchT>();
  plan::LoopT &loop = *plan.commands[2]->operation.AsLoop();
  loop.upper = Expr::coordinate(0).build();
  loop.upper->terms.push_back(plan::Term(plan::ExprOp::group_size, 0));
  loop.body[0]->row = Expr(0).build();
  return builder;
}

std::string loaded(const PlanBuilder &builder) {
  sprt_program *program = nullptr;
  std::string text = builder.load(&program);
  sprt_program_free(program);
  return text;
}

std::string loaded(const std::vector<uint8_t> &bytes) {
  auto lookup = [](const char *, void *) -> sprt_kernel {
    return [](void *const *, const int64_t *, int64_t, int64_t, void *) {};
  };
  sprt_program *program = nullptr;
  std::string text = take(sprt_program_create(
      bytes.data(), bytes.size(), nullptr, lookup, nullptr, &program));
  sprt_program_free(program);
  return text;
}

TEST(BatchPlans, everyFlippedByteLoadsOrIsRefused) {
  std::vector<uint8_t> bytes = byBatches().bytes();
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t mask : {0x01, 0x80, 0xFF}) {
      std::vector<uint8_t> damaged = bytes;
      damaged[at] ^= mask;
      refused += !loaded(damaged).empty();
    }
  EXPECT_GT(refused, bytes.size() / 2);
}

TEST(BatchPlans, thatNothingDealsAreRefused) {
  auto refused = [](void (*change)(plan::PlanT &)) {
    PlanBuilder builder = byBatches();
    change(builder.plan);
    return loaded(builder);
  };
  auto contains = [](const std::string &text, const char *expected) {
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  };
  EXPECT_EQ(refused([](plan::PlanT &) {}), "");
  contains(refused([](plan::PlanT &plan) { plan.batch = nullptr; }),
           "layouts of batches that nothing deals");
  contains(refused([](plan::PlanT &plan) {
             plan.layouts[0]->kind = plan::LayoutKind::zigzag;
             plan.layouts[0]->holds = 0;
           }),
           "a batch without layouts that it deals");
  contains(refused([](plan::PlanT &plan) { plan.batch->numbers = 1; }),
           "a batch by numbers 1 of 1");
  contains(refused([](plan::PlanT &plan) { plan.batch->pair_cost = -1; }),
           "but got -1");
  contains(refused([](plan::PlanT &plan) { plan.layouts[0]->holds = 3; }),
           "but got 3");
  contains(refused([](plan::PlanT &plan) {
             plan.commands[2]->operation.AsLoop()->body[0]->row =
                 Expr::counter(1).build();
           }),
           "the expression of a row");
}

} // namespace
} // namespace sprt::test
