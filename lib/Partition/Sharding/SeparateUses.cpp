#include "Sharding/Seeds.h"

using namespace mlir;
using namespace mlir::sp;

void mlir::sp::separateUses(func::FuncOp func) {
  SmallVector<Operation *> sources;
  func.walk([&](Operation *op) {
    bool isSplat = isa<stablehlo::BroadcastInDimOp>(op) &&
                   op->getOperand(0).getDefiningOp<stablehlo::ConstantOp>();
    if (op->hasTrait<OpTrait::ConstantLike>() || isa<stablehlo::IotaOp>(op) ||
        isSplat)
      sources.push_back(op);
  });
  for (Operation *op : sources) {
    if (cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0)
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(builder.clone(*op)->getResult(0));
  }
}
