//===- RankInvariance.cpp - What every rank computes alike ----------------===//

#include "Turns/RankInvariance.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

RankInvariance::RankInvariance(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    auto sharding =
        func.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kSharding);
    if (!sharding || !sharding.isReplicated())
      differ(argument);
  }
  do {
    changed = false;
    func.walk([&](Operation *op) { visit(op); });
  } while (changed);
}

void RankInvariance::visit(Operation *op) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    for (unsigned index = 0; index < loop->getNumOperands(); ++index) {
      Carried carried{loop, index};
      if (isAlike(carried.init()) && isAlike(carried.yielded().get()))
        continue;
      differ(carried.argument());
      differ(carried.result());
      differ(loop.getCond().front().getArgument(index));
    }
    return;
  }
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (auto [operand, result] :
         llvm::zip_equal(op->getOperands(), op->getResults()))
      if (!isAlike(operand))
        differ(result);
    return;
  }
  // Which ranks a reduction leaves out is not looked into.
  if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    MeshOp mesh = getMesh(op->getParentOfType<ModuleOp>());
    if (static_cast<int64_t>(reduce.getRanks()) == mesh.getRanks())
      return;
  }
  bool reads =
      op->hasTrait<OpTrait::IsTerminator>() ||
      (isa_and_nonnull<SpDialect>(op->getDialect()) && op->getNumResults() > 0);
  forEachRead(op, [&](Value value) { reads |= !isAlike(value); });
  if (reads)
    for (Value result : op->getResults())
      differ(result);
}
