#include "sp/IR/RankIndices.h"

#include "sp/IR/AffineEvaluation.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sp;

int64_t RankIndices::coordinate(AxisAttr axis) {
  MeshOp::Factor factor = *mesh.findFactor(axis);
  return rank / factor.stride % factor.size;
}

int64_t RankIndices::evaluate(Value index) {
  auto known = counters.find(index);
  if (known != counters.end())
    return known->second;
  Operation *op = index.getDefiningOp();
  if (auto rank = dyn_cast<RankOp>(op))
    return coordinate(rank.getAxis());
  if (auto size = dyn_cast<GroupSizeOp>(op))
    return groupOf(size.getLayout());
  if (auto source = dyn_cast<GroupSourceOp>(op)) {
    int64_t size = groupOf(source.getLayout()),
            steps = evaluate(source.getSteps());
    return ((owner(source.getLayout()) - steps) % size + size) % size;
  }
  if (auto number = dyn_cast<arith::ConstantIndexOp>(op))
    return number.value();
  auto apply = cast<affine::AffineApplyOp>(op);
  SmallVector<int64_t> operands;
  for (Value operand : apply.getMapOperands())
    operands.push_back(evaluate(operand));
  return *sp::evaluate(apply.getAffineMap(), operands);
}

SmallVector<int64_t> mlir::sp::groupSizesToProve(ModuleOp module,
                                                 int64_t most) {
  int64_t owners = 0;
  module.walk([&](GroupSizeOp op) {
    owners = std::max(owners, op.getLayout().getRanks());
  });
  if (owners == 0)
    return {0};
  SmallVector<int64_t> sizes =
      llvm::to_vector(llvm::seq_inclusive<int64_t>(1, std::min(most, owners)));
  if (owners > most)
    sizes.push_back(owners);
  return sizes;
}
