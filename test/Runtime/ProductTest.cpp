// Products on GPUs: what we tell cuBLASLt gives what the CPU computes.

#include "OnFakeDriver.h"
#include "device/CublasLt.h"
#include "device/Device.h"
#include "support/Types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace sprt::test {
namespace {

using plan::DType;
using Strides = std::vector<int64_t>;

int64_t sizeOf(DType type) { return type == DType::f32 ? 4 : 2; }

/// Elements that a matrix of these strides spans.
int64_t span(int64_t batch, int64_t rows, int64_t columns,
             const Strides &strides) {
  return (batch - 1) * strides[0] + (rows - 1) * strides[1] +
         (columns - 1) * strides[2] + 1;
}

plan::GemmT product(DType type, DType outType, const Strides &sizes, Strides a,
                    Strides b, Strides c) {
  plan::GemmT gemm;
  gemm.type = type;
  gemm.out_type = outType;
  gemm.batch = sizes[0];
  gemm.m = sizes[1];
  gemm.n = sizes[2];
  gemm.k = sizes[3];
  gemm.a_strides = std::move(a);
  gemm.b_strides = std::move(b);
  gemm.c_strides = std::move(c);
  return gemm;
}

/// Small eighths, whose sums are exact in f32 in any order.
std::vector<std::byte> numbers(DType type, int64_t count,
                               std::mt19937_64 &random) {
  std::vector<std::byte> data(static_cast<size_t>(count * sizeOf(type)));
  for (int64_t i = 0; i < count; ++i) {
    float value = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8;
    uint16_t narrow = floatToBf16(value);
    std::memcpy(&data[static_cast<size_t>(i * sizeOf(type))],
                type == DType::f32 ? static_cast<void *>(&value) : &narrow,
                static_cast<size_t>(sizeOf(type)));
  }
  return data;
}

/// Equal but for the sign of zeros, behind GELU up to what two functions tanh
/// may differ by.
bool areClose(plan::Activation activation, DType type,
              const std::vector<std::byte> &got,
              const std::vector<std::byte> &expected) {
  auto dtype = static_cast<sprt_dtype>(type);
  bool isGelu = activation == plan::Activation::gelu;
  double factor = type == DType::f32 ? 1e-5 : 1.0 / 128;
  for (int64_t i = 0; i < static_cast<int64_t>(got.size()) / sizeOf(type);
       ++i) {
    double wanted = sprt_array_element(dtype, expected.data(), i);
    double distance = sprt_array_element(dtype, got.data(), i) - wanted;
    // False for NaN.
    if (!(std::abs(distance) <=
          (isGelu ? factor * std::abs(wanted) + 1e-6 : 0)))
      return false;
  }
  return true;
}

class Products : public OnFakeDriver {
protected:
  /// On the GPU, from buffers that begin `shift` elements late.
  std::vector<std::byte> onGpu(const plan::GemmT &gemm,
                               const std::vector<std::byte> (&in)[3],
                               std::vector<std::byte> out, int64_t shift) {
    if (!device) {
      EXPECT_FALSE(openDevice("0", device));
      EXPECT_FALSE(device->createStream(0, stream));
    }
    std::byte *data[4];
    int64_t offsets[] = {shift * sizeOf(gemm.type), shift * sizeOf(gemm.type),
                         shift * sizeOf(gemm.out_type),
                         shift * sizeOf(gemm.out_type)};
    const std::vector<std::byte> *from[] = {&in[0], &in[1], &in[2], &out};
    for (int operand = 0; operand < 4; ++operand) {
      auto bytes = static_cast<int64_t>(from[operand]->size());
      EXPECT_FALSE(device->allocate(bytes + offsets[operand], data[operand]));
      data[operand] += offsets[operand];
      EXPECT_FALSE(stream->upload(data[operand], from[operand]->data(), bytes));
    }
    std::byte *bias = gemm.bias ? data[2] : nullptr;
    Status failure = stream->multiply(gemm, {data[0], data[1], bias, data[3]});
    EXPECT_FALSE(failure) << failure->text;
    auto bytes = static_cast<int64_t>(out.size());
    EXPECT_FALSE(stream->copy(denseMessage(out.data(), bytes),
                              denseMessage(data[3], bytes)));
    for (int operand = 0; operand < 4; ++operand)
      device->release(data[operand] - offsets[operand]);
    return out;
  }

