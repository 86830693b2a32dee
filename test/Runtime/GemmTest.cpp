// Products against three loops, for the strides that transposes and heads make.

#include "PlanBuilder.h"
#include "support/Types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace sprt::test {
namespace {

struct Case {
  const char *name;
  int64_t batch, m, n, k;
  std::array<int64_t, 3> a, b, c;
};

float pattern(int64_t i) { return static_cast<float>((i * 37) % 17 - 8) / 8; }

class GemmTest : public testing::TestWithParam<Case> {};

/// Elements that a matrix of these strides spans.
int64_t span(int64_t batch, int64_t rows, int64_t columns,
             const std::array<int64_t, 3> &strides) {
  return (batch - 1) * strides[0] + (rows - 1) * strides[1] +
         (columns - 1) * strides[2] + 1;
}

/// What follows the product; the bias is an input that is always there.
struct Epilogue {
  bool hasBias = false;
  plan::Activation activation = plan::Activation::none;
  /// Adds the product to itself and a bias.
  bool twice = false;

  double apply(double sum, int64_t column) const {
    double x =
        (twice ? 2 * sum : sum) + (hasBias || twice ? pattern(column + 2) : 0);
    if (activation == plan::Activation::relu)
      return std::max(x, 0.0);
    if (activation == plan::Activation::gelu)
      return x / 2 *
             (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    return x;
  }
};

void runCase(const Case &test, plan::DType type, plan::DType out, int threads,
             double tolerance, const Epilogue &epilogue = {},
             plan::Target target = plan::Target::cpu) {
  PlanBuilder builder(1);
  int64_t sizes[4] = {span(test.batch, test.m, test.k, test.a),
                      span(test.batch, test.k, test.n, test.b), test.n,
                      span(test.batch, test.m, test.n, test.c)};
  int64_t element = type == plan::DType::f32 ? 4 : 2;
  int64_t outElement = out == plan::DType::f32 ? 4 : 2;
  int64_t at[4] = {builder.arena(sizes[0] * element),
                   builder.arena(sizes[1] * element),
                   builder.arena(sizes[2] * outElement),
                   builder.arena(sizes[3] * outElement)};
  builder.input("a", type, {{sizes[0]}}, at[0]);
  builder.input("b", type, {{sizes[1]}}, at[1]);
  builder.input("bias", out, {{sizes[2]}}, at[2]);
  builder.result("c", out, {{sizes[3]}}, at[3]);
  plan::GemmT gemm;
  gemm.type = type;
  gemm.out_type = out;
  gemm.batch = test.batch;
  gemm.m = test.m;
  gemm.n = test.n;
  gemm.k = test.k;
  gemm.a = view(at[0], sizes[0] * element);
  gemm.b = view(at[1], sizes[1] * element);
  gemm.c = view(at[3], sizes[3] * outElement);
  if (epilogue.hasBias || epilogue.twice)
    gemm.bias = view(at[2], sizes[2] * outElement);
  gemm.activation = epilogue.activation;
  gemm.a_strides.assign(test.a.begin(), test.a.end());
  gemm.b_strides.assign(test.b.begin(), test.b.end());
  gemm.c_strides.assign(test.c.begin(), test.c.end());
  builder.add(plan::GemmT(gemm));
  gemm.onto = true;
  gemm.bias.reset();
  if (epilogue.twice)
    builder.add(std::move(gemm));
  Runner runner(builder.target(target), threads);
  ASSERT_EQ(runner.open(runner.options), "");

  std::vector<uint8_t> data[4];
  sprt_array in[3], result;
  for (int operand = 0; operand < 4; ++operand) {
    bool wide = operand >= 2 ? outElement == 4 : element == 4;
    data[operand].resize(static_cast<size_t>(sizes[operand] * (wide ? 4 : 2)));
    for (int64_t i = 0; i < sizes[operand]; ++i) {
      float value = pattern(i + operand);
      uint16_t narrow = floatToBf16(value);
      std::memcpy(data[operand].data() + i * (wide ? 4 : 2),
                  wide ? static_cast<void *>(&value) : &narrow, wide ? 4 : 2);
    }
    (operand < 3 ? in[operand] : result) = {
        sizeof(sprt_array), static_cast<sprt_dtype>(operand < 2 ? type : out),
        1, &sizes[operand], data[operand].data()};
  }
  std::string failure =
      take(sprt_session_run(runner.session, in, 3, &result, 1));
  ASSERT_EQ(failure, "");
  for (int64_t b = 0; b < test.batch; ++b)
    for (int64_t i = 0; i < test.m; ++i)
      for (int64_t j = 0; j < test.n; ++j) {
        double expected = 0;
        for (int64_t k = 0; k < test.k; ++k)
          expected +=
              pattern(b * test.a[0] + i * test.a[1] + k * test.a[2]) *
              pattern(b * test.b[0] + k * test.b[1] + j * test.b[2] + 1);
        int64_t element = b * test.c[0] + i * test.c[1] + j * test.c[2];
        expected = epilogue.apply(expected, j);
        double got = sprt_array_element(result.dtype, result.data, element);
        ASSERT_NEAR(got, expected, tolerance * static_cast<double>(test.k))
            << b << "," << i << "," << j;
      }
}

TEST_P(GemmTest, f32) {
  runCase(GetParam(), plan::DType::f32, plan::DType::f32, 1, 1e-6);
}
TEST_P(GemmTest, f32OnThreeThreads) {
  runCase(GetParam(), plan::DType::f32, plan::DType::f32, 3, 1e-6);
}
TEST_P(GemmTest, bf16) {
  runCase(GetParam(), plan::DType::bf16, plan::DType::bf16, 1, 4e-3);
}
TEST_P(GemmTest, bf16ToF32) {
  runCase(GetParam(), plan::DType::bf16, plan::DType::f32, 2, 1e-6);
}
TEST_P(GemmTest, onTheEmulatedDevice) {
  runCase(GetParam(), plan::DType::bf16, plan::DType::f32, 1, 1e-6, {},
          plan::Target::cuda);
}
TEST_P(GemmTest, addsBiases) {
  runCase(GetParam(), plan::DType::bf16, plan::DType::f32, 3, 1e-6, {true});
}
TEST_P(GemmTest, addsBiasesAndAppliesRelu) {
  runCase(GetParam(), plan::DType::f32, plan::DType::f32, 3, 1e-6,
          {true, plan::Activation::relu});
}
TEST_P(GemmTest, addsToWhatIsThere) {
  runCase(GetParam(), plan::DType::f32, plan::DType::f32, 3, 2e-6,
          {false, plan::Activation::none, true});
}
TEST_P(GemmTest, addsNarrowProductsToWhatIsThere) {
  runCase(GetParam(), plan::DType::bf16, plan::DType::f32, 1, 2e-6,
          {false, plan::Activation::none, true}, plan::Target::cuda);
}
TEST_P(GemmTest, appliesGelu) {
  runCase(GetParam(), plan::DType::f32, plan::DType::f32, 1, 2e-6,
          {false, plan::Activation::gelu});
}
TEST_P(GemmTest, addsBiasesAndAppliesGeluOnTheEmulatedDevice) {
  runCase(GetParam(), plan::DType::bf16, plan::DType::bf16, 1, 4e-3,
          {true, plan::Activation::gelu}, plan::Target::cuda);
}

const Case kCases[] = {
    {"plain", 1, 130, 24, 33, {0, 33, 1}, {0, 24, 1}, {0, 24, 1}},
    {"oneRow", 1, 1, 24, 33, {0, 33, 1}, {0, 24, 1}, {0, 24, 1}},
    {"oneColumn", 1, 40, 1, 33, {0, 33, 1}, {0, 1, 1}, {0, 1, 1}},
    {"oneInner", 1, 40, 8, 1, {0, 1, 1}, {0, 8, 1}, {0, 8, 1}},
    {"bTransposed", 1, 70, 24, 33, {0, 33, 1}, {0, 1, 33}, {0, 24, 1}},
    {"aTransposed", 1, 70, 24, 33, {0, 1, 70}, {0, 24, 1}, {0, 24, 1}},
    {"batched", 5, 17, 8, 9, {17 * 9, 9, 1}, {9 * 8, 8, 1}, {17 * 8, 8, 1}},
    {"sharedWeights", 4, 32, 8, 9, {32 * 9, 9, 1}, {0, 8, 1}, {32 * 8, 8, 1}},
    {"sharedWeightsApart",
     4,
     32,
     8,
     9,
     {40 * 9, 9, 1},
     {0, 8, 1},
     {40 * 8, 8, 1}},
    {"headsInRows", 3, 20, 20, 16, {16, 48, 1}, {16, 1, 48}, {400, 20, 1}},
    {"wideRows", 1, 33, 8, 12, {0, 64, 1}, {0, 100, 1}, {0, 32, 1}},
};

INSTANTIATE_TEST_SUITE_P(Shapes, GemmTest, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
} // namespace sprt::test
