#include "sp/IR/Views.h"

#include "sp/IR/SP.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;

bool mlir::sp::isView(Operation *op) {
  return isa<stablehlo::ReshapeOp, TakeOp>(op);
}

Value mlir::sp::viewedBy(Value value) {
  while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}
