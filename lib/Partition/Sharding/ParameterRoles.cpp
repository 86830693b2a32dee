//===- ParameterRoles.cpp - What is trained, and what is read for it ------===//

#include "sp/Partition/ParameterRoles.h"

#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/ShardingRules.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/Passes.h"

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

} // namespace

StringRef mlir::sp::nameOf(ArgumentRole role) {
  switch (role) {
  case ArgumentRole::Parameter:
    return "parameter";
  case ArgumentRole::State:
    return "state";
  case ArgumentRole::Small:
    return "small";
  case ArgumentRole::Data:
    return "data";
  }
  llvm_unreachable("a role without a name");
}

bool mlir::sp::isOfUpdate(Operation *op) {
  auto func = op->getParentOfType<func::FuncOp>();
  llvm::SmallDenseSet<unsigned> fed;
  for (unsigned number = 0; number < func.getNumArguments(); ++number)
    if (std::optional<unsigned> result = donatedTo(func, number))
      fed.insert(*result);
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
    if (result && isa<FloatType>(getElementTypeOrSelf(argument.getType())))
      trained.push_back({argument, *result, UsesFinder().find(argument)});
  }
  return trained;
}

SmallVector<ArgumentRole> mlir::sp::findRoles(func::FuncOp func) {
  // Counts and keys are kept from step to step, too.
  SmallVector<ArgumentRole> roles;
  for (BlockArgument argument : func.getArguments())
    roles.push_back(
        !donatedTo(func, argument.getArgNumber())        ? ArgumentRole::Data
        : storageBytes(argument.getType()) < kSmallBytes ? ArgumentRole::Small
                                                         : ArgumentRole::State);
  for (const TrainedArgument &trained : findTrained(func)) {
    ArgumentRole &role = roles[trained.argument.getArgNumber()];
    if (role == ArgumentRole::State && trained.uses.isRead)
      role = ArgumentRole::Parameter;
  }
  return roles;
}
