// Infinities and NaN behave as in the plain softmax, and a configuration that
// cannot be generated is a diagnostic.
#include "AttentionHarness.h"
#include "CPU/Attention/Forward/AttentionKernel.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace attention_test;

namespace {
constexpr int64_t kSize = 8, kRows = 40;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// One head of kRows queries and keys, head size kSize.
template <typename T> struct Case {
  std::vector<T> q = std::vector<T>(kRows * kSize, 1);
  std::vector<T> k = q, v = q, o = q, lse = std::vector<T>(kRows, 0);
  bool init = true;

  void run(const sprt_slice &slice) {
    KernelConfig config{sizeof(T) == 8 ? Element::f64 : Element::f32,
                        kSize,
                        kSize,
                        canRun(512) ? 512 : 256,
                        0,
                        0};
    Kernel kernel = loadKernel(config);
    ASSERT_NE(kernel.function, nullptr);
    int64_t sizes[SPRT_ATTEND_SIZES] = {1, 1, kRows, kRows, 0,
                                        1, 0, 1,     1,     init};
    double scale = 0.25;
    std::memcpy(&sizes[SPRT_ATTEND_SCALE], &scale, sizeof scale);
    for (int at : {SPRT_ATTEND_Q_STRIDES, SPRT_ATTEND_K_STRIDES,
                   SPRT_ATTEND_V_STRIDES, SPRT_ATTEND_O_STRIDES})
      sizes[at + 1] = kSize;
    sizes[SPRT_ATTEND_LSE_STRIDES + 1] = 1;
    void *buffers[] = {q.data(), k.data(),   v.data(),
                       o.data(), lse.data(), const_cast<sprt_slice *>(&slice)};
    std::vector<char> scratch(kernel.scratchBytes);
    kernel.function(buffers, sizes, 0, 1, scratch.data());
  }
};
} // namespace

template <typename T> class AttentionSpecial : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionSpecial, Precisions);

TYPED_TEST(AttentionSpecial, NaNQueryIsItsOwn) {
  Case<TypeParam> c;
  c.q[7 * kSize + 3] = kNaN;
  c.run(band(kRows, kRows));
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(std::isnan(c.o[row * kSize]), row == 7) << row;
    EXPECT_EQ(std::isnan(c.lse[row]), row == 7) << row;
  }
}

TYPED_TEST(AttentionSpecial, NaNKeyReachesThoseWhoSeeIt) {
  for (double bad : {kNaN, kInfinity}) {
    Case<TypeParam> c;
    c.k[21 * kSize] = bad;
    c.run(band(kRows, kRows, kNoLow, 0));
    for (int64_t row = 0; row < kRows; ++row) {
      EXPECT_EQ(std::isnan(c.o[row * kSize]), row >= 21) << row;
      if (row < 21)
        EXPECT_NEAR(c.lse[row], 2 + std::log(row + 1), 1e-5) << row;
    }
  }
}

TYPED_TEST(AttentionSpecial, ScoreOfMinusInfinityHidesItsKey) {
  Case<TypeParam> c;
  c.k[0] = -kInfinity;
  c.run(band(kRows, kRows, kNoLow, 0));
  EXPECT_TRUE(std::isnan(c.o[0]));
  EXPECT_TRUE(std::isnan(c.lse[0]));
  for (int64_t row = 1; row < kRows; ++row) {
    EXPECT_NEAR(c.o[row * kSize], 1, 1e-6);
    EXPECT_NEAR(c.lse[row], 2 + std::log(row), 1e-5);
  }
}

TYPED_TEST(AttentionSpecial, ValuesReachThoseWhoSeeThem) {
  for (double bad : {kNaN, kInfinity}) {
    Case<TypeParam> c;
    c.v[21 * kSize + 5] = bad;
    c.run(band(kRows, kRows, kNoLow, 0));
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < kSize; ++i)
        EXPECT_EQ(std::isfinite(c.o[row * kSize + i]), row < 21 || i != 5)
            << row << ", " << i;
  }
}

TYPED_TEST(AttentionSpecial, MeansOfLargeValuesAreLarge) {
  Case<TypeParam> c;
  TypeParam large = std::numeric_limits<TypeParam>::max() / 2;
  std::fill(c.v.begin(), c.v.end(), large);
  c.run(band(kRows, kRows));
  for (TypeParam mean : c.o)
    EXPECT_NEAR(mean / large, 1, 1e-6);
  for (int64_t row = 0; row < kRows; ++row)
    EXPECT_NEAR(c.lse[row], 2 + std::log(kRows), 1e-5);
}

