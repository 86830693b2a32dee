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

/// Operations after inlining. Forty functions that each call the next one twice
/// would be a million million.
static constexpr int64_t maxOperations = int64_t(1) << 20;
/// Calls inside each other.
static constexpr unsigned maxDepth = 256;

namespace {

class InlineCallsPass : public sp::impl::InlineCallsPassBase<InlineCallsPass> {
public:
  void runOnOperation() override;

private:
  /// The operations that the function will have; fails on recursion, on calls
  /// of nothing, on too many and too deep ones.
  FailureOr<int64_t> measure(func::FuncOp function, unsigned depth = 0);
  func::FuncOp lookup(FlatSymbolRefAttr name) {
    return symbols->lookup<func::FuncOp>(name.getAttr());
  }
  /// Leaves no call in a function that could be measured.
  LogicalResult flatten(func::FuncOp function);
  LogicalResult replace(Operation *call, func::FuncOp callee);

  /// Of measured functions; none of one that is being measured.
  DenseMap<Operation *, std::optional<int64_t>> sizes;
  DenseSet<Operation *> flat;
  std::optional<SymbolTable> symbols;
};

} // namespace

FailureOr<int64_t> InlineCallsPass::measure(func::FuncOp function,
                                            unsigned depth) {
  auto [known, isNew] = sizes.try_emplace(function, std::nullopt);
  if (!isNew && !known->second)
    return function.emitError("expected no recursion but function \"")
           << function.getName() << "\" calls itself";
  if (!isNew)
    return *known->second;
  if (depth > maxDepth)
    return function.emitError("expected at most ")
           << maxDepth << " calls inside each other but function \""
           << function.getName() << "\" is called inside more";
  int64_t size = 0;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    ++size;
    FlatSymbolRefAttr name = calleeOf(op);
    if (!name)
      return WalkResult::advance();
    auto callee = lookup(name);
    if (!callee)
      return op->emitError("expected a function ")
             << name << " but there is none";
    FailureOr<int64_t> inner = measure(callee, depth + 1);
    if (failed(inner))
      return WalkResult::interrupt();
    size += *inner;
    if (size > maxOperations)
      return op->emitError("expected at most ")
             << maxOperations << " operations when calls are inlined but got "
             << size << " up to this call of function \"" << callee.getName()
             << "\"; export layers that repeat as a loop";
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  sizes[function] = size;
  return size;
}

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
  if (!flat.insert(function).second)
    return success();
  SmallVector<Operation *> calls;
  function.walk([&](Operation *op) {
    if (calleeOf(op))
      calls.push_back(op);
  });
  for (Operation *call : calls) {
    auto callee = lookup(calleeOf(call));
    if (failed(flatten(callee)) || failed(replace(call, callee)))
      return failure();
  }
  return success();
}

void InlineCallsPass::runOnOperation() {
  sizes.clear();
  flat.clear();
  symbols.emplace(getOperation());
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (failed(measure(function)))
      return signalPassFailure();
  for (func::FuncOp function : functions)
    if (failed(flatten(function)))
      return signalPassFailure();
  for (func::FuncOp function : functions)
    if (function.isPrivate())
      function.erase();
}
