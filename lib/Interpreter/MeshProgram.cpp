//===- MeshProgram.cpp - One program on all devices of a mesh -------------===//
#include "MeshProgram.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Whether `op`, a region of it or a function it calls exchanges values.
bool MeshProgram::exchanges(Operation &op) {
  auto known = knownExchanges.find(&op);
  if (known != knownExchanges.end())
    return known->second;
  // A call that leads back here adds nothing of its own.
  knownExchanges[&op] = false;
  bool found = isCollective(&op) || isa<sdy::ManualComputationOp>(op);
  FlatSymbolRefAttr callee;
  if (auto call = dyn_cast<func::CallOp>(op))
    callee = call.getCalleeAttr();
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    callee = composite.getDecompositionAttr();
  if (callee)
    if (auto function = evaluator.lookup<func::FuncOp>(&op, callee))
      for (Operation &inner : function.getBody().getOps())
        found |= exchanges(inner);
  for (Region &region : op.getRegions())
    for (Operation &inner : region.getOps())
      found |= exchanges(inner);
  return knownExchanges[&op] = found;
}

FailureOr<PerDevice> MeshProgram::run(Block &block, PerDevice arguments,
                                      std::vector<Scope> *around) {
  size_t devices = arguments.size();
  std::vector<Scope> scopes(devices);
  for (size_t d = 0; d < devices; ++d) {
    scopes[d].parent = around ? &(*around)[d] : nullptr;
    for (auto [argument, tensor] :
         llvm::zip_equal(block.getArguments(), arguments[d]))
      scopes[d].values[argument] = std::move(tensor);
  }
  arguments.clear();
  const Evaluator::LastUses &dying = evaluator.lastUsesOf(block);
  for (Operation &op : block) {
    PerDevice operands(devices);
    for (size_t d = 0; d < devices; ++d)
      for (Value operand : op.getOperands())
        operands[d].push_back(scopes[d].find(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    FailureOr<PerDevice> results = evaluate(op, std::move(operands), scopes);
    if (failed(results))
      return failure();
    auto last = dying.find(&op);
    for (size_t d = 0; d < devices; ++d) {
      if (last != dying.end())
        for (Value value : last->second)
          scopes[d].values.erase(value);
      for (auto [result, tensor] :
           llvm::zip_equal(op.getResults(), (*results)[d]))
        if (!result.use_empty())
          scopes[d].values[result] = std::move(tensor);
    }
  }
  return PerDevice(devices);
}

FailureOr<PerDevice> MeshProgram::evaluate(Operation &op, PerDevice operands,
                                           std::vector<Scope> &scopes) {
  if (isCollective(&op))
    return evaluateCollective(&op, std::move(operands), evaluator);
  if (exchanges(op))
    return evaluateTogether(op, std::move(operands), scopes);
  PerDevice results;
  for (size_t d = 0; d < operands.size(); ++d) {
    FailureOr<Tensors> own = evaluator.within(scopes[d], int64_t(d), [&] {
      return evaluator.evaluate(&op, std::move(operands[d]));
    });
    if (failed(own))
      return failure();
    results.push_back(std::move(*own));
  }
  return results;
}

FailureOr<int64_t> MeshProgram::agree(Operation &op, const PerDevice &values) {
  int64_t first = values.front().front().integerAt(0);
  for (auto [d, own] : llvm::enumerate(values))
    if (own.front().integerAt(0) != first)
      return op.emitOpError()
             << "exchanges values between devices, but device " << d
             << " decides for " << own.front().integerAt(0)
             << " and device 0 for " << first;
  return first;
}

FailureOr<PerDevice> MeshProgram::evaluateTogether(Operation &op,
                                                   PerDevice operands,
                                                   std::vector<Scope> &scopes) {
  size_t devices = operands.size();
  if (auto inner = dyn_cast<sdy::ManualComputationOp>(op))
    return evaluateManual(inner, std::move(operands), *this);
  if (auto call = dyn_cast<func::CallOp>(op))
    return run(evaluator.lookup<func::FuncOp>(&op, call.getCalleeAttr())
                   .getBody()
                   .front(),
               std::move(operands));
  if (auto branch = dyn_cast<stablehlo::IfOp>(op)) {
    FailureOr<int64_t> taken = agree(op, operands);
    if (failed(taken))
      return failure();
    Region &region = *taken ? branch.getTrueBranch() : branch.getFalseBranch();
    return run(region.front(), PerDevice(devices), &scopes);
  }
  if (auto branch = dyn_cast<stablehlo::CaseOp>(op)) {
    FailureOr<int64_t> taken = agree(op, operands);
    if (failed(taken))
      return failure();
    int64_t last = int64_t(branch.getBranches().size()) - 1;
    int64_t index = *taken < 0 || *taken > last ? last : *taken;
    return run(branch.getBranches()[index].front(), PerDevice(devices),
               &scopes);
  }
  auto loop = dyn_cast<stablehlo::WhileOp>(op);
  if (!loop)
    return op.emitOpError() << "is not evaluated around an exchange of values "
                               "between devices";
  while (true) {
    FailureOr<PerDevice> condition =
        run(loop.getCond().front(), operands, &scopes);
    if (failed(condition))
      return failure();
    FailureOr<int64_t> goOn = agree(op, *condition);
    if (failed(goOn))
      return failure();
    if (!*goOn)
      return operands;
    FailureOr<PerDevice> next =
        run(loop.getBody().front(), std::move(operands), &scopes);
    if (failed(next))
      return failure();
    operands = std::move(*next);
  }
}
