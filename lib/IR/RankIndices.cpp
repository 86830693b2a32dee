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
  if (auto number = dyn_cast<arith::ConstantIndexOp>(op))
    return number.value();
  auto apply = cast<affine::AffineApplyOp>(op);
  SmallVector<int64_t> operands;
  for (Value operand : apply.getMapOperands())
    operands.push_back(evaluate(operand));
  return *sp::evaluate(apply.getAffineMap(), operands);
}
