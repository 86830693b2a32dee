// Instructions of a step of the forward kernel, as ptxas makes them: a change
// either way, of ours or of the assembler's, is written into this table.

#include "CUDA/CubinCheck.h"
#include "CUDA/CudaCompiler.h"
#include "CUDA/CudaKernels.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

struct Step {
  sprt::cuda::ForwardShape shape;
  /// Without products, and those of the unit for powers, which all come before
  /// the wait for the product with values.
  int64_t instructions, powers;
};

constexpr Step kSteps[] = {
    {{128, 128, 176, 2, 2, true}, 581, 90},
    {{128, 128, 128, 2, 2, true}, 456, 66},
    {{128, 128, 192, 2, 2, true}, 621, 98},
    {{64, 64, 128, 3, 2, true}, 416, 66},
    {{256, 256, 80, 2, 2, false}, 450, 42},
};

class CudaSteps : public testing::TestWithParam<Step> {};

TEST_P(CudaSteps, have_the_instructions_of_the_table) {
  const Step &step = GetParam();
  MLIRContext context;
  CudaAttention attention;
  attention.elementType = BFloat16Type::get(&context);
  attention.shape = step.shape;
  std::string name = cudaAttentionName(attention), error;
  CudaOutput image;
  if (findLibdevice().empty())
    GTEST_SKIP() << "no nvcc";
  ASSERT_TRUE(succeeded(
      compileCuda(cudaSource(attention), CudaForm::Image, {}, image, error)))
      << error;
  FailureOr<CubinCensus> census = takeCensus(image.bytes, name, error);
  ASSERT_TRUE(succeeded(census)) << error;
  EXPECT_EQ(census->stepInstructions, step.instructions);
  EXPECT_EQ(census->stepPowers, step.powers);
  EXPECT_EQ(census->overlappedPowers, step.powers);
  EXPECT_EQ(census->localAccesses, 0);
  EXPECT_TRUE(census->hazards.empty()) << census->hazards.front();
  EXPECT_EQ(census->overSubscription(), "");
  EXPECT_NE(image.log.find(" 0 bytes spill stores"), std::string::npos);
  EXPECT_EQ(image.log.find("(C75"), std::string::npos) << image.log;
}

INSTANTIATE_TEST_SUITE_P(Tiles, CudaSteps, testing::ValuesIn(kSteps),
                         [](const testing::TestParamInfo<Step> &step) {
                           return "d" +
                                  std::to_string(step.param.shape.headSize) +
                                  "k" +
                                  std::to_string(step.param.shape.keyBlock);
                         });

} // namespace
