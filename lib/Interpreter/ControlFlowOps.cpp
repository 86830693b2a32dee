//===- ControlFlowOps.cpp - Loops, branches, calls and identities ---------===//
#include "Evaluator.h"
#include "sp/StableHLO/StableHLO.h"

using namespace mlir;
using namespace mlir::interpreter;

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

static FailureOr<Tensors> whileOp(stablehlo::WhileOp op, Tensors &operands,
                                  Evaluator &evaluator) {
  Tensors values = std::move(operands);
  while (true) {
    FailureOr<Tensors> condition = evaluator.run(op.getCond(), values);
    if (failed(condition))
      return failure();
    if (!condition->front().at<uint8_t>())
      return values;
    FailureOr<Tensors> next = evaluator.run(op.getBody(), std::move(values));
    if (failed(next))
      return failure();
    values = std::move(*next);
  }
}

static FailureOr<Tensors> ifOp(stablehlo::IfOp op, Tensors &operands,
                               Evaluator &evaluator) {
  bool taken = operands[0].at<uint8_t>();
  return evaluator.run(taken ? op.getTrueBranch() : op.getFalseBranch(), {});
}

/// The last branch stands for every index that has none.
static FailureOr<Tensors> caseOp(stablehlo::CaseOp op, Tensors &operands,
                                 Evaluator &evaluator) {
  int64_t last = int64_t(op.getBranches().size()) - 1;
  int64_t index = operands[0].integerAt(0);
  if (index < 0 || index > last)
    index = last;
  return evaluator.run(op.getBranches()[index], {});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static FailureOr<Tensors> callFunction(Operation *op, FlatSymbolRefAttr symbol,
                                       Tensors &operands,
                                       Evaluator &evaluator) {
  auto function = evaluator.lookup<func::FuncOp>(op, symbol);
  if (!function)
    return op->emitOpError() << "calls " << symbol << ", which is no function";
  return evaluator.call(function, std::move(operands), op);
}

static FailureOr<Tensors> callOp(func::CallOp op, Tensors &operands,
                                 Evaluator &evaluator) {
  return callFunction(op, op.getCalleeAttr(), operands, evaluator);
}

/// A composite means what its decomposition means.
static FailureOr<Tensors> compositeOp(stablehlo::CompositeOp op,
                                      Tensors &operands, Evaluator &evaluator) {
  return callFunction(op, op.getDecompositionAttr(), operands, evaluator);
}

/// The borders of a manually sharded region change a value only on more than
/// one device. sp-replace-custom-calls replaces the other calls that have a
/// meaning.
static FailureOr<Tensors> customCallOp(stablehlo::CustomCallOp op,
                                       Tensors &operands, Evaluator &) {
  StringRef target = op.getCallTargetName();
  bool border =
      target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape";
  if (border) {
    if (op->getOperandTypes() == op->getResultTypes())
      return operands;
    return op.emitOpError()
           << "@" << target << " is evaluated on one device only: expected a "
           << "result of the operand's type " << op->getOperand(0).getType()
           << " but got " << op->getResult(0).getType();
  }
  return op.emitOpError() << "@" << target << " is not evaluated";
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

template <typename OpT> static void addIdentity(Handlers &handlers) {
  handlers.add<OpT>([](OpT, Tensors &operands,
                       Evaluator &) -> FailureOr<Tensors> { return operands; });
}

static FailureOr<Tensors> namedComputationOp(sdy::NamedComputationOp op,
                                             Tensors &operands,
                                             Evaluator &evaluator) {
  return evaluator.run(op.getBody(), std::move(operands));
}

void interpreter::addControlFlowOps(Handlers &handlers) {
  handlers.add<stablehlo::WhileOp>(whileOp);
  handlers.add<stablehlo::IfOp>(ifOp);
  handlers.add<stablehlo::CaseOp>(caseOp);
  handlers.add<func::CallOp>(callOp);
  handlers.add<stablehlo::CompositeOp>(compositeOp);
  handlers.add<stablehlo::CustomCallOp>(customCallOp);
  handlers.add<sdy::NamedComputationOp>(namedComputationOp);
  addIdentity<stablehlo::OptimizationBarrierOp>(handlers);
  addIdentity<sdy::ShardingConstraintOp>(handlers);
  addIdentity<sdy::ReshardOp>(handlers);
  addIdentity<sdy::PropagationBarrierOp>(handlers);
  handlers.add<sdy::ShardingGroupOp>(
      [](sdy::ShardingGroupOp, Tensors &, Evaluator &) -> FailureOr<Tensors> {
        return Tensors();
      });
}
