//===- InlineCalls.cpp - One function without calls -----------------------===//
//
//   %0 = call @_where(%m, %x, %c)      ->   %0 = stablehlo.select ...
//
// JAX outlines helpers, loop bodies and layers; StableHLO composites name their
// decomposition. Bodies are copied to their calls until none is left, and then
// private functions go.
//
//===----------------------------------------------------------------------===//

#include "sp/Import/Passes.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::sp {
#define GEN_PASS_DEF_INLINECALLSPASS
#include "sp/Import/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

/// The name of the function that an operation stands for, or null.
static FlatSymbolRefAttr calleeOf(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCalleeAttr();
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return composite.getDecompositionAttr();
  return nullptr;
}

namespace {

class InlineCallsPass : public sp::impl::InlineCallsPassBase<InlineCallsPass> {
public:
  void runOnOperation() override;

private:
  enum class State { Open, Active, Done };
  /// Leaves no call in the function; fails on recursion.
  LogicalResult flatten(func::FuncOp function);
  LogicalResult replace(Operation *call, func::FuncOp callee);

  DenseMap<Operation *, State> states;
};

} // namespace

LogicalResult InlineCallsPass::replace(Operation *call, func::FuncOp callee) {
  if (callee.isExternal())
    return call->emitError("expected a body of function \"")
           << callee.getName() << "\" but it is only declared";
  if (!callee.getBody().hasOneBlock())
    return callee.emitError("expected a single block but got several");
  if (!llvm::equal(callee.getArgumentTypes(), call->getOperandTypes()) ||
      !llvm::equal(callee.getResultTypes(), call->getResultTypes()))
    return call->emitError("expected operands and results of function \"")
           << callee.getName() << "\" to have the types of the call";
  IRMapping mapping;
  Block &body = callee.getBody().front();
  mapping.map(body.getArguments(), call->getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), call->getLoc()));
    });
  }
  for (auto [result, value] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call->erase();
  return success();
}

LogicalResult InlineCallsPass::flatten(func::FuncOp function) {
  State state = states.lookup(function);
  if (state == State::Done)
    return success();
  if (state == State::Active)
    return function.emitError("expected no recursion but function \"")
           << function.getName() << "\" calls itself";
  states[function] = State::Active;
  SmallVector<Operation *> calls;
  function.walk([&](Operation *op) {
    if (calleeOf(op))
      calls.push_back(op);
  });
  for (Operation *call : calls) {
    auto callee = getOperation().lookupSymbol<func::FuncOp>(calleeOf(call));
    if (!callee)
      return call->emitError("expected a function ")
             << calleeOf(call) << " but there is none";
    if (failed(flatten(callee)) || failed(replace(call, callee)))
      return failure();
  }
  states[function] = State::Done;
  return success();
}

void InlineCallsPass::runOnOperation() {
  states.clear();
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (failed(flatten(function)))
      return signalPassFailure();
  for (func::FuncOp function : functions)
    if (function.isPrivate())
      function.erase();
}
