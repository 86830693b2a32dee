//===- RoundingErrorsTest.cpp - Errors beside values ----------------------===//
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "sp/Interpreter/Interpreter.h"
#include "sp/StableHLO/StableHLO.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::interpreter;

namespace {
constexpr double kUnit = 0x1p-24, kBFloatUnit = 0x1p-8;

class RoundingErrors : public ::testing::Test {
protected:
  RoundingErrors() : context(registry()) {}

  static DialectRegistry registry() {
    DialectRegistry registry;
    sp::registerInputDialects(registry);
    return registry;
  }

  /// Errors of the only result of a body on arguments of f32.
  std::vector<double> errors(StringRef text, ArrayRef<Tensor> arguments) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EvaluationOptions options;
    options.precision = Precision::Program;
    options.errors = true;
    FailureOr<SmallVector<Tensor>> results = evaluateFunction(
        module->lookupSymbol<func::FuncOp>("main"), arguments, options);
    EXPECT_TRUE(succeeded(results));
    if (failed(results))
      return {};
    const Tensor &result = results->front();
    if (!result.getErrors())
      return std::vector<double>(result.size(), 0.0);
    return result.getErrors()->elements<double>().vec();
  }

  Tensor floats(ArrayRef<int64_t> shape, ArrayRef<double> values) {
    Tensor tensor(RankedTensorType::get(shape, Float32Type::get(&context)));
    MutableArrayRef<double> elements = tensor.mutableElements<double>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = float(values[i]);
    return tensor;
  }

  Tensor doubles(ArrayRef<double> values) {
    Tensor tensor(RankedTensorType::get({int64_t(values.size())},
                                        Float64Type::get(&context)));
    llvm::copy(values, tensor.mutableElements<double>().begin());
    return tensor;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(RoundingErrors, OfSumsFollowTheirOwnTerms) {
  std::vector<double> of =
      errors(R"(
    func.func @main(%x: tensor<2x4xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
        : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
             {floats({2, 4}, {1e6, -1e6, 1e6, -1e6, 0.5, 0.25, -0.5, 0.125}),
              floats({4}, {1, 1, 1, 1})});
  // Large terms that cancel, beside small ones in the same tensor.
  EXPECT_DOUBLE_EQ(of[0], 4e6 * kUnit);
  EXPECT_NEAR(of[1], std::hypot(1.375, 0.375) * kUnit, 1e-12);
}

TEST_F(RoundingErrors, FollowSlopesOfFunctions) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.multiply %x, %x : tensor<2xf32>
      %1 = stablehlo.exponential %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    })",
                                  {floats({2}, {0.1, 5.1})});
  const double at[] = {0.1, 5.1};
  for (int i : {0, 1}) {
    double square = at[i] * at[i], units = std::hypot(square, 4);
    EXPECT_NEAR(of[i] / (units * std::exp(square) * kUnit), 1, 1e-4);
  }
}

TEST_F(RoundingErrors, FollowSlopesAtZero) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<1xf64>) -> tensor<1xf64> {
      %0 = stablehlo.sqrt %x : tensor<1xf64>
      %1 = stablehlo.subtract %0, %0 : tensor<1xf64>
      %2 = stablehlo.exponential %1 : tensor<1xf64>
      return %2 : tensor<1xf64>
    })",
                                  {doubles({2e8})});
  EXPECT_NEAR(of[0] / (2e4 * 0x1p-53), 1, 1e-3);
}

TEST_F(RoundingErrors, AreJumpsThatRoundingMayDecide) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.sqrt %x : tensor<2xf32>
      %1 = stablehlo.floor %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    })",
                                  {floats({2}, {4.0000005, 5})});
  EXPECT_EQ(of, (std::vector<double>{1, 0}));
}

TEST_F(RoundingErrors, CountEachUseOfAValue) {
  // x/3 - (x/3) * 1 is nothing, but not where a kernel divides twice.
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %three = stablehlo.constant dense<3.0> : tensor<1xf32>
      %one = stablehlo.constant dense<1.0> : tensor<1xf32>
      %0 = stablehlo.divide %x, %three : tensor<1xf32>
      %1 = stablehlo.multiply %0, %one : tensor<1xf32>
      %2 = stablehlo.subtract %0, %1 : tensor<1xf32>
      return %2 : tensor<1xf32>
    })",
                                  {floats({1}, {1})});
  EXPECT_NEAR(of[0], std::sqrt(2.0) / 3 * kUnit, 1e-12);
}

