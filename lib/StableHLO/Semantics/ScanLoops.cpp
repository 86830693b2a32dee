//===- ScanLoops.cpp - Loops whose trips take rows of stacks --------------===//

#include "sp/StableHLO/ScanLoops.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

using namespace mlir;
using namespace mlir::sp;

Value ScanLoop::outside(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &body()) {
    unsigned number = argument.getArgNumber();
    return carried[number].kind == ScanValue::Kind::Same
               ? loop->getOperand(number)
               : Value();
  }
  return loop.getBody().isAncestor(value.getParentRegion()) ? Value() : value;
}

std::optional<StackRows> ScanLoop::rowsAt(OperandRange starts,
                                          ArrayRef<int64_t> part,
                                          ArrayRef<int64_t> whole) {
  std::optional<StackRows> found;
  for (auto [dim, size] : llvm::enumerate(part)) {
    if (size == whole[dim])
      continue;
    if (found || size * trips != whole[dim])
      return std::nullopt;
    found = StackRows{static_cast<unsigned>(dim), size};
  }
  if (!found)
    return std::nullopt;
  Value start = starts[found->dim];
  for (int64_t trip = 0; trip < trips; ++trip) {
    std::optional<int64_t> row = evaluateScalar(start, [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool isNumber = argument && argument.getOwner() == &body() &&
                      carried[argument.getArgNumber()].induction;
      return isNumber
                 ? std::optional(
                       carried[argument.getArgNumber()].induction->at(trip))
                 : std::nullopt;
    });
    if (trip == 0)
      found->isReversed = row != 0;
    int64_t turn = found->isReversed ? trips - 1 - trip : trip;
    if (row != turn * found->rows)
      return std::nullopt;
  }
  return found;
}

std::optional<StackRows> ScanLoop::rowsOf(stablehlo::DynamicSliceOp slice) {
  if (slice->getBlock() != &body() || !outside(slice.getOperand()))
    return std::nullopt;
  return rowsAt(slice.getStartIndices(), shapeOf(slice),
                shapeOf(slice.getOperand()));
}

std::optional<StackRows>
ScanLoop::rowsOf(stablehlo::DynamicUpdateSliceOp update) {
  return rowsAt(update.getStartIndices(), shapeOf(update.getUpdate()),
                shapeOf(update));
}

/// The value that barriers and conversions to its own type pass on.
static Value passedOn(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    bool isSame = isa<stablehlo::ConvertOp>(op) &&
                  op->getOperand(0).getType() == result.getType();
    if (!isSame && !isa<stablehlo::OptimizationBarrierOp>(op))
      break;
    value = op->getOperand(isSame ? 0 : result.getResultNumber());
  }
  return value;
}

ScanValue ScanLoop::classify(unsigned number) {
  Value own = body().getArgument(number), after = next(number);
  ScanValue made;
  if (passedOn(after) == own) {
    made.kind = ScanValue::Kind::Same;
    return made;
  }
  Operation *last = after.getDefiningOp();
  if (!last || last->getBlock() != &body() || !own.hasOneUse() ||
      !after.hasOneUse())
    return made;
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(last)) {
    std::optional<StackRows> rows =
        update.getOperand() == own ? rowsOf(update) : std::nullopt;
    if (rows) {
      made.kind = ScanValue::Kind::Written;
      made.update = update;
      made.written = *rows;
    }
  }
  Value sum = own;
  while (sum != after && sum.hasOneUse()) {
    Operation *user = *sum.user_begin();
    auto subtract = dyn_cast<stablehlo::SubtractOp>(user);
    bool isSame = isa<stablehlo::ConvertOp>(user) &&
                  user->getResult(0).getType() == sum.getType();
    bool isTerm =
        isa<stablehlo::AddOp>(user) || (subtract && subtract.getLhs() == sum);
    if ((!isTerm && !isSame) || user->getBlock() != &body())
      return made;
    if (isTerm)
      (subtract ? made.subtracted : made.added)
          .push_back(otherOperand(user, sum));
    sum = user->getResult(0);
  }
  if (sum == after)
    made.kind = ScanValue::Kind::Sum;
  return made;
}

std::optional<ScanLoop> ScanLoop::find(stablehlo::WhileOp loop) {
  std::optional<CountedLoop> count = countLoop(loop);
  if (!count || count->trips < 2)
    return std::nullopt;
  ScanLoop scan(loop);
  scan.trips = count->trips;
  scan.carried.resize(loop->getNumResults());
  for (unsigned number = 0; number < loop->getNumResults(); ++number)
    if (std::optional<Induction> induction = findInduction(loop, number)) {
      scan.carried[number].kind = ScanValue::Kind::Number;
      scan.carried[number].induction = induction;
    }
  for (auto [number, carried] : llvm::enumerate(scan.carried))
    if (!carried.induction)
      carried = scan.classify(number);
  return scan;
}
