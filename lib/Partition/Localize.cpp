//===- Localize.cpp - One program for every rank --------------------------===//
//
//   before   func @main(%x: tensor<1x4096x512xf32>
//                           {sp.sharding = <[[1], [4096 by ...], [512]]>})
//   after    func @main(%x: tensor<1x1024x512xf32> {sp.sharding = ...})
//                -> (tensor<...> {sp.sharding = ...})
//
//===----------------------------------------------------------------------===//

#include "CheckInput.h"
#include "Localizer.h"
#include "sp/Partition/Passes.h"

namespace mlir::sp {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "sp/Partition/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

struct LocalizePass : mlir::sp::impl::LocalizePassBase<LocalizePass> {
  /// Makes the arguments of the local function.
  void defineArguments(func::FuncOp func, func::FuncOp local,
                       Localizer &localizer) {
    Block &body = local.getBody().front();
    for (BlockArgument argument : func.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto type = cast<RankedTensorType>(argument.getType());
      auto sharding =
          func.getArgAttrOfType<ShardingAttr>(number, "sp.sharding");
      if (!sharding)
        sharding = ShardingAttr::getReplicated(&getContext(), type.getShape());
      local.setArgAttr(number, "sp.sharding", sharding);
      local.removeArgAttr(number, "sdy.sharding");
      Type localized = localType(type.getElementType(), sharding.getDims());
      localizer.define(argument,
                       {body.addArgument(localized, argument.getLoc()),
                        llvm::to_vector(sharding.getDims())});
    }
  }

  void returnResults(func::FuncOp func, func::FuncOp local, OpBuilder &builder,
                     Localizer &localizer) {
    SmallVector<Value> returned;
    Operation *terminator = func.getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      const LocalValue &result = localizer.lookup(value);
      returned.push_back(result.value);
      local.setResultAttr(index, "sp.sharding",
                          ShardingAttr::get(&getContext(), result.dims));
      local.removeResultAttr(index, builder.getStringAttr("sdy.sharding"));
    }
    func::ReturnOp::create(builder, terminator->getLoc(), returned);
    local.setFunctionType(builder.getFunctionType(
        local.getBody().getArgumentTypes(), ValueRange(returned).getTypes()));
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func) || failed(checkInput(*func)))
      return signalPassFailure();
    OpBuilder builder(*func);
    auto local = func::FuncOp::create(builder, func->getLoc(), func->getName(),
                                      func->getFunctionType());
    local->setAttrs((*func)->getAttrDictionary());
    builder.createBlock(&local.getBody());
    Localizer localizer(builder);
    defineArguments(*func, local, localizer);
    if (failed(localizer.localizeBody(func->getBody().front())))
      return signalPassFailure();
    returnResults(*func, local, builder, localizer);
    func->erase();
  }
};

} // namespace
