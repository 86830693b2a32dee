//===- Localize.cpp - One program for every rank --------------------------===//
//
//   before   func @main(%x: tensor<1x4096x512xf32>
//                           {sp.sharding = <[[1], [4096 by ...], [512]]>})
//   after    func @main(%x: tensor<1x1024x512xf32> {sp.sharding = ...})
//                -> (tensor<...> {sp.sharding = ...})
//
//===----------------------------------------------------------------------===//

#include "Localizer.h"
#include "Sharding/CheckInput.h"
#include "sp/IR/Attributes.h"
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
      auto sharding = func.getArgAttrOfType<ShardingAttr>(number, kSharding);
      if (!sharding)
        sharding = ShardingAttr::getReplicated(&getContext(), type.getShape());
      local.setArgAttr(number, kSharding, sharding);
      if (!mesh.getFolded())
        local.removeArgAttr(number, "sdy.sharding");
      Type localized = localType(type.getElementType(), sharding.getDims());
      localizer.define(argument,
                       {body.addArgument(localized, argument.getLoc()),
                        llvm::to_vector(sharding.getDims())});
    }
  }

  void returnResults(func::FuncOp func, func::FuncOp local, OpBuilder &builder,
                     Localizer &localizer) {
    // What feeds an argument is dealt as the argument is.
    SmallVector<ShardingAttr> fed(func.getNumResults());
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (std::optional<unsigned> result = donatedTo(func, i))
        fed[*result] = local.getArgAttrOfType<ShardingAttr>(i, kSharding);
    SmallVector<Value> returned;
    Operation *terminator = func.getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      ShardingAttr sharding = fed[index];
      if (!sharding)
        sharding =
            ShardingAttr::get(&getContext(), localizer.lookup(value).dims);
      returned.push_back(
          localizer.require(value, sharding.getDims(), terminator));
      local.setResultAttr(index, kSharding, sharding);
      if (!mesh.getFolded())
        local.removeResultAttr(index, builder.getStringAttr("sdy.sharding"));
    }
    func::ReturnOp::create(builder, terminator->getLoc(), returned);
    local.setFunctionType(builder.getFunctionType(
        local.getBody().getArgumentTypes(), ValueRange(returned).getTypes()));
  }

  void runOnOperation() override {
    mesh = getMesh(getOperation());
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func) || failed(checkInput(*func)))
      return signalPassFailure();
    if (!mesh) {
      getOperation().emitError()
          << "expected a mesh; run sp-plan-pipeline first";
      return signalPassFailure();
    }
    OpBuilder builder(*func);
    auto local = func::FuncOp::create(builder, func->getLoc(), func->getName(),
                                      func->getFunctionType());
    local->setAttrs((*func)->getAttrDictionary());
    builder.createBlock(&local.getBody());
    Losses losses(mesh);
    Localizer localizer(builder, mesh, losses);
    defineArguments(*func, local, localizer);
    if (failed(localizer.localizeBody(func->getBody().front())))
      return signalPassFailure();
    returnResults(*func, local, builder, localizer);
    losses.report(*func);
    func->erase();
  }

  MeshOp mesh;
};

} // namespace