  /// A program that multiplies 3x5 by 5x7 on every rank.
  PlanBuilder program(Strides a = {0, 5, 1}) {
    PlanBuilder builder(2);
    int64_t at[] = {builder.arena(15 * 4), builder.arena(35 * 4),
                    builder.arena(21 * 4)};
    builder.input("a", DType::f32, {{3}, {5}}, at[0]);
    builder.input("b", DType::f32, {{5}, {7}}, at[1]);
    builder.result("c", DType::f32, {{3}, {7}}, at[2]);
    plan::GemmT gemm = product(DType::f32, DType::f32, {1, 3, 7, 5},
                               std::move(a), {0, 7, 1}, {0, 7, 1});
    gemm.a = view(at[0], 15 * 4);
    gemm.b = view(at[1], 35 * 4);
    gemm.c = view(at[2], 21 * 4);
    builder.add(std::move(gemm));
    builder.target(plan::Target::cuda);
    addImage(builder, "sm_90a");
    return builder;
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Device::Stream> stream;
};

TEST_F(Products, randomOnesAreThoseOfTheCpu) {
  std::mt19937_64 random(1);
  auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  // Rows or columns are contiguous, the others perhaps apart, a batch behind
  // each other, in each other's rows, or (of b) one matrix.
  auto strides = [&](int64_t batch, int64_t rows, int64_t columns,
                     char operand) {
    bool columnMajor = operand != 'c' && below(2) == 1;
    int64_t width = columnMajor ? rows : columns;
    int64_t lines = columnMajor ? columns : rows;
    int64_t pitch = width + 3 * below(2), stride = lines * pitch + below(5);
    if (below(3) == 0) {
      stride = pitch;
      pitch *= batch;
    }
    if (batch == 1 || (operand == 'b' && below(3) == 0))
      stride = 0;
    Strides result = {stride, pitch, 1};
    if (columnMajor)
      std::swap(result[1], result[2]);
    return result;
  };
  TilePool pool(1);
  for (int round = 0; round < 400; ++round) {
    int64_t batch = below(2) ? 1 : 1 + below(5);
    Strides sizes = {batch, 1 + below(20), 1 + below(20), 1 + below(20)};
    auto [type, outType] = std::array{
        std::pair(DType::f32, DType::f32), std::pair(DType::bf16, DType::bf16),
        std::pair(DType::bf16, DType::f32)}[random() % 3];
    plan::GemmT gemm =
        product(type, outType, sizes, strides(batch, sizes[1], sizes[3], 'a'),
                strides(batch, sizes[3], sizes[2], 'b'),
                strides(batch, sizes[1], sizes[2], 'c'));
    gemm.onto = outType == DType::f32 && below(4) == 0;
    if (!gemm.onto && below(2))
      gemm.bias = std::make_unique<plan::ViewT>();
    if (!gemm.onto)
      gemm.activation = static_cast<plan::Activation>(below(3));
    std::vector<std::byte> in[] = {
        numbers(type, span(batch, sizes[1], sizes[3], gemm.a_strides), random),
        numbers(type, span(batch, sizes[3], sizes[2], gemm.b_strides), random),
        numbers(outType, sizes[2], random)};
    // What lies between rows stays.
    std::vector<std::byte> expected = numbers(
        outType, span(batch, sizes[1], sizes[2], gemm.c_strides), random);
    std::vector<std::byte> got = onGpu(gemm, in, expected, below(3));
    Status failure =
        runGemm(gemm,
                {in[0].data(), in[1].data(), gemm.bias ? in[2].data() : nullptr,
                 expected.data()},
                pool);
    ASSERT_FALSE(failure) << failure->text;
    ASSERT_TRUE(gemm.activation == plan::Activation::none
                    ? got == expected
                    : areClose(gemm.activation, outType, got, expected))
        << "round " << round << ": " << plan::EnumNameDType(type) << ", "
        << batch << " of " << sizes[1] << "x" << sizes[3] << " by " << sizes[3]
        << "x" << sizes[2] << ", then "
        << plan::EnumNameActivation(gemm.activation);
  }
  EXPECT_EQ(products->products, 400);
  uint64_t epilogues = 0;
  for (int each : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
                   CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
                   CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS})
    epilogues |= uint64_t(1) << each;
  EXPECT_EQ(products->epilogues, epilogues);
}

TEST_F(Products, ofOneShapeHaveBiasesOfTheirOwn) {
  plan::GemmT gemm = product(DType::f32, DType::f32, {1, 1, 2, 1}, {0, 1, 1},
                             {0, 2, 1}, {0, 2, 1});
  gemm.bias = std::make_unique<plan::ViewT>();
  gemm.activation = plan::Activation::relu;
  auto bytes = [](std::vector<float> values) {
    const auto *data = reinterpret_cast<const std::byte *>(values.data());
    return std::vector<std::byte>(data, data + values.size() * sizeof(float));
  };
  // Equally aligned, at two addresses.
  for (int64_t shift : {0, 16}) {
    float bias = static_cast<float>(shift + 10);
    EXPECT_EQ(onGpu(gemm, {bytes({2}), bytes({3, -30}), bytes({bias, bias})},
                    bytes({0, 0}), shift),
              bytes({6 + bias, 0}));
  }
  EXPECT_EQ(products->searches, 1);
}

TEST_F(Products, algorithmsAreAskedForOnce) {
  std::vector<float> a(15), b(35), expected(21);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<float>(i % 4);
  for (size_t i = 0; i < 21; ++i)
    for (size_t k = 0; k < 5; ++k)
      expected[i] += a[i / 7 * 5 + k] * b[k * 7 + i % 7];
  Runner runner(program());
  runner.options.device = "0";
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(runner.run({a, b}), "");
    EXPECT_EQ(runner.results[0], expected);
  }
  EXPECT_EQ(products->searches, 1);
  EXPECT_EQ(products->products, 6);
  EXPECT_EQ(products->handles, 1);
}

