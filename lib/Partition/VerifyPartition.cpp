//===- VerifyPartition.cpp - The guard of Partition -----------------------===//

#include "Sharding/CheckInput.h"
#include "sp/IR/Attributes.h"
#include "sp/IR/ShardingRules.h"
#include "sp/Partition/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYPARTITIONPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct VerifyPartitionPass
    : mlir::sp::impl::VerifyPartitionPassBase<VerifyPartitionPass> {
  static LogicalResult checkGone(Operation *op) {
    bool isGone = isa<AttentionOp, AttentionBackwardOp>(op) ||
                  op->hasAttr(kShardings) ||
                  (isa_and_present<sdy::SdyDialect>(op->getDialect()) &&
                   !isa<sdy::MeshOp>(op));
    if (isGone)
      return op->emitOpError() << "expected to be gone after Partition";
    return success();
  }

  static LogicalResult checkReduction(AllReduceOp op, MeshOp mesh) {
    int64_t size = 1;
    for (AxisAttr axis : op.getAxes().getAxes())
      size *= mesh.getAxisSize(axis);
    if (static_cast<int64_t>(op.getRanks()) == size)
      return success();
    return op.emitOpError()
           << "expected the " << size << " ranks of axes "
           << op.getAxes().getText() << " but got " << op.getRanks();
  }

  static LogicalResult checkSharding(func::FuncOp func, Type type,
                                     Attribute attr, StringRef what,
                                     unsigned number) {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!sharding || !tensor ||
        ArrayRef<int64_t>(sharding.getLocalShape()) != tensor.getShape())
      return func.emitOpError() << "expected " << what << " " << number
                                << " to say how it is cut to " << type;
    ArrayRef<DimAttr> dims = sharding.getDims();
    for (; !dims.empty(); dims = dims.drop_front())
      if (sharesAxis(dims.front(), dims.drop_front()))
        return func.emitOpError()
               << "expected " << what << " " << number
               << " to have one dimension cut by an axis but got " << sharding;
    return success();
  }

  static LogicalResult checkDonation(func::FuncOp func, unsigned argument) {
    if (!func.getArgAttr(argument, kDonatedTo))
      return success();
    std::optional<unsigned> result = donatedTo(func, argument);
    if (result && func.getArgAttr(argument, kSharding) ==
                      func.getResultAttr(*result, kSharding))
      return success();
    return func.emitOpError()
           << "expected argument " << argument
           << " to be cut as the result that 'sp.donated_to' names";
  }

  LogicalResult check() {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh)
      return getOperation().emitError() << "expected a mesh after Partition";
    FailureOr<func::FuncOp> program = findProgram(getOperation());
    if (failed(program))
      return failure();
    func::FuncOp func = *program;
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (failed(checkSharding(func, func.getArgumentTypes()[i],
                               func.getArgAttr(i, kSharding), "argument", i)))
        return failure();
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (failed(checkSharding(func, func.getResultTypes()[i],
                               func.getResultAttr(i, kSharding), "result", i)))
        return failure();
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (failed(checkDonation(func, i)))
        return failure();
    bool ok = succeeded(checkLayouts(getOperation()));
    func.walk([&](Operation *op) {
      auto allReduce = dyn_cast<AllReduceOp>(op);
      ok &= succeeded(checkGone(op)) &&
            (!allReduce || succeeded(checkReduction(allReduce, mesh)));
    });
    return success(ok);
  }

  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
  }
};

} // namespace
