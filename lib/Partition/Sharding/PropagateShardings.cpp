//===- PropagateShardings.cpp - From attention to inputs and results ------===//
//
//   before   %y = add %x, %b : 1x4096x512       %o = sp.attention(%q, ...)
//   after    %y = add ... {sp.shardings = [<[[1], [4096 by ...], [512]]>]}
//
// Attentions deal first; what the user wrote on arguments is kept, and spreads
// to what attentions did not reach; constraints and results come last. A
// donated argument and its result, which feeds it, follow each other.
//
//===----------------------------------------------------------------------===//

#include "Sharding/CheckInput.h"
#include "Sharding/Seeds.h"
#include "sp/IR/Attributes.h"
#include "sp/Partition/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_PROPAGATESHARDINGSPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct PropagateShardingsPass
    : mlir::sp::impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  using PropagateShardingsPassBase::PropagateShardingsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) {
      getOperation().emitError()
          << "expected a mesh; run sp-plan-pipeline first";
      return signalPassFailure();
    }
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func) || failed(checkInput(*func)))
      return signalPassFailure();
    separateUses(*func);
    ShardingPropagation propagation(*func);
    if (failed(Seeds(*func, mesh).spread(shard, propagation)) ||
        failed(checkRows(*func, propagation)))
      return signalPassFailure();
    annotate(*func, propagation);
  }

  /// What the user decided deals rows by their documents as well.
  LogicalResult checkRows(func::FuncOp func, ShardingPropagation &propagation) {
    for (BlockArgument argument : func.getArguments())
      if (!propagation.isDealtByItsRow(argument))
        return emitError(argument.getLoc())
               << "expected argument " << argument.getArgNumber()
               << " whole, or rows of the batch of which each turn takes its "
                  "own, where --tokens-per-rank deals each row by its "
                  "documents, but it is dealt; leave out its --shard or "
                  "sharding";
    return success();
  }

  void annotate(func::FuncOp func, ShardingPropagation &propagation) {
    auto sharding = [&](Value value) {
      return ShardingAttr::get(&getContext(), propagation.dimsOf(value));
    };
    for (BlockArgument argument : func.getArguments())
      func.setArgAttr(argument.getArgNumber(), kSharding, sharding(argument));
    for (Operation *op : propagation.operations()) {
      SmallVector<Attribute> results;
      for (Value result : op->getResults())
        results.push_back(sharding(result));
      if (llvm::any_of(results, [](Attribute attr) {
            return !cast<ShardingAttr>(attr).isReplicated();
          }))
        op->setAttr(kShardings, ArrayAttr::get(&getContext(), results));
    }
  }
};

} // namespace
