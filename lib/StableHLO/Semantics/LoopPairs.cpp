//===- LoopPairs.cpp - What one loop saves and another reads --------------===//

#include "sp/StableHLO/LoopPairs.h"

#include "sp/StableHLO/Operations.h"

using namespace mlir;
using namespace mlir::sp;

Value mlir::sp::withoutRow(Value update) {
  Operation *op = update.getDefiningOp();
  if (!isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op))
    return Value();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(update.getType());
  bool keeps = to.getRank() == from.getRank() + 1 && to.getDimSize(0) == 1 &&
               to.getShape().drop_front() == from.getShape();
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      keeps &= dim == int64_t(i) + 1;
  return keeps ? op->getOperand(0) : Value();
}

/// What a value is before reshapes that give it its type again, as those of the
/// layers of an unrolled scan are.
static Value beforeReshapes(Value value) {
  Value first = value, at = value;
  while (auto reshape = at.getDefiningOp<stablehlo::ReshapeOp>()) {
    at = reshape.getOperand();
    if (at.getType() == value.getType())
      first = at;
  }
  return first;
}

bool LoopPair::startsAtTrip(OperandRange starts, bool inForward) const {
  Value counter = inForward ? ahead().getArgument(forwardCount.counter)
                            : behind().getArgument(backwardCount.counter);
  int64_t trips = forwardCount.trips;
  for (int64_t trip = 0; trip < trips; ++trip)
    for (auto [dim, start] : llvm::enumerate(starts)) {
      int64_t row = inForward ? trip : trips - 1 - trip;
      if (evaluateScalar(start, [&](Value value) {
            return value == counter ? std::optional(trip) : std::nullopt;
          }) != (dim == 0 ? row : 0))
        return false;
    }
  return true;
}

std::optional<Residual> LoopPair::readResidual(unsigned result,
                                               unsigned operand) {
  BlockArgument stack = ahead().getArgument(result);
  auto update = ahead()
                    .getTerminator()
                    ->getOperand(result)
                    .getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  if (!update || update.getOperand() != stack || !stack.hasOneUse() ||
      !startsAtTrip(update.getStartIndices(), /*inForward=*/true))
    return std::nullopt;
  Residual residual;
  residual.saved = withoutRow(update.getUpdate());
  residual.update = update;
  BlockArgument saved = behind().getArgument(operand);
  if (!residual.saved || behind().getTerminator()->getOperand(operand) != saved)
    return std::nullopt;
  for (Operation *user : saved.getUsers()) {
    if (user == behind().getTerminator())
      continue;
    auto slice = dyn_cast<stablehlo::DynamicSliceOp>(user);
    if (!slice || slice.getOperand() != saved ||
        slice.getType() != update.getUpdate().getType() ||
        !startsAtTrip(slice.getStartIndices(), /*inForward=*/false))
      return std::nullopt;
    residual.read = slice;
    for (Operation *reshape : slice->getUsers()) {
      if (!isa<stablehlo::ReshapeOp>(reshape) ||
          reshape->getResult(0).getType() != residual.saved.getType())
        return std::nullopt;
      residual.uses.push_back(reshape->getResult(0));
    }
  }
  return residual.read ? std::optional(residual) : std::nullopt;
}

std::optional<LoopPair> LoopPair::find(stablehlo::WhileOp forward,
                                       stablehlo::WhileOp backward) {
  std::optional<CountedLoop> ahead = countLoop(forward),
                             back = countLoop(backward);
  if (forward == backward || forward->getBlock() != backward->getBlock() ||
      !ahead || !back || ahead->first != 0 || back->first != 0 ||
      ahead->trips != back->trips)
    return std::nullopt;
  LoopPair pair(forward, backward);
  pair.forwardCount = *ahead;
  pair.backwardCount = *back;
  for (unsigned operand = 0; operand < backward->getNumOperands(); ++operand) {
    auto result =
        dyn_cast<OpResult>(beforeReshapes(backward->getOperand(operand)));
    if (result && result.getOwner() == forward)
      if (auto residual = pair.readResidual(result.getResultNumber(), operand))
        pair.residuals.push_back(std::move(*residual));
  }
  return pair.residuals.empty() ? std::nullopt : std::optional(std::move(pair));
}

