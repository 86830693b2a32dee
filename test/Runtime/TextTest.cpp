// The plan as text: what people read to follow a program.

#include "CudaRing.h"
#include "Programs.h"
#include "program/Expression.h"

#include <gtest/gtest.h>

namespace sprt::test {
namespace {

std::string textOf(const Expr &expression) {
  std::vector<std::unique_ptr<plan::FactorT>> factors;
  for (const char *name : {"sp", "dp"}) {
    factors.push_back(std::make_unique<plan::FactorT>());
    factors.back()->name = name;
  }
  return expressionText(expression.build().get(), factors);
}

TEST(Text, expressionsReadLikeArithmetic) {
  Expr r = Expr::coordinate(0), t = Expr::counter(0);
  EXPECT_EQ(textOf((r + 1) % 8), "(sp + 1) % 8");
  EXPECT_EQ(textOf(Expr(0) + (r + -1) % 8 * 1), "(sp - 1) % 8");
  EXPECT_EQ(textOf((t * -1 + r) % 4), "(sp - t) % 4");
  EXPECT_EQ(textOf(Expr(640) + (t + 1) % 2 * 64), "640 + ((t + 1) % 2) * 64");
  EXPECT_EQ(textOf(r % (t * 2)), "sp % (t * 2)");
  EXPECT_EQ(textOf(Expr::coordinate(1).rows(3)), "rows#3(dp)");
  EXPECT_EQ(textOf(t < 3), "t < 3");
  EXPECT_EQ(textOf(r.apply(plan::ExprOp::max, t + 1)), "max(sp, t + 1)");
}

TEST(Text, planListsEverythingByNumber) {
  sprt_program *program = nullptr;
  ASSERT_EQ(ringSum(4, 10, plan::LayoutKind::zigzag).load(&program), "");
  char *text = nullptr;
  ASSERT_EQ(take(sprt_program_text(program, &text)), "");
  sprt_program_free(program);
  std::string whole = text;
  sprt_buffer_free(text);
  for (const char *line :
       {"mesh sp=4   ranks 4   arena 48.00 KiB   scratch 0 B   constants 0 B   "
        "events 3\n",
        "layout 0   zigzag(10 over 4)\n", "kernel 0   add_rows\n",
        "input  x: 10x1024xf32, dim 0 by layout 0 of owner sp   at arena[0; "
        "12288]\n",
        "result sum: 10x1024xf32, dim 0 by layout 0 of owner sp   at "
        "arena[36864; 12288]\n",
        "   0  fill arena[36864; 12288] with 0\n",
        "   1  copy arena[0; 12288] to arena[12288; 12288]   -> e2\n",
        "   2  loop t in 0..4   \"ring\"\n",
        "   4    send_recv to (sp + 1) % 4 from (sp + 3) % 4   send "
        "arena[12288 + (t % 2) * 12288; 12288] rows (sp - t "
        "+ 4) % 4 of layout 0 heads 1 of 4096 B",
        "   \"shift\"   if t < 3   stream comm   -> e0\n",
        "   5    launch add_rows arena[12288 + (t % 2) * 12288; 12288] "
        "arena[36864; 12288]   tiles 3   \"add\"   -> e1\n",
        "   6    sync   after e0\n"})
    EXPECT_THAT_CONTAINS(whole, line);
}

TEST(Text, productsShowTheirEpilogues) {
  PlanBuilder builder(1);
  int64_t at = builder.arena(64);
  auto add = [&](bool hasBias, plan::Activation activation) {
    plan::GemmT gemm;
    gemm.type = gemm.out_type = plan::DType::f32;
    gemm.batch = gemm.m = gemm.n = gemm.k = 1;
    gemm.a_strides = gemm.b_strides = gemm.c_strides = {0, 1, 1};
    for (auto *place : {&gemm.a, &gemm.b, &gemm.c})
      *place = view(at, 4);
    if (hasBias)
      gemm.bias = view(at + 8, 4);
    gemm.activation = activation;
    builder.add(std::move(gemm));
  };
  add(false, plan::Activation::none);
  add(true, plan::Activation::none);
  add(true, plan::Activation::gelu);
  add(false, plan::Activation::relu);
  std::vector<uint8_t> bytes = builder.bytes();
  char *text = nullptr;
  ASSERT_EQ(take(sprt_plan_text(bytes.data(), bytes.size(), &text)), "");
  std::string whole = text;
  sprt_buffer_free(text);
  for (const char *line :
       {"c=arena[0; 4] (0,1,1)\n", "c=arena[0; 4] (0,1,1) bias=arena[8; 4]\n",
        "c=arena[0; 4] (0,1,1) bias=arena[8; 4] then gelu\n",
        "c=arena[0; 4] (0,1,1) then relu\n"})
    EXPECT_THAT_CONTAINS(whole, line);
}

TEST(Text, plansForGpusShowBlocksAndImages) {
  PlanBuilder builder = cudaRing({2, 6, plan::LayoutKind::contiguous, true});
  builder.plan.kernels[0]->shared_bytes = 2048;
  plan::LoopT &loop = *builder.plan.commands[2]->operation.AsLoop();
  loop.body[2]->operation.AsAttend()->order = plan::BlockOrder::lightestFirst;
  auto image = std::make_unique<plan::ImageT>();
  image->symbol = "sprt_image_0";
  image->bytes = 4096;
  image->architecture = "sm_90a";
  builder.plan.images.push_back(std::move(image));
  std::vector<uint8_t> bytes = builder.bytes();
  char *text = nullptr;
  ASSERT_EQ(take(sprt_plan_text(bytes.data(), bytes.size(), &text)), "");
  std::string whole = text;
  sprt_buffer_free(text);
  for (const char *line :
       {"   events 2   target cuda\n",
        "kernel 0   attend   threads 128   shared 2.00 KiB\n",
        "image sm_90a   sprt_image_0   4.00 KiB\n",
        "   blocks 3x16   init   \"first\"",
        "   blocks 3x16   lightestFirst   \"onward\""})
    EXPECT_THAT_CONTAINS(whole, line);
}

} // namespace
} // namespace sprt::test
