//===- ValueNumbers.cpp - Which values are equal --------------------------===//

#include "ValueNumbers.h"

#include "sp/IR/SP.h"
#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

static const void *asKey(unsigned number) {
  return reinterpret_cast<const void *>(uintptr_t(number));
}

/// As deep as an expression is followed.
static constexpr unsigned maxDepth = 4096;

unsigned ValueNumbers::number(Value value) {
  value = lookThroughLoops(value);
  if (unsigned number = known.lookup(value))
    return number;
  auto result = dyn_cast<OpResult>(value);
  bool isFollowed = result && depth < maxDepth;
  ++depth;
  unsigned made = isFollowed ? numberOf(result) : fresh();
  --depth;
  return known[value] = made;
}

Value ValueNumbers::savedAs(Value value) const {
  if (loops)
    for (const Residual &residual : loops->residuals)
      if (llvm::is_contained(residual.uses, value))
        return residual.saved;
  return {};
}

Value ValueNumbers::unshaped(Value value) const {
  while (true) {
    value = lookThroughLoops(value);
    if (Value saved = savedAs(value))
      value = saved;
    else if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
      value = reshape.getOperand();
    else
      return value;
  }
}

unsigned ValueNumbers::numberOf(OpResult value) {
  Operation *op = value.getOwner();
  if (throughBarriers && isa<stablehlo::OptimizationBarrierOp>(op))
    return number(op->getOperand(value.getResultNumber()));
  if (Value saved = savedAs(value))
    return number(saved);
  if (Value source = unshaped(value);
      source != value && source.getType() == value.getType())
    return number(source);
  std::optional<Key> key = keyOf(value);
  if (!key)
    return fresh();
  auto [entry, isNew] = numbers.try_emplace(*key, 0);
  if (isNew)
    entry->second = fresh();
  return entry->second;
}

std::optional<ValueNumbers::Key> ValueNumbers::keyOf(OpResult value) {
  Operation *op = value.getOwner();
  if (!isMemoryEffectFree(op) || isa<stablehlo::OptimizationBarrierOp>(op))
    return std::nullopt;
  Key key = {op->getName().getAsOpaquePointer(),
             value.getType().getAsOpaquePointer(),
             asKey(value.getResultNumber())};
  bool isAhead = loops && op->getBlock() == &loops->ahead(),
       isBehind = loops && op->getBlock() == &loops->behind();
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op);
      slice && (isAhead || isBehind) &&
      loops->startsAtTrip(slice.getStartIndices(), isAhead)) {
    key.push_back(asKey(number(slice.getOperand())));
    return key;
  }
  if (op->getNumRegions() != 0) {
    Operation *combiner = combinerOf(op);
    if (!combiner)
      return std::nullopt;
    key.push_back(combiner->getName().getAsOpaquePointer());
  }
  NamedAttrList attributes(op->getAttrDictionary());
  if (isa<AttentionOp>(op))
    attributes.erase("name");
  key.push_back(
      attributes.getDictionary(op->getContext()).getAsOpaquePointer());
  bool reshapes = isa<stablehlo::ReshapeOp>(op);
  for (Value operand : op->getOperands())
    key.push_back(asKey(number(reshapes ? unshaped(operand) : operand)));
  return key;
}
