//===- RankInvariance.cpp - What every rank computes alike ----------------===//

#include "Turns/RankInvariance.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

RankInvariance::RankInvariance(func::FuncOp func) { run(func); }

RankInvariance::RankInvariance(func::FuncOp func, AxisAttr axis) : axis(axis) {
  run(func);
}

/// Whether an attribute names the axis or a part of it.
static bool names(Attribute attr, AxisAttr axis) {
  return attr
      .walk([&](AxisAttr other) {
        return other.overlaps(axis) ? WalkResult::interrupt()
                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

void RankInvariance::run(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    auto sharding =
        func.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kSharding);
    if (!sharding || (axis ? names(sharding, axis) : !sharding.isReplicated()))
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
  if (makesAlike(op))
    return;
  bool reads = op->hasTrait<OpTrait::IsTerminator>() || tellsApart(op);
  forEachRead(op, [&](Value value) { reads |= !isAlike(value); });
  if (reads)
    for (Value result : op->getResults())
      differ(result);
}

bool RankInvariance::tellsApart(Operation *op) const {
  if (!axis)
    return isa_and_nonnull<SpDialect>(op->getDialect()) &&
           op->getNumResults() > 0;
  return op
      ->walk([&](Operation *inner) {
        return names(inner->getAttrDictionary(), axis) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

bool RankInvariance::makesAlike(Operation *op) const {
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return axis && gather.getLayout().getAxis() == axis;
  auto reduce = dyn_cast<AllReduceOp>(op);
  if (!reduce)
    return false;
  if (axis)
    return llvm::is_contained(reduce.getAxes().getAxes(), axis);
  // Which ranks a reduction leaves out is not looked into.
  MeshOp mesh = getMesh(op->getParentOfType<ModuleOp>());
  return static_cast<int64_t>(reduce.getRanks()) == mesh.getRanks();
}
