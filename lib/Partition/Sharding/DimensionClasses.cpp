//===- DimensionClasses.cpp - What is dealt alike -------------------------===//

#include "Sharding/DimensionClasses.h"

#include "sp/IR/CarriedValues.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

DimensionClasses::DimensionClasses(func::FuncOp func,
                                   const ShardingPropagation &propagation) {
  auto number = [&](Value value) {
    if (!isTensor(value) ||
        !firstNodes.try_emplace(value, places.size()).second)
      return;
    for (unsigned dim = 0; dim < rankOf(value); ++dim)
      places.push_back({value, dim});
  };
  llvm::for_each(func.getArguments(), number);
  for (Operation *op : propagation.operations()) {
    llvm::for_each(op->getResults(), number);
    if (op->hasTrait<stablehlo::ControlFlow>() || isLoop(op))
      for (Region &region : op->getRegions())
        llvm::for_each(region.getArguments(), number);
  }
  nodes.grow(places.size());
  for (Operation *op : propagation.operations())
    join(op);
  for (auto [a, b] : propagation.tied())
    join(a, b);
  nodes.compress();
  classes.resize(nodes.getNumClasses());
  for (auto [node, place] : llvm::enumerate(places)) {
    DimensionClass &own = classes[nodes[node]];
    own.places.push_back(place);
    own.size = std::max(own.size, typeOf(place.first).getDimSize(place.second));
  }
  for (Operation *op : propagation.operations())
    count(op);
}

unsigned DimensionClasses::nodeOf(Value value, unsigned dim) {
  return firstNodes.at(value) + dim;
}

void DimensionClasses::join(Place a, Place b) {
  nodes.join(nodeOf(a.first, a.second), nodeOf(b.first, b.second));
}

void DimensionClasses::join(Value a, Value b) {
  if (isTensor(a))
    for (unsigned dim = 0; dim < rankOf(a); ++dim)
      join({a, dim}, {b, dim});
}

/// Dimensions before which there are as many elements, and that have as many
/// positions.
void DimensionClasses::joinReshape(Value from, Value to) {
  ArrayRef<int64_t> a = typeOf(from).getShape(), b = typeOf(to).getShape();
  int64_t beforeA = 1, beforeB = 1;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (beforeA == beforeB && a[i] == b[j] && a[i] != 1)
      join({from, i}, {to, j});
    if (beforeA * a[i] <= beforeB * b[j])
      beforeA *= a[i++];
    else
      beforeB *= b[j++];
  }
}

void DimensionClasses::joinRegions(Operation *op) {
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    for (Region &region : op->getRegions()) {
      Operation *yield = region.front().getTerminator();
      if (yield->getNumOperands() == op->getNumResults())
        join(result, yield->getOperand(number));
    }
    std::optional<Carried> carried = carriedBy(result);
    if (!carried)
      continue;
    join(result, carried->init());
    join(result, carried->argument());
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      join(result, loop.getCond().getArgument(number));
  }
}

void DimensionClasses::join(Operation *op) {
  if (isa<stablehlo::ReshapeOp>(op))
    return joinReshape(op->getOperand(0), op->getResult(0));
  if (op->hasTrait<stablehlo::ControlFlow>() || isLoop(op))
    return joinRegions(op);
  if (isa<stablehlo::OptimizationBarrierOp>(op)) {
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getResults()))
      join(operand, result);
    return;
  }
  for (const Factor &factor : getFactors(op)) {
    if (factor.moves)
      continue;
    SmallVector<Place> together;
    for (auto [operand, dim] : factor.operands)
      together.push_back({op->getOperand(operand), dim});
    for (auto [result, dim] : factor.results)
      together.push_back({op->getResult(result), dim});
    for (const Place &place : llvm::drop_begin(together))
      join(together.front(), place);
  }
}

/// Dimensions that become several, or come of some.
void DimensionClasses::countReshape(Value from, Value to) {
  for (auto [whole, parts] : {std::pair(from, to), std::pair(to, from)})
    for (unsigned dim = 0; dim < rankOf(whole); ++dim) {
      unsigned own = nodes[nodeOf(whole, dim)];
      int64_t size = typeOf(whole).getDimSize(dim);
      bool isJoint = size > 1;
      for (unsigned part = 0; part < rankOf(parts); ++part)
        isJoint &= nodes[nodeOf(parts, part)] != own &&
                   (typeOf(parts).getDimSize(part) < size ||
                    isPassedOn(whole, {parts, part}));
      classes[own].isJoint |= isJoint;
    }
}

/// Whether a reshape has a dimension of its other side as it is.
bool DimensionClasses::isPassedOn(Value other, Place place) {
  unsigned node = nodes[nodeOf(place.first, place.second)];
  return llvm::any_of(llvm::seq<unsigned>(0, rankOf(other)), [&](unsigned dim) {
    return nodes[nodeOf(other, dim)] == node;
  });
}

void DimensionClasses::count(Operation *op) {
  if (isa<stablehlo::ReshapeOp>(op))
    return countReshape(op->getOperand(0), op->getResult(0));
  if (isa<stablehlo::OptimizationBarrierOp>(op) ||
      op->hasTrait<stablehlo::ControlFlow>() || isLoop(op))
    return;
  SmallVector<Factor> factors = getFactors(op);
  double flops = isContraction(op) ? 2 : 0;
  int64_t bytes = 0;
  for (Value result : op->getResults())
    bytes += isTensor(result) ? storageBytes(result.getType()) : 0;
  auto placeOf = [&](const Factor &factor) {
    auto [number, dim] =
        factor.operands.empty() ? factor.results[0] : factor.operands[0];
    return Place(factor.operands.empty() ? Value(op->getResult(number))
                                         : op->getOperand(number),
                 dim);
  };
  for (const Factor &factor : factors) {
    auto [value, dim] = placeOf(factor);
    flops *= double(typeOf(value).getDimSize(dim));
  }
  DenseSet<std::pair<unsigned, unsigned>> kept;
  for (const Factor &factor : factors) {
    auto [value, dim] = placeOf(factor);
    DimensionClass &own = classOf(value, dim);
    own.flops += flops;
    if (factor.reduction)
      own.reducedBytes += bytes;
    if (!factor.moves)
      kept.insert_range(factor.operands);
  }
  for (OpOperand &operand : op->getOpOperands())
    for (unsigned dim = 0;
         isTensor(operand.get()) && dim < rankOf(operand.get()); ++dim)
      if (!kept.contains({operand.getOperandNumber(), dim}))
        classOf(operand.get(), dim).gatheredBytes +=
            storageBytes(operand.get().getType());
}
