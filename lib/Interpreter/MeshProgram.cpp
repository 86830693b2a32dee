//===- MeshProgram.cpp - One program on all devices of a mesh -------------===//
#include "MeshProgram.h"
#include "Ranks.h"

using namespace mlir;
using namespace mlir::interpreter;

/// Whether `op`, a region of it or a function it calls exchanges values.
bool MeshProgram::exchanges(Operation &op) {
  auto known = knownExchanges.find(&op);
  if (known != knownExchanges.end())
    return known->second;
  // A call that leads back here adds nothing of its own.
  knownExchanges[&op] = false;
  bool found =
      isCollective(&op) || isa<sdy::ManualComputationOp, scf::ForOp>(op);
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
    if (auto wait = dyn_cast<sp::WaitOp>(op)) {
      if (failed(this->wait(wait, scopes)))
        return failure();
      continue;
    }
    FailureOr<PerDevice> results = evaluate(op, std::move(operands), scopes);
    if (failed(results))
      return failure();
    auto start = dyn_cast<sp::CommunicationOpInterface>(op);
    if (start && start.isStart())
      this->start(start, *results);
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

void MeshProgram::start(sp::CommunicationOpInterface op, PerDevice &results) {
  started[op.getToken()] = results;
  for (Tensors &own : results) {
    for (Tensor &result : own)
      result = unwritten(result.getType());
    own.emplace_back(); // the token
  }
}

LogicalResult MeshProgram::wait(sp::WaitOp op, std::vector<Scope> &scopes) {
  auto found = started.find(op.getToken());
  Operation *start = op.getToken().getDefiningOp();
  if (found == started.end() || start->getBlock() != op->getBlock())
    return op.emitOpError()
           << "cannot be evaluated: expected a token of what this block starts";
  for (auto [scope, results] : llvm::zip_equal(scopes, found->second))
    for (auto [result, tensor] :
         llvm::zip_equal(start->getResults().drop_back(), results))
      if (!result.use_empty())
        scope.values[result] = std::move(tensor);
  started.erase(found);
  return success();
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
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return evaluateFor(loop, std::move(operands), scopes);
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

FailureOr<PerDevice> MeshProgram::evaluateFor(scf::ForOp loop,
                                              PerDevice operands,
                                              std::vector<Scope> &scopes) {
  int64_t bounds[3];
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    PerDevice all;
    for (const Tensors &own : operands)
      all.push_back({own[i]});
    FailureOr<int64_t> agreed = agree(*loop, all);
    if (failed(agreed))
      return failure();
    bound = *agreed;
  }
  auto [lower, upper, step] = bounds;
  if (step <= 0)
    return loop.emitOpError() << "cannot be evaluated with step " << step;
  for (Tensors &own : operands)
    own.erase(own.begin(), own.begin() + 3);
  RankedTensorType type = heldAs(loop.getInductionVar().getType());
  for (int64_t counter = lower; counter < upper; counter += step) {
    for (Tensors &own : operands)
      own.insert(own.begin(), Tensor::splat<int64_t>(type, counter));
    FailureOr<PerDevice> next =
        run(*loop.getBody(), std::move(operands), &scopes);
    if (failed(next))
      return failure();
    operands = std::move(*next);
  }
  return operands;
}