TEST_F(RoundingErrors, MoveWithElementsAndThroughLoops) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %root = stablehlo.sqrt %x : tensor<2xf32>
      %0:2 = stablehlo.while(%i = %zero, %y = %root) : tensor<i32>, tensor<2xf32>
        cond {
          %limit = stablehlo.constant dense<3> : tensor<i32>
          %more = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %i, %one : tensor<i32>
          %turned = stablehlo.reverse %y, dims = [0] : tensor<2xf32>
          stablehlo.return %next, %turned : tensor<i32>, tensor<2xf32>
        }
      return %0#1 : tensor<2xf32>
    })",
                                  {floats({2}, {2, 200})});
  EXPECT_NEAR(of[0], std::sqrt(200) * kUnit, 1e-12);
  EXPECT_NEAR(of[1], std::sqrt(2) * kUnit, 1e-12);
}

TEST_F(RoundingErrors, AreThoseOfTheLargestElement) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<f32> {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.cbrt %x : tensor<3xf32>
      %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [0]
        : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    })",
                                  {floats({3}, {-1e9, 2, 1})});
  EXPECT_NEAR(of[0], 4 * std::cbrt(2.0) * kUnit, 1e-11);
}

TEST_F(RoundingErrors, OfSumsAreThoseOfBothSides) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.sqrt %x : tensor<1xf32>
      %1 = stablehlo.subtract %0, %0 : tensor<1xf32>
      %2 = stablehlo.add %1, %y : tensor<1xf32>
      return %2 : tensor<1xf32>
    })",
                                  {floats({1}, {2}), floats({1}, {1e-20})});
  EXPECT_NEAR(of[0], 2 * kUnit, 1e-12);
}

TEST_F(RoundingErrors, AreNothingWhereSomethingIsSwallowed) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %low = stablehlo.constant dense<-1.0e9> : tensor<2xf32>
      %0 = stablehlo.sqrt %x : tensor<2xf32>
      %1 = stablehlo.add %0, %low : tensor<2xf32>
      return %1 : tensor<2xf32>
    })",
                                  {floats({2}, {3, 3e9})});
  EXPECT_EQ(of[0], 0);
  EXPECT_GT(of[1], 10);
}

TEST_F(RoundingErrors, AreOfNoNumberThatIsNone) {
  std::vector<double> of = errors(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.log %x : tensor<3xf32>
      %1 = stablehlo.multiply %0, %0 : tensor<3xf32>
      return %1 : tensor<3xf32>
    })",
                                  {floats({3}, {0, -1, 1e-30})});
  EXPECT_EQ(of[0], 0);
  EXPECT_EQ(of[1], 0);
  EXPECT_GT(of[2], 0);
}

TEST_F(RoundingErrors, OfProductsByBFloatRoundTheOtherSide) {
  Tensor narrow(RankedTensorType::get({1, 1, 1}, BFloat16Type::get(&context)));
  narrow.mutableElements<double>()[0] = 3;
  for (bool isWide : {false, true}) {
    std::string type = isWide ? "f32" : "bf16";
    std::string text = R"(
      func.func @main(%x: tensor<1x1x1xf32>, %y: tensor<1x1x1xTYPE>) -> tensor<1x1x1xf32> {
        %0 = stablehlo.convert %y : (tensor<1x1x1xTYPE>) -> tensor<1x1x1xf32>
        %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1]
          : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
        return %1 : tensor<1x1x1xf32>
      })";
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;)
      text.replace(at, 4, type);
    std::vector<double> of =
        errors(text, {floats({1, 1, 1}, {0.1}),
                      isWide ? floats({1, 1, 1}, {3}) : narrow});
    double expected = isWide ? std::sqrt(2.0) * kUnit : kBFloatUnit;
    EXPECT_NEAR(of[0] / (0.3 * expected), 1, 1e-6);
  }
}
