//===- Localize.cpp - One program for every rank --------------------------===//
//
//   before   func @main(%x: tensor<1x4096x512xf32> {sp.sharding = <[[1], [4096
//   by ...], [512]]>}) after    func @main(%x: tensor<1x1024x512xf32>
//   {sp.sharding = ...}) -> (... {sp.sharding = ...})
//
//===----------------------------------------------------------------------===//

#include "Localizer.h"
#include "sp/Partition/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {
#define GEN_PASS_DEF_LOCALIZEPASS
#define GEN_PASS_DEF_VERIFYPARTITIONPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct LocalizePass : mlir::sp::impl::LocalizePassBase<LocalizePass> {
  void runOnOperation() override {
    auto func = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!func)
      return;
    OpBuilder builder(func);
    auto local = func::FuncOp::create(builder, func.getLoc(), func.getName(),
                                      func.getFunctionType());
    local->setAttrs(func->getAttrDictionary());
    Block *body = builder.createBlock(&local.getBody());
    Localizer localizer(builder);
    SmallVector<Type> inputs, results;
    for (BlockArgument argument : func.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      auto sharding = func.getArgAttrOfType<ShardingAttr>(
          argument.getArgNumber(), "sp.sharding");
      if (!sharding)
        sharding = ShardingAttr::getReplicated(&getContext(), type.getShape());
      local.setArgAttr(argument.getArgNumber(), "sp.sharding", sharding);
      inputs.push_back(localType(type.getElementType(), sharding.getDims()));
      localizer.define(argument,
                       {body->addArgument(inputs.back(), argument.getLoc()),
                        llvm::to_vector(sharding.getDims())});
    }
    if (failed(localizer.localizeBody(func.getBody().front())))
      return signalPassFailure();
    SmallVector<Value> returned;
    Operation *terminator = func.getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      const LocalValue &result = localizer.lookup(value);
      returned.push_back(result.value);
      results.push_back(result.value.getType());
      local.setResultAttr(index, "sp.sharding",
                          ShardingAttr::get(&getContext(), result.dims));
    }
    func::ReturnOp::create(builder, terminator->getLoc(), returned);
    local.setFunctionType(builder.getFunctionType(inputs, results));
    func.erase();
  }
};

struct VerifyPartitionPass
    : mlir::sp::impl::VerifyPartitionPassBase<VerifyPartitionPass> {
  void runOnOperation() override {
    bool ok = true;
    getOperation().walk([&](Operation *op) {
      if (!isa<AttentionOp>(op) && !op->hasAttr("sp.shardings"))
        return;
      op->emitOpError() << "expected to be gone after Partition";
      ok = false;
    });
    auto func = getOperation().lookupSymbol<func::FuncOp>("main");
    auto check = [&](Type type, Attribute attr, StringRef what,
                     unsigned number) {
      auto sharding = dyn_cast_or_null<ShardingAttr>(attr);
      if (sharding && ArrayRef<int64_t>(sharding.getLocalShape()) ==
                          cast<RankedTensorType>(type).getShape())
        return;
      func.emitOpError() << "expected " << what << " " << number
                         << " to say how it is cut to " << type;
      ok = false;
    };
    if (func) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        check(func.getArgumentTypes()[i], func.getArgAttr(i, "sp.sharding"),
              "argument", i);
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        check(func.getResultTypes()[i], func.getResultAttr(i, "sp.sharding"),
              "result", i);
    }
    if (!ok)
      signalPassFailure();
  }
};

} // namespace