stablehlo::WhileOp mlir::sp::appendCarried(stablehlo::WhileOp loop,
                                           ValueRange initial) {
  OpBuilder builder(loop);
  OperationState state(loop.getLoc(), loop->getName());
  state.addOperands(loop->getOperands());
  state.addOperands(initial);
  state.addTypes(loop->getResultTypes());
  state.addTypes(initial.getTypes());
  state.addAttributes(llvm::to_vector(loop->getDiscardableAttrs()));
  for (Region &region : loop->getRegions())
    state.addRegion()->takeBody(region);
  Operation *larger = builder.create(state);
  for (Region &region : larger->getRegions())
    for (Value value : initial)
      region.front().addArgument(value.getType(), value.getLoc());
  Block &body = larger->getRegion(1).front();
  Operation *end = body.getTerminator();
  end->insertOperands(end->getNumOperands(),
                      body.getArguments().take_back(initial.size()));
  loop->replaceAllUsesWith(
      larger->getResults().take_front(loop->getNumResults()));
  loop->erase();
  return cast<stablehlo::WhileOp>(larger);
}

Value LoopPair::carry(Value value) {
  backward = appendCarried(backward, value);
  return behind().getArguments().back();
}

Value LoopPair::handOver(Value made, Residual model, Operation *reader) {
  auto type = cast<RankedTensorType>(made.getType());
  SmallVector<int64_t> row = {1}, all = {forwardCount.trips};
  llvm::append_range(row, type.getShape());
  llvm::append_range(all, type.getShape());
  Location location = made.getLoc();
  OpBuilder builder(forward);
  auto startsOf = [&](Value trip) {
    auto index = cast<RankedTensorType>(trip.getType());
    SmallVector<Value> starts(
        row.size(),
        stablehlo::ConstantOp::create(
            builder, location, cast<ElementsAttr>(builder.getZeroAttr(index))));
    starts[0] = trip;
    return starts;
  };
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value none = stablehlo::ConstantOp::create(
      builder, location, cast<ElementsAttr>(builder.getZeroAttr(scalar)));
  none = stablehlo::BroadcastInDimOp::create(builder, location, type.clone(all),
                                             none, ArrayRef<int64_t>());
  forward = appendCarried(forward, none);
  Operation *end = ahead().getTerminator();
  builder.setInsertionPoint(end);
  Value value =
      stablehlo::ReshapeOp::create(builder, location, type.clone(row), made);
  value = stablehlo::DynamicUpdateSliceOp::create(
      builder, location, type.clone(all), ahead().getArguments().back(), value,
      startsOf(model.update.getStartIndices()[0]));
  end->setOperand(end->getNumOperands() - 1, value);

  Value stack = carry(forward->getResults().back());
  builder.setInsertionPoint(reader);
  value = stablehlo::DynamicSliceOp::create(
      builder, location, type.clone(row), stack,
      startsOf(model.read.getStartIndices()[0]), row);
  return stablehlo::ReshapeOp::create(builder, location, type, value);
}

bool mlir::sp::changeLoopPair(Operation *root,
                              llvm::function_ref<bool(LoopPair &)> change) {
  SmallVector<stablehlo::WhileOp> loops;
  root->walk([&](stablehlo::WhileOp loop) { loops.push_back(loop); });
  for (stablehlo::WhileOp forward : loops)
    for (stablehlo::WhileOp backward : loops)
      if (std::optional<LoopPair> pair = LoopPair::find(forward, backward))
        if (change(*pair))
          return true;
  return false;
}
