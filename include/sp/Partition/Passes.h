/// Partition: global shapes to one program for every rank.
#ifndef SP_PARTITION_PASSES_H
#define SP_PARTITION_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

namespace mlir::sp {

#define GEN_PASS_DECL
#include "sp/Partition/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "sp/Partition/Passes.h.inc"

/// Adds the stage: resolve donations, deal parameters, propagate, localize,
/// clean up, verify.
void buildPartitionPipeline(OpPassManager &pm,
                            const PropagateShardingsPassOptions &options = {},
                            const DealParametersPassOptions &parameters = {});
void registerPartitionPipeline();

/// Cuts the batch of an imported program into micro-batches that run in turn,
/// one update behind them: what a loop over them in the model would be.
void buildAccumulatePipeline(OpPassManager &pm, int64_t microBatches);
void registerAccumulatePipeline();

} // namespace mlir::sp

#endif // SP_PARTITION_PASSES_H
