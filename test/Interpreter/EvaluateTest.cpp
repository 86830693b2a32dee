//===- EvaluateTest.cpp - The evaluator as a library ----------------------===//
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "sp/Interpreter/Interpreter.h"
#include "sp/StableHLO/StableHLO.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::interpreter;

namespace {
class Evaluate : public ::testing::Test {
protected:
  Evaluate() : context(registry()) {}

  static DialectRegistry registry() {
    DialectRegistry registry;
    sp::registerInputDialects(registry);
    return registry;
  }

  func::FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    return module->lookupSymbol<func::FuncOp>("main");
  }

  Tensor floats(ArrayRef<double> values) {
    Tensor tensor(RankedTensorType::get({int64_t(values.size())},
                                        Float32Type::get(&context)));
    llvm::copy(values, tensor.mutableElements<double>().begin());
    return tensor;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(Evaluate, LeavesArgumentsAsTheyWere) {
  func::FuncOp function = parse(R"(
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = stablehlo.add %x, %x : tensor<3xf32>
      %1 = stablehlo.multiply %0, %0 : tensor<3xf32>
      return %x, %1 : tensor<3xf32>, tensor<3xf32>
    })");
  Tensor x = floats({1, 2, 3});
  FailureOr<SmallVector<Tensor>> results = evaluateFunction(function, {x});
  ASSERT_TRUE(succeeded(results));
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ(x.elements<double>(), ArrayRef<double>({1, 2, 3}));
  EXPECT_EQ((*results)[0].elements<double>(), ArrayRef<double>({1, 2, 3}));
  EXPECT_EQ((*results)[1].elements<double>(), ArrayRef<double>({4, 16, 36}));
  EXPECT_EQ((*results)[1].getType(), x.getType());
}

TEST_F(Evaluate, RoundsInTheProgramsTypesOnly) {
  func::FuncOp function = parse(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.sqrt %x : tensor<1xf32>
      return %0 : tensor<1xf32>
    })");
  Tensor x = floats({2});
  EvaluationOptions options;
  FailureOr<SmallVector<Tensor>> raised =
      evaluateFunction(function, {x}, options);
  options.precision = Precision::Program;
  FailureOr<SmallVector<Tensor>> own = evaluateFunction(function, {x}, options);
  ASSERT_TRUE(succeeded(raised) && succeeded(own));
  EXPECT_EQ(raised->front().at<double>(), std::sqrt(2.0));
  EXPECT_EQ(own->front().at<double>(), double(std::sqrt(2.0f)));
}

TEST_F(Evaluate, RefusesArgumentsOfOtherTypes) {
  func::FuncOp function = parse(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      return %x : tensor<3xf32>
    })");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(evaluateFunction(function, {floats({1, 2})})));
  EXPECT_EQ(message, "'func.func' op expected argument 0 of type "
                     "'tensor<3xf32>' but got 'tensor<2xf32>'");
  EXPECT_TRUE(failed(evaluateFunction(function, {})));
  EXPECT_EQ(message, "'func.func' op expected 1 arguments but got 0");
}

TEST_F(Evaluate, RefusesTensorsAboveTheLimit) {
  func::FuncOp function = parse(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<100x3xf32> {
      %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<100x3xf32>
      return %0 : tensor<100x3xf32>
    })");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EvaluationOptions options;
  options.memoryLimitBytes = Tensor::liveBytes() + 1000;
  EXPECT_TRUE(failed(evaluateFunction(function, {floats({1, 2, 3})}, options)));
  EXPECT_TRUE(llvm::StringRef(message).starts_with(
      "expected results of types ('tensor<100x3xf32>') to fit in memory, "))
      << message;
  EXPECT_TRUE(llvm::StringRef(message).contains("but they take 2400 beside"))
      << message;
}

TEST_F(Evaluate, RefusesValuesTooLargeTogether) {
  func::FuncOp function = parse(R"(
    func.func @main() -> tensor<100xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<100xf32>
      %1 = stablehlo.iota dim = 0 : tensor<100xf32>
      %2 = stablehlo.add %0, %1 : tensor<100xf32>
      return %2 : tensor<100xf32>
    })");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EvaluationOptions options;
  options.memoryLimitBytes = Tensor::liveBytes() + 1000;
  EXPECT_TRUE(failed(evaluateFunction(function, {}, options)));
  EXPECT_TRUE(
      llvm::StringRef(message).contains("('tensor<100xf32>') to fit in memory"))
      << message;
  options.memoryLimitBytes = Tensor::liveBytes() + 3000;
  EXPECT_TRUE(succeeded(evaluateFunction(function, {}, options)));
}

TEST_F(Evaluate, EvaluatesOneOperation) {
  func::FuncOp function = parse(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.negate %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    })");
  Operation *negate = &function.getBody().front().front();
  FailureOr<SmallVector<Tensor>> results =
      evaluateOperation(negate, {floats({1, -2, 3})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(results->front().elements<double>(), ArrayRef<double>({-1, 2, -3}));
}
