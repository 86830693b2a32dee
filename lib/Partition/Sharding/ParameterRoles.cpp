//===- ParameterRoles.cpp - What is trained, and what is read for it ------===//

#include "sp/Partition/ParameterRoles.h"

#include "sp/IR/Attributes.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/ShardingRules.h"
#include "sp/IR/Storage.h"
#include "sp/Partition/Passes.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

namespace {

/// What is made of an argument.
struct Followed {
  Value value;
  /// Whether its elements are where those of the argument are.
  bool isInPlace;
  /// For each dimension that of the argument which it is part of, or -1.
  SmallVector<int64_t> dims;
};

class UsesFinder {
public:
  ArgumentUses find(Value argument) {
    follow({argument, true, llvm::to_vector(llvm::seq(rankOf(argument)))});
    while (!open.empty()) {
      Followed followed = open.pop_back_val();
      for (OpOperand &use : followed.value.getUses())
        visit(use, followed);
    }
    return uses;
  }

private:
  void follow(const Followed &followed) {
    if (seen.insert({followed.value, followed.isInPlace}).second)
      open.push_back(followed);
  }

  void visit(OpOperand &use, const Followed &from) {
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp>(op)) {
      if (from.isInPlace)
        uses.results.insert(use.getOperandNumber());
      return;
    }
    if (op->hasTrait<stablehlo::Elementwise>() || isShardingAnnotation(op)) {
      for (Value result : op->getResults())
        if (shapeOf(result) == shapeOf(use.get()))
          follow({result, from.isInPlace, from.dims});
      return;
    }
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    uses.isRead = true;
    if (std::optional<Carried> carried = startedBy(use)) {
      follow({carried->argument(), from.isInPlace, from.dims});
      return;
    }
    bool moves = isMove(op) || isa<stablehlo::DynamicUpdateSliceOp>(op);
    uses.isWeight |= !moves && !isa<stablehlo::ReduceOp>(op);
    if (!moves)
      return;
    if (isa<stablehlo::OptimizationBarrierOp>(op)) {
      follow(
          {op->getResult(use.getOperandNumber()), from.isInPlace, from.dims});
      return;
    }
    follow({op->getResult(0), false, dimsBehind(op, from)});
    if (isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp>(op))
      for (auto [dim, before, after] : llvm::zip_equal(
               from.dims, shapeOf(from.value), shapeOf(op->getResult(0))))
        if (before != after && dim >= 0)
          (isa<stablehlo::SliceOp>(op) ? uses.sliced : uses.cut).insert(dim);
  }

  /// Of what an operation makes of a value by moving its elements.
  static SmallVector<int64_t> dimsBehind(Operation *op, const Followed &from) {
    Value made = op->getResult(0);
    SmallVector<int64_t> dims(rankOf(made), -1);
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      for (auto [to, dim] : llvm::enumerate(transpose.getPermutation()))
        dims[to] = from.dims[dim];
    } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      for (auto [dim, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        dims[to] = from.dims[dim];
    } else if (isa<stablehlo::ReshapeOp>(op)) {
      // By the elements that a step along each takes, and all of them.
      int64_t end = countOf(shapeOf(made));
      for (auto [to, size] : llvm::enumerate(shapeOf(made))) {
        int64_t last = end, before = countOf(shapeOf(made));
        end /= std::max<int64_t>(size, 1);
        for (auto [dim, other] : llvm::enumerate(shapeOf(from.value))) {
          int64_t begin = before / std::max<int64_t>(other, 1);
          if (begin <= end && last <= before && size > 1)
            dims[to] = from.dims[dim];
          before = begin;
        }
      }
    } else if (rankOf(made) == static_cast<int64_t>(from.dims.size())) {
      dims = from.dims;
    }
    return dims;
  }

  ArgumentUses uses;
  DenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<Followed> open;
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
    if (role == ArgumentRole::State && trained.uses.isWeight)
      role = ArgumentRole::Parameter;
  }
  return roles;
}
