//===- ParameterRoles.cpp - What is trained, and what is read for it ------===//

#include "sp/Partition/ParameterRoles.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/ShardingRules.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

class UsesFinder {
public:
  ArgumentUses find(Value argument) {
    follow(argument);
    while (!open.empty())
      for (OpOperand &use : open.pop_back_val().getUses())
        visit(use);
    return uses;
  }

private:
  void follow(Value value) {
    if (seen.insert(value).second)
      open.push_back(value);
  }

  void visit(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp>(op)) {
      uses.results.insert(use.getOperandNumber());
      return;
    }
    if (op->hasTrait<stablehlo::Elementwise>() || isShardingAnnotation(op)) {
      for (Value result : op->getResults())
        if (cast<RankedTensorType>(result.getType()).getShape() ==
            cast<RankedTensorType>(use.get().getType()).getShape())
          follow(result);
      return;
    }
    if (std::optional<Carried> carried = startedBy(use))
      follow(carried->argument());
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    uses.isRead = true;
    if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
      for (auto [dim, sizes] : llvm::enumerate(
               llvm::zip_equal(slice.getOperand().getType().getShape(),
                               slice.getType().getShape())))
        if (std::get<0>(sizes) != std::get<1>(sizes))
          uses.cut.insert(dim);
  }

  ArgumentUses uses;
  DenseSet<Value> seen;
  SmallVector<Value> open;
};

/// The results that arguments are donated for.
llvm::SmallDenseSet<unsigned> findFed(
    func::FuncOp func,
    function_ref<bool(unsigned)> isCounted = [](unsigned) { return true; }) {
  llvm::SmallDenseSet<unsigned> fed;
  for (unsigned number = 0; number < func.getNumArguments(); ++number)
    if (std::optional<unsigned> result = donatedTo(func, number);
        result && isCounted(number))
      fed.insert(*result);
  return fed;
}

/// Follows an argument to results of a kind.
class RowsFinder {
public:
  RowsFinder(BlockArgument argument, llvm::SmallDenseSet<unsigned> results)
      : argument(argument), results(std::move(results)) {}

  /// Whether it gets there with rows written beside its own, and no other way.
  bool isWritten() {
    follow(argument, false);
    while (!open.empty() && !isComputed) {
      auto [value, isChanged] = open.pop_back_val();
      for (OpOperand &use : value.getUses())
        visit(use, isChanged);
    }
    return isThere && !isComputed;
  }

private:
  void follow(Value value, bool isChanged) {
    if (seen.insert({value, isChanged}).second)
      open.push_back({value, isChanged});
  }

  void visit(OpOperand &use, bool isChanged) {
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp>(op)) {
      isThere |= isChanged && results.contains(use.getOperandNumber());
      return;
    }
    if (std::optional<Carried> carried = startedBy(use)) {
      follow(carried->argument(), isChanged);
      return;
    }
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      if (isLoop(op->getParentOp()))
        follow(Carried{op->getParentOp(), use.getOperandNumber()}.result(),
               isChanged);
      return;
    }
    // Rows beside its own, or in place of some of them.
    bool joins = isMove(op) && !isRearrangement(op) && !isIdentity(op);
    bool writes =
        joins || isa<stablehlo::SelectOp>(op) ||
        isa<stablehlo::DynamicUpdateSliceOp, stablehlo::ScatterOp>(op);
    if (writes || isMove(op))
      for (Value made : op->getResults())
        follow(made, isChanged || writes);
    else if (op->hasTrait<stablehlo::Elementwise>())
      isComputed |= llvm::any_of(
          UsesFinder().find(op->getResult(0)).results,
          [&](unsigned result) { return results.contains(result); });
  }

  BlockArgument argument;
  llvm::SmallDenseSet<unsigned> results;
  bool isThere = false, isComputed = false;
  DenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<std::pair<Value, bool>> open;
};

} // namespace

void mlir::sp::findCaches(func::FuncOp func) {
  llvm::SmallDenseSet<unsigned> fed = findFed(func);
  for (BlockArgument argument : func.getArguments())
    if (donatedTo(func, argument.getArgNumber()) &&
        RowsFinder(argument, fed).isWritten())
      func.setArgAttr(argument.getArgNumber(), kCache,
                      UnitAttr::get(func.getContext()));
}

StringRef mlir::sp::nameOf(ArgumentRole role) {
  switch (role) {
  case ArgumentRole::Parameter:
    return "parameter";
  case ArgumentRole::State:
    return "state";
  case ArgumentRole::Cache:
    return "cache";
  case ArgumentRole::Small:
    return "small";
  case ArgumentRole::Data:
    return "data";
  }
  llvm_unreachable("a role without a name");
}

bool mlir::sp::isOfUpdate(Operation *op) {
  auto func = op->getParentOfType<func::FuncOp>();
  llvm::SmallDenseSet<unsigned> fed = findFed(
      func, [&](unsigned number) { return !func.getArgAttr(number, kCache); });
  return op->getNumResults() > 0 &&
         llvm::all_of(op->getResults(), [&](Value made) {
           ArgumentUses uses = UsesFinder().find(made);
           return !uses.isRead && !uses.results.empty() &&
                  llvm::all_of(uses.results, [&](unsigned result) {
                    return fed.contains(result);
                  });
         });
}

SmallVector<TrainedArgument> mlir::sp::findTrained(func::FuncOp func) {
  SmallVector<TrainedArgument> trained;
  for (BlockArgument argument : func.getArguments()) {
    std::optional<unsigned> result = donatedTo(func, argument.getArgNumber());
    if (result && !func.getArgAttr(argument.getArgNumber(), kCache) &&
        isa<FloatType>(getElementTypeOrSelf(argument.getType())))
      trained.push_back({argument, *result, UsesFinder().find(argument)});
  }
  return trained;
}

SmallVector<ArgumentRole> mlir::sp::findRoles(func::FuncOp func) {
  // Counts and keys are kept from step to step, too.
  SmallVector<ArgumentRole> roles;
  for (BlockArgument argument : func.getArguments())
    roles.push_back(
        !donatedTo(func, argument.getArgNumber())          ? ArgumentRole::Data
        : func.getArgAttr(argument.getArgNumber(), kCache) ? ArgumentRole::Cache
        : storageBytes(argument.getType()) < kSmallBytes   ? ArgumentRole::Small
                                                         : ArgumentRole::State);
  for (const TrainedArgument &trained : findTrained(func)) {
    ArgumentRole &role = roles[trained.argument.getArgNumber()];
    if (role == ArgumentRole::State && trained.uses.isRead)
      role = ArgumentRole::Parameter;
  }
  return roles;
}
