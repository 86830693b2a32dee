/// Factors of operations with dimension numbers.
#ifndef SP_LIB_IR_FACTORRULES_H
#define SP_LIB_IR_FACTORRULES_H

#include "sp/IR/ShardingRules.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

/// That an operation makes of its two operands, if it is one.
std::optional<Reduction> reductionBy(Operation *op);

SmallVector<Factor> factorsOf(stablehlo::DotGeneralOp op);
SmallVector<Factor> factorsOf(stablehlo::DotOp op);
SmallVector<Factor> factorsOf(stablehlo::GatherOp op);
SmallVector<Factor> factorsOf(stablehlo::ScatterOp op);
SmallVector<Factor> factorsOf(stablehlo::ConvolutionOp op);

} // namespace mlir::sp

#endif // SP_LIB_IR_FACTORRULES_H
