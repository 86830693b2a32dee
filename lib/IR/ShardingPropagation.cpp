//===- ShardingPropagation.cpp - A fixed point of shardings ---------------===//

#include "sp/IR/ShardingPropagation.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sp;

static bool isControlFlow(Operation *op) {
  return isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp,
             scf::ForOp>(op);
}

ShardingPropagation::ShardingPropagation(func::FuncOp func)
    : context(func.getContext()), rows(func) {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func || op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    ops.push_back(op);
    // Reducers and comparators are scalar code of their operation.
    return isControlFlow(op) || op->getNumRegions() == 0 ? WalkResult::advance()
                                                         : WalkResult::skip();
  });
}

MutableArrayRef<DimAttr> ShardingPropagation::dimsOf(Value value) {
  auto [entry, isNew] = dims.try_emplace(value);
  if (isNew)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      entry->second.assign(
          ShardingAttr::getReplicated(context, type.getShape()).getDims());
  return entry->second;
}

void ShardingPropagation::deal(Value value, unsigned index, DimAttr dim) {
  if (!isDealt(dim) || pinned.contains(value) ||
      (isOfBatch(dim) && !rows.mayBeDealt(value)))
    return;
  MutableArrayRef<DimAttr> own = dimsOf(value);
  FailureOr<DimAttr> merged = mergeDims(own[index], dim);
  if (failed(merged) || *merged == own[index] ||
      sharesAxis(*merged, own.take_front(index)) ||
      sharesAxis(*merged, own.drop_front(index + 1)))
    return;
  own[index] = *merged;
  changed = true;
}

bool ShardingPropagation::isDealtByItsRow(Value value) {
  return llvm::none_of(dimsOf(value), isOfBatch) || rows.mayBeDealt(value);
}

void ShardingPropagation::pin(Value value, ArrayRef<DimAttr> decided) {
  pinned[value] = SmallVector<DimAttr>(decided);
}

void ShardingPropagation::releasePinned() {
  for (auto &[value, decided] : pinned)
    dims[value] = decided;
}

void ShardingPropagation::unify(Value a, Value b) {
  for (unsigned dim = 0, rank = dimsOf(a).size(); dim < rank; ++dim) {
    DimAttr ofA = dimsOf(a)[dim], ofB = dimsOf(b)[dim];
    deal(b, dim, ofA);
    deal(a, dim, ofB);
  }
}

void ShardingPropagation::visitReshape(stablehlo::ReshapeOp op) {
  auto carry = [&](Value from, Value to) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(to.getType()).getShape();
    FailureOr<SmallVector<DimAttr>> result = reshapeDims(dimsOf(from), shape);
    if (failed(result))
      return;
    for (auto [index, dim] : llvm::enumerate(*result))
      deal(to, index, dim);
  };
  carry(op.getOperand(), op.getResult());
  carry(op.getResult(), op.getOperand());
}

void ShardingPropagation::visitRegions(Operation *op) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    Operation *yield = loop.getBody().front().getTerminator();
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      unify(op->getOperand(i), op->getResult(i));
      unify(op->getResult(i), loop.getCond().getArgument(i));
      unify(op->getResult(i), loop.getBody().getArgument(i));
      unify(op->getResult(i), yield->getOperand(i));
    }
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      unify(loop.getInitArgs()[i], op->getResult(i));
      unify(op->getResult(i), loop.getRegionIterArg(i));
      unify(op->getResult(i), loop.getYieldedValues()[i]);
    }
    return;
  }
  for (Region &region : op->getRegions())
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      unify(op->getResult(i), region.front().getTerminator()->getOperand(i));
}

void ShardingPropagation::visit(Operation *op) {
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return visitReshape(reshape);
  if (isControlFlow(op))
    return visitRegions(op);
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      unify(op->getOperand(i), op->getResult(i));
    return;
  }
  for (const Factor &factor : getFactors(op)) {
    SmallVector<std::pair<Value, unsigned>> places;
    for (auto [operand, dim] : factor.operands)
      places.push_back({op->getOperand(operand), dim});
    for (auto [result, dim] : factor.results)
      places.push_back({op->getResult(result), dim});
    int64_t longest = 0;
    for (auto [value, dim] : places)
      longest = std::max(longest, lengthOf(dimsOf(value)[dim]));
    DimAttr dealt;
    for (auto [value, dim] : places) {
      DimAttr own = dimsOf(value)[dim];
      if (!isDealt(own) || !(own = fitDim(own, longest)))
        continue;
      FailureOr<DimAttr> merged = dealt ? mergeDims(dealt, own) : own;
      dealt = succeeded(merged) ? *merged : dealt;
    }
    if (!dealt)
      continue;
    for (auto [value, dim] : places)
      if (DimAttr own = fitDim(dealt, lengthOf(dimsOf(value)[dim])))
        deal(value, dim, own);
  }
}

void ShardingPropagation::run() {
  do {
    changed = false;
    for (Operation *op : ops)
      visit(op);
    for (Operation *op : llvm::reverse(ops))
      visit(op);
    for (auto [a, b] : ties)
      unify(a, b);
  } while (changed);
}