TEST_F(Products, whatIsFreeSufficesForWorkspaces) {
  expectEnoughMemory(program(),
                     std::vector<std::vector<float>>{std::vector<float>(15),
                                                     std::vector<float>(35)});
  fake->freeBytes = 40 << 20;
  EXPECT_THAT_CONTAINS(open(program()), "of tables, 33554432 for products)");
  EXPECT_THAT_CONTAINS(open(program()), "(Fake), where 1 would fit; compile");
}

TEST_F(Products, whatCublasLtLacksIsRefusedBeforeAnythingRuns) {
  products->refuses = true;
  EXPECT_EQ(open(program()),
            "command 0: cuBLASLt cannot compute this product (1 of f32 to f32, "
            "3x5 at strides 0,5,1 by 5x7 at strides 0,7,1 to 3x7 at strides "
            "0,7,1): fake error (15); run it with --device=emulated");
  PlanBuilder fused = program();
  plan::GemmT &gemm = *fused.plan.commands[0]->operation.AsGemm();
  gemm.bias = view(0, 28);
  gemm.activation = plan::Activation::gelu;
  EXPECT_THAT_CONTAINS(open(fused),
                       "at strides 0,7,1, with a bias, through gelu): fake");
  products->refuses = false;
  PlanBuilder apart = program({0, 2, 2});
  EXPECT_THAT_CONTAINS(open(apart), "3x5 at strides 0,2,2 by");
  EXPECT_THAT_CONTAINS(
      open(apart),
      "): expected operands with contiguous rows "
      "or columns, a result with contiguous rows, and a batch within 32 bits");
  products->version = 111103;
  EXPECT_EQ(open(program()),
            "command 0: expected cuBLASLt 120000 or later but got 111103; "
            "install CUDA's libcublas of version 12 or later");
}

TEST(CublasLt, isMissedByName) {
  Status failure = CublasLt().open({"libabsent.so.13", "libabsent.so.12"});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, SPRT_UNSUPPORTED);
  EXPECT_THAT_CONTAINS(failure->text,
                       "no cuBLASLt for matrix products on this machine "
                       "(libabsent.so.13: cannot open shared object file");
  EXPECT_THAT_CONTAINS(failure->text, "install CUDA's libcublas");
}

} // namespace
} // namespace sprt::test
