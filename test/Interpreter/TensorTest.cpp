//===- TensorTest.cpp - Values and their bytes ----------------------------===//
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "sp/Interpreter/TensorBytes.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::interpreter;

namespace {
class TensorBytes : public ::testing::Test {
protected:
  /// Every pattern of a 16-bit type comes back, NaN as some NaN.
  void roundTripAll(Type element) {
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i)
      bits[i] = uint16_t(i);
    std::vector<char> bytes(2 * bits.size());
    std::memcpy(bytes.data(), bits.data(), bytes.size());
    auto type = RankedTensorType::get({65536}, element);
    Tensor tensor = tensorFromBytes(type, bytes);
    std::vector<char> back = bytesOf(tensor);
    for (size_t i = 0; i < bits.size(); ++i) {
      uint16_t value;
      std::memcpy(&value, &back[2 * i], 2);
      if (!std::isnan(tensor.at<double>(int64_t(i))))
        ASSERT_EQ(value, bits[i]);
    }
  }

  MLIRContext context;
  Builder builder{&context};
};
} // namespace

TEST_F(TensorBytes, ComeBackForNarrowFloats) {
  roundTripAll(builder.getBF16Type());
  roundTripAll(builder.getF16Type());
}

TEST_F(TensorBytes, AreRoundedToNearestEven) {
  Tensor tensor(RankedTensorType::get({4}, builder.getBF16Type()));
  auto values = tensor.mutableElements<double>();
  values[0] = 1 + 1.0 / 256; // Halfway: down to even.
  values[1] = 1 + 3.0 / 256; // Halfway: up to even.
  values[2] = 3.4e38;        // Above the largest bf16.
  values[3] = -1e-45;
  std::vector<char> bytes = bytesOf(tensor);
  uint16_t bits[4];
  std::memcpy(bits, bytes.data(), sizeof(bits));
  EXPECT_EQ(bits[0], 0x3f80);
  EXPECT_EQ(bits[1], 0x3f82);
  EXPECT_EQ(bits[2], 0x7f80);
  EXPECT_EQ(bits[3], 0x8000);
}

TEST_F(TensorBytes, KeepSignsOfIntegers) {
  std::vector<char> bytes = {char(0xff), char(0x80), 0x7f};
  auto signedType = RankedTensorType::get({3}, builder.getI8Type());
  auto unsignedType =
      RankedTensorType::get({3}, builder.getIntegerType(8, false));
  EXPECT_EQ(tensorFromBytes(signedType, bytes).elements<int64_t>(),
            ArrayRef<int64_t>({-1, -128, 127}));
  EXPECT_EQ(tensorFromBytes(unsignedType, bytes).elements<uint64_t>(),
            ArrayRef<uint64_t>({255, 128, 127}));
  EXPECT_EQ(bytesOf(tensorFromBytes(signedType, bytes)), bytes);
}

TEST(Tensor, CopiesShareUntilWritten) {
  MLIRContext context;
  Tensor first = Tensor::splat<double>(
      RankedTensorType::get({2}, Float64Type::get(&context)), 1);
  Tensor second = first;
  EXPECT_EQ(first.data(), second.data());
  second.mutableElements<double>()[0] = 5;
  EXPECT_EQ(first.at<double>(0), 1);
  EXPECT_EQ(second.at<double>(0), 5);
  EXPECT_EQ(second.at<double>(1), 1);
}

TEST(Tensor, GivesMemoryAwayOnlyWhenAlone) {
  MLIRContext context;
  auto type = RankedTensorType::get({2}, Float64Type::get(&context));
  Tensor first = Tensor::splat<double>(type, 1);
  const void *memory = first.data();
  Tensor taken = first.takeFor(type);
  EXPECT_EQ(taken.data(), memory);
  EXPECT_FALSE(first);
  Tensor other = taken;
  EXPECT_NE(taken.takeFor(type).data(), memory);
  EXPECT_TRUE(taken);
}

TEST(Tensor, KnowsWhatIsEvaluated) {
  MLIRContext context;
  Builder builder(&context);
  EXPECT_EQ(storageOf(builder.getI1Type()), Storage::Bool);
  EXPECT_EQ(storageOf(builder.getI32Type()), Storage::Signed);
  EXPECT_EQ(storageOf(builder.getIntegerType(16, false)), Storage::Unsigned);
  EXPECT_EQ(storageOf(builder.getType<Float8E4M3FNType>()), Storage::Float);
  EXPECT_EQ(storageOf(ComplexType::get(builder.getF32Type())),
            Storage::Complex);
  EXPECT_EQ(storageOf(builder.getIndexType()), std::nullopt);
  EXPECT_EQ(storageOf(builder.getIntegerType(128)), std::nullopt);
}
