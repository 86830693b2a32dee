//===- SinkConstants.cpp - Scalar code with constants of its own ----------===//
//
//   before   %c = constant 0
//            sort(%x) { compare LT, %a, %c }
//   after    sort(%x) { %c = constant 0; compare LT, %a, %c }
//
//===----------------------------------------------------------------------===//

#include "sp/Schedule/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sp {
#define GEN_PASS_DEF_SINKCONSTANTSPASS
#include "sp/Schedule/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;

static void sinkConstants(Region &region) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, region, captured);
  for (Value value : captured) {
    auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
    if (!constant)
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
    replaceAllUsesInRegionWith(value, builder.clone(*constant)->getResult(0),
                               region);
  }
}

namespace {

struct SinkConstantsPass
    : mlir::sp::impl::SinkConstantsPassBase<SinkConstantsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (op->hasTrait<stablehlo::ControlFlow>() || isa<scf::ForOp>(op) ||
          isa<ModuleOp, func::FuncOp>(op))
        return;
      for (Region &region : op->getRegions())
        sinkConstants(region);
    });
  }
};

} // namespace
