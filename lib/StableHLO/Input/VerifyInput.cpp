//===- VerifyInput.cpp - sp-verify-input ----------------------------------===//
//
//   %0 = stablehlo.custom_call @cholesky(%x) : ...
//
//   error: custom call '@cholesky' is not supported; ...
//
// What parses and verifies may still be outside of what the compiler reads. The
// first such thing is named here, before a later stage meets it.
//
//===----------------------------------------------------------------------===//

#include "Input/FusedAttention.h"
#include "Verify/Verify.h"
#include "sp/StableHLO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYINPUTPASS
#include "sp/StableHLO/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isSupportedElement(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return isa<Float32Type, Float64Type>(complex.getElementType());
  if (auto integer = dyn_cast<IntegerType>(type))
    return !integer.isSigned() &&
           (llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()) ||
            integer.isSignlessInteger(1));
  return isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(type);
}

/// Says what is wrong with a type and how to do without, or nothing.
static std::string findTypeProblem(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes())
      if (std::string problem = findTypeProblem(element); !problem.empty())
        return problem;
    return "";
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "is not supported; expected a tensor";
  if (!tensor.hasStaticShape())
    return "has a dynamic dimension; export the model with fixed sizes";
  __int128 count = 1;
  for (int64_t size : tensor.getShape()) {
    count *= size;
    if (count > (int64_t(1) << 56))
      return "has more than 2^56 elements; export the model with smaller sizes";
  }
  if (tensor.getEncoding())
    return "has an encoding, which is not supported; export the model without";
  if (!isSupportedElement(tensor.getElementType()))
    return "has elements that are not supported; expected f64, f32, f16, bf16, "
           "complex of f32 or f64, i1, or integers of 8 to 64 bits";
  return "";
}

static LogicalResult verifyType(Operation *op, StringRef what, Type type) {
  std::string problem = findTypeProblem(type);
  if (problem.empty())
    return success();
  return op->emitError() << what << " of type " << type << " " << problem;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static LogicalResult verifyCustomCall(stablehlo::CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (target == "Sharding" || target == "mhlo.erf" || target == "mhlo.topk")
    return success();
  if (stablehlo::isFusedAttention(target))
    return stablehlo::readFusedAttention(op);
  InFlightDiagnostic diag = op.emitError() << "custom call '@" << target
                                           << "' is not supported; ";
  if (target.starts_with("SPMD"))
    return diag << "export the model with jax_use_shardy_partitioner=True";
  if (target == "CustomSPMDPartitioning")
    return diag << "export the model for one device";
  return diag << "express it in StableHLO operations";
}

static LogicalResult verifyOperation(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool known = isa<ModuleOp, func::FuncOp, func::CallOp, func::ReturnOp>(op) ||
               (op->isRegistered() &&
                llvm::is_contained({"stablehlo", "chlo", "sdy"}, dialect));
  if (!known && llvm::is_contained({"stablehlo", "chlo"}, dialect))
    return op->emitError() << "operation '" << op->getName()
                           << "' is not supported; "
                           << stablehlo::findWayOut(
                                  op->getName().getStringRef());
  if (!known)
    return op->emitError() << "operation '" << op->getName()
                           << "' is not supported; expected StableHLO as JAX "
                              "or torch prints it";
  if (isa<stablehlo::RngOp>(op))
    return op->emitError()
           << "operation 'stablehlo.rng' is not supported, for its numbers are "
              "the device's; draw them with 'stablehlo.rng_bit_generator' or "
              "pass them as an argument";
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    if (failed(verifyCustomCall(call)))
      return failure();
  for (Region &region : op->getRegions())
    if (!region.empty() && !region.hasOneBlock())
      return op->emitError() << "expected a body of one block but got "
                             << region.getBlocks().size()
                             << "; express branches as 'stablehlo.if' or "
                                "'stablehlo.case'";
  for (Type type : op->getOperandTypes())
    if (failed(verifyType(op, "operand", type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyType(op, "result", type)))
      return failure();
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    for (Type type : function.getArgumentTypes())
      if (failed(verifyType(op, "argument", type)))
        return failure();
    for (Type type : function.getResultTypes())
      if (failed(verifyType(op, "result", type)))
        return failure();
  }
  return success();
}

static LogicalResult verifyMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError() << "expected a function '@main'";
  if (main.isPrivate())
    return main.emitError() << "expected '@main' to be public";
  return success();
}

namespace {
struct VerifyInputPass : sp::impl::VerifyInputPassBase<VerifyInputPass> {
  void runOnOperation() override {
    if (failed(verifyMain(getOperation())))
      return signalPassFailure();
    WalkResult result =
        getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
          return failed(verifyOperation(op)) ? WalkResult::interrupt()
                                             : WalkResult::advance();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
