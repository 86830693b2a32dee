//===- ReplaceCustomCalls.cpp - sp-replace-custom-calls -------------------===//
//
//   %0 = stablehlo.custom_call @mhlo.erf(%x) {...}  ->  %0 = chlo.erf %x
//   %0 = stablehlo.custom_call @Sharding(%x) {...}  ->  %x
//   %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %k, %v) {...}
//     ->  dot_general, mask, softmax, dot_general (FusedAttention.cpp)
//
//===----------------------------------------------------------------------===//

#include "Input/FusedAttention.h"
#include "sp/StableHLO/Passes.h"

#include "mlir/IR/Verifier.h"

namespace mlir::sp {
#define GEN_PASS_DEF_REPLACECUSTOMCALLSPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using stablehlo::CustomCallOp;

/// The call has that many operands and results, the first of one type.
static LogicalResult verifySignature(CustomCallOp call, unsigned results,
                                     bool sameType) {
  bool fits = call.getInputs().size() == 1 && call.getNumResults() == results &&
              (!sameType || call.getInputs().front().getType() ==
                                call->getResult(0).getType());
  if (fits)
    return success();
  return call.emitError() << "expected custom call '@"
                          << call.getCallTargetName() << "' to take 1 operand "
                          << "and return " << results
                          << (sameType ? " of its type" : " results");
}

static LogicalResult replaceErf(CustomCallOp call, OpBuilder &builder) {
  if (failed(verifySignature(call, 1, /*sameType=*/true)))
    return failure();
  Value operand = call.getInputs().front();
  if (!isa<FloatType>(getElementTypeOrSelf(operand.getType())))
    return call.emitError()
           << "expected custom call '@mhlo.erf' to take floats "
              "but got "
           << operand.getType();
  auto erf = chlo::ErfOp::create(builder, call.getLoc(), operand);
  call->replaceAllUsesWith(erf->getResults());
  return success();
}

static LogicalResult replaceTopK(CustomCallOp call, OpBuilder &builder) {
  if (failed(verifySignature(call, 2, /*sameType=*/false)))
    return failure();
  auto attributes = call->getAttrOfType<DictionaryAttr>("mhlo.attributes");
  auto k = attributes ? attributes.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest =
      attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
  if (!k || (largest && !largest.getValue()))
    return call.emitError() << "expected 'k' and 'largest = true' in "
                               "'mhlo.attributes' of custom call '@mhlo.topk'";
  auto topK = chlo::TopKOp::create(
      builder, call.getLoc(), call.getResultTypes(), call.getInputs().front(),
      builder.getI64IntegerAttr(k.getInt()));
  if (failed(verify(topK))) {
    topK.erase();
    return failure();
  }
  call->replaceAllUsesWith(topK->getResults());
  return success();
}

/// GSPMD's wish for a sharding; shardings of arguments and results remain.
static LogicalResult replaceSharding(CustomCallOp call) {
  if (failed(verifySignature(call, 1, /*sameType=*/true)))
    return failure();
  call->getResult(0).replaceAllUsesWith(call.getInputs().front());
  return success();
}

namespace {
struct ReplaceCustomCallsPass
    : sp::impl::ReplaceCustomCallsPassBase<ReplaceCustomCallsPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](CustomCallOp call) {
      OpBuilder builder(call);
      StringRef target = call.getCallTargetName();
      LogicalResult replaced = success();
      if (target == "mhlo.erf")
        replaced = replaceErf(call, builder);
      else if (target == "mhlo.topk")
        replaced = replaceTopK(call, builder);
      else if (target == "Sharding")
        replaced = replaceSharding(call);
      else if (stablehlo::isFusedAttention(target))
        replaced = stablehlo::expandFusedAttention(call);
      else
        return WalkResult::advance();
      if (failed(replaced))
        return WalkResult::interrupt();
      call.erase();
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