TYPED_TEST(AttentionSpecial, UntouchedRowsKeepTheirBits) {
  Case<TypeParam> c;
  c.init = false;
  for (int64_t row = 0; row < kRows; ++row) {
    c.lse[row] = std::sin(row) * 5;
    for (int64_t i = 0; i < kSize; ++i)
      c.o[row * kSize + i] = std::cos(row + i);
  }
  c.lse[3] = -kInfinity;
  std::fill_n(c.o.begin() + 3 * kSize, kSize, 0);
  Case<TypeParam> before = c;
  c.run({20, 30, 0, kRows, kNoLow, kNoHigh, 1, 1, 0});
  for (int64_t row = 0; row < kRows; ++row) {
    bool isTouched = row >= 20 && row < 30;
    EXPECT_EQ(c.lse[row] == before.lse[row], !isTouched) << row;
    EXPECT_EQ(c.o[row * kSize] == before.o[row * kSize], !isTouched) << row;
  }
}

TYPED_TEST(AttentionSpecial, EqualScoresGiveTheMeanToAnUlp) {
  Case<TypeParam> c;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t i = 0; i < kSize; ++i)
      c.v[row * kSize + i] = row;
  c.run(band(kRows, kRows));
  for (int64_t row = 0; row < kRows; ++row)
    EXPECT_NEAR(c.o[row * kSize], (kRows - 1) / 2.0, 1e-6);
}

// The greatest score's power is exactly 1, however far its type's numbers are
// apart there.
TYPED_TEST(AttentionSpecial, LargeScoresChooseTheGreatest) {
  for (double size : {3e7, 3e9, 1e15, 1e30}) {
    Case<TypeParam> c;
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < kSize; ++i) {
        c.q[row * kSize + i] = static_cast<TypeParam>(size / kSize);
        c.k[row * kSize + i] =
            static_cast<TypeParam>(std::sin(3 * row + i) + (row == 17 ? 2 : 0));
        c.v[row * kSize + i] = static_cast<TypeParam>(row + 0.1);
      }
    c.run(band(kRows, kRows));
    for (TypeParam element : c.o)
      EXPECT_EQ(element, static_cast<TypeParam>(17.1)) << size;
  }
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

static std::string
diagnose(llvm::function_ref<void(mlir::sp::AttentionKernelConfig &)> change) {
  mlir::MLIRContext context;
  mlir::sp::AttentionKernelConfig config;
  config.headSize = config.valueSize = 64;
  config.elementType = mlir::Float32Type::get(&context);
  change(config);
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { text = diagnostic.str(); });
  bool isValid = mlir::succeeded(
      mlir::sp::verifyAttentionKernel(mlir::UnknownLoc::get(&context), config));
  EXPECT_EQ(isValid, text.empty());
  return text;
}

TEST(AttentionConfig, Diagnostics) {
  EXPECT_EQ(diagnose([](auto &) {}), "");
  EXPECT_EQ(diagnose([](auto &c) {
              c.elementType =
                  mlir::IntegerType::get(c.elementType.getContext(), 32);
            }),
            "expected attention on f64, f32, bf16 or f16 but got 'i32'");
  EXPECT_EQ(diagnose([](auto &c) { c.headSize = 0; }),
            "expected attention head size from 1 to 4096 but got 0");
  EXPECT_EQ(diagnose([](auto &c) { c.valueSize = 5000; }),
            "expected attention value size from 1 to 4096 but got 5000");
  EXPECT_EQ(diagnose([](auto &c) { c.vectorBits = 128; }),
            "expected vectors of 256 or 512 bits but got 128");
  EXPECT_EQ(diagnose([](auto &c) { c.keyBlock = -1; }),
            "expected key block from 0 to 4096 rows but got -1");
}

TEST(AttentionConfig, Names) {
  mlir::MLIRContext context;
  mlir::sp::AttentionKernelConfig config;
  config.headSize = 64;
  config.valueSize = 64;
  config.elementType = mlir::Float32Type::get(&context);
  EXPECT_EQ(mlir::sp::attentionKernelName(config), "attend_f32_d64");
  config.valueSize = 128;
  config.elementType = mlir::BFloat16Type::get(&context);
  EXPECT_EQ(mlir::sp::attentionKernelName(config), "attend_bf16_d64x128");
  config.headSize = 128;
  config.launchKeys = 8192;
  EXPECT_EQ(mlir::sp::attentionKernelName(config), "attend_bf16_d128");
  EXPECT_EQ(mlir::sp::attentionQueryBlock(config), 512);
  config.launchKeys = 1024;
  EXPECT_EQ(mlir::sp::attentionKernelName(config), "attend_bf16_d128_q256");
  EXPECT_EQ(mlir::sp::attentionQueryBlock(config), 256);
}
