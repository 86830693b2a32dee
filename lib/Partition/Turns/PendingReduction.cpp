#include "Turns/PendingReduction.h"

#include "sp/IR/Linearity.h"
#include "sp/StableHLO/Operations.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sp;

static bool isOfFloats(Value value) { return isa<FloatType>(elementOf(value)); }

/// Whether every element is one number, which is finite and not 0.
static bool isPlainFactor(Value value) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat() ||
      !isa<FloatType>(constant.getElementType()))
    return false;
  APFloat number = constant.getSplatValue<APFloat>();
  return number.isFinite() && !number.isZero();
}

bool PendingReduction::isFactor(Value value) const {
  return factors ? ranks->isAlike(value) : isPlainFactor(value);
}

bool PendingReduction::reach(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getBlock() != body)
    return false;
  if (llvm::is_contained(between, op) || llvm::is_contained(reductions, op))
    return true;
  if (auto reduce = dyn_cast<AllReduceOp>(op)) {
    if (!reductions.empty() &&
        reduce->getAttrDictionary() != first()->getAttrDictionary())
      return false;
    reductions.push_back(reduce);
    return true;
  }
  if (!reach(op, value))
    return false;
  between.push_back(op);
  return true;
}

SmallVector<Operation *> PendingReduction::operations() const {
  SmallVector<Operation *> all(reductions.begin(), reductions.end());
  llvm::append_range(all, between);
  return all;
}

bool PendingReduction::isLinear() const {
  auto isPending = [all = operations()](Value value) {
    Operation *op = value.getDefiningOp();
    return op && llvm::is_contained(all, op);
  };
  return llvm::all_of(between, [&](Operation *op) {
    return linearityOf(op)->together ||
           llvm::count_if(op->getOperands(), isPending) == 1;
  });
}

bool PendingReduction::isReadBy(
    function_ref<bool(Operation *)> isReader) const {
  return llvm::all_of(operations(), [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return llvm::is_contained(between, user) || isReader(user);
    });
  });
}

void PendingReduction::separate(Operation *last) {
  if (isReadBy([&](Operation *user) { return user == last; }))
    return;
  IRMapping own;
  SmallVector<Operation *> shared = operations();
  auto copy = [&](Operation *op) { return OpBuilder(op).clone(*op, own); };
  for (AllReduceOp &reduce : reductions)
    reduce = cast<AllReduceOp>(copy(reduce));
  for (Operation *&op : between)
    op = copy(op);
  for (OpOperand &operand : last->getOpOperands())
    operand.set(own.lookupOrDefault(operand.get()));
  for (Operation *op : llvm::reverse(shared))
    if (op->use_empty()) {
      ranks->forget(op);
      op->erase();
    }
}

/// A product of something pending with what all ranks have alike.
bool PendingReduction::reachProduct(Operation *op) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  size_t known = reductions.size(), knownBetween = between.size();
  if (isFactor(rhs) && reach(lhs))
    return true;
  reductions.truncate(known);
  between.truncate(knownBetween);
  return isFactor(lhs) && reach(rhs);
}

bool PendingReduction::reach(Operation *op, Value value) {
  std::optional<Linearity> linearity = linearityOf(op);
  if (!linearity)
    return false;
  if (isLayout(op))
    return reach(op->getOperand(0));
  if (!isOfFloats(value))
    return false;
  if (isa<stablehlo::ConvertOp>(op))
    return isOfFloats(op->getOperand(0)) && reach(op->getOperand(0)) &&
           fits(value.getType());
  // The rest is linear.
  auto isData = [&](unsigned number) {
    return llvm::is_contained(linearity->data, number);
  };
  bool isElementwise = op->hasTrait<stablehlo::Elementwise>(), isNew = false;
  for (unsigned number = 0; number < op->getNumOperands(); ++number) {
    Value operand = op->getOperand(number);
    if (!linearity->together)
      break;
    // A choice, or places.
    if (!isData(number) && (isElementwise || !ranks->isAlike(operand)))
      return false;
    bool starts = !isElementwise && isNeutral(operand, Reduction::Sum);
    isNew |= starts;
    if (isData(number) && !starts && !reach(operand))
      return false;
  }
  if (!linearity->together &&
      (isData(1) ? !reachProduct(op)
                 : !isFactor(op->getOperand(1)) || !reach(op->getOperand(0))))
    return false;
  // What stays as it is beside wider elements keeps its type.
  bool mayWiden = isElementwise || isa<stablehlo::ReduceOp>(op) ||
                  (linearity->together && !isNew);
  return !reductions.empty() && kind() == Reduction::Sum &&
         (mayWiden || !isNarrow(value.getType()));
}

void PendingReduction::release(Type element) {
  for (AllReduceOp reduce : reductions) {
    reduce->getResult(0).replaceAllUsesWith(reduce->getOperand(0));
    ranks->forget(reduce);
    reduce->erase();
  }
  for (Operation *op : between) {
    if (isa<stablehlo::ConvertOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      ranks->forget(op);
      op->erase();
      continue;
    }
    OpBuilder builder(op);
    Value result = op->getResult(0);
    if (isa<stablehlo::ReduceOp>(op) && isNarrow(result.getType()))
      addInF32(builder, op);
    result.setType(typeOf(result).clone(element));
    // Factors, which are narrow where their products were.
    if (op->hasTrait<stablehlo::Elementwise>())
      for (OpOperand &operand : op->getOpOperands())
        operand.set(convertType(builder, op->getLoc(), operand.get(),
                                typeOf(operand.get()).clone(element)));
  }
}
