//===- Places.cpp - Shared places and their lifetimes ---------------------===//

#include "Places.h"

#include "Overwriting.h"

#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/Storage.h"
#include "sp/StableHLO/StableHLO.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sp;

int64_t mlir::sp::bytesOf(const Place &place) {
  return llvm::alignTo(place.bytes, alignmentOf(place.space)) * place.slots;
}

Places::Places(func::FuncOp func) : func(func) {
  Block &body = func.getBody().front();
  for (BlockArgument argument : body.getArguments())
    values.push_back(argument);
  for (Operation &op : body)
    number(&op);
  func.getBody().walk([&](Operation *op) { joinValues(op); });
  collect();
  // Arguments keep what the caller gave, unless a result replaces it; results
  // keep what the caller takes.
  for (BlockArgument argument : body.getArguments()) {
    extendTo(argument, 0);
    if (!donatedTo(func, argument.getArgNumber()))
      extendTo(argument, lastPoint);
  }
  for (Operation &op : body)
    measure(&op);
  for (Value result : body.getTerminator()->getOperands())
    extendTo(result, lastPoint);
}

/// Numbers the points before and after every operation and lists its values.
void Places::number(Operation *op) {
  int64_t before = ++lastPoint;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          values.push_back(argument);
      for (Operation &inner : block)
        number(&inner);
    }
  points[op] = {before, ++lastPoint};
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      values.push_back(result);
}

void Places::joinFor(scf::ForOp loop) {
  Block &body = *loop.getBody();
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isTensor(argument))
      continue;
    Value init = loop.getInitArgs()[index],
          yielded = loop.getYieldedValues()[index],
          result = loop.getResult(index);
    if (!isHandedOn(body.getTerminator()->getOpOperand(index))) {
      for (Value value : {init, yielded, result})
        joinSlots(value, argument);
      continue;
    }
    for (Value value : {init, yielded, result})
      join(value, argument);
    // Of a loop whose turns nobody knows no result is read.
    std::optional<APInt> trips = loop.getStaticTripCount();
    slots[argument] = {loop, 0, 0};
    slots[yielded] = {loop, 1, 0};
    slots[result] = {scf::ForOp(), 0, trips ? trips->getSExtValue() % 2 : 0};
  }
}

void Places::joinRows(Value part, Value whole, Value at, int64_t dim) {
  join(part, whole);
  rows[part] = {whole, at,
                rowBytesOf(cast<RankedTensorType>(whole.getType()), dim)};
}

void Places::joinValues(Operation *op) {
  if (isa<stablehlo::ReshapeOp>(op))
    return joinSlots(op->getOperand(0), op->getResult(0));
  for (auto [onto, result] : continuedBy(op))
    joinSlots(onto->get(), result);
  if (auto take = dyn_cast<TakeOp>(op))
    joinRows(take.getResult(), take.getWhole(), take.getAt(), take.getDim());
  if (auto put = dyn_cast<PutOp>(op))
    joinRows(put.getBlock(), put.getWhole(), put.getAt(), put.getDim());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return joinFor(loop);
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    Operation *yield = loop.getBody().front().getTerminator();
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      for (Value value :
           {op->getOperand(i), Value(loop.getCond().getArgument(i)),
            Value(loop.getBody().getArgument(i)), yield->getOperand(i)})
        joinSlots(op->getResult(i), value);
    return;
  }
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
    for (Region &region : op->getRegions())
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        joinSlots(op->getResult(i),
                  region.front().getTerminator()->getOperand(i));
}

void Places::collect() {
  DenseMap<void *, unsigned> leaders;
  for (Value value : values) {
    void *leader =
        *classes.findLeader(classes.insert(value.getAsOpaquePointer()));
    auto [entry, isNew] = leaders.try_emplace(leader, places.size());
    if (isNew)
      places.emplace_back();
    Place &place = places[entry->second];
    place.values.push_back(value);
    place.bytes = std::max(place.bytes, storageBytes(value.getType()));
    if (slots.contains(value))
      place.slots = 2;
    if (value.getDefiningOp<stablehlo::ConstantOp>())
      place.space = Space::Constants;
    if (isFar(value.getType()))
      place.space = Space::Far;
    numbers[value] = entry->second;
  }
}

void Places::extendTo(Value value, int64_t point) {
  Place &place = places[numbers.at(value)];
  place.begin = std::min(place.begin, point);
  place.end = std::max(place.end, point);
}

/// Extends the places that `op` reads and writes to its points; a value from
/// outside a loop is needed until the loop ends.
void Places::measure(Operation *op) {
  auto [before, after] = points[op];
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    int64_t last = after;
    Block *home = operand.getParentBlock();
    for (Operation *loop = op->getParentOp(); loop && loop != func;
         loop = loop->getParentOp()) {
      if (home->findAncestorOpInBlock(*loop) == nullptr)
        break;
      last = std::max(last, points[loop].second);
    }
    extendTo(operand, last);
  }
  for (Value result : op->getResults()) {
    if (isa<RankedTensorType>(result.getType())) {
      extendTo(result, before);
      extendTo(result, after);
    }
    // What a communication reads and writes is in use until its wait.
    if (isa<TokenType>(result.getType()) && result.hasOneUse()) {
      int64_t waited = points[*result.user_begin()].second;
      for (Value value : op->getOperands())
        if (isa<RankedTensorType>(value.getType()))
          extendTo(value, waited);
      for (Value value : op->getResults().drop_back())
        extendTo(value, waited);
    }
  }
  bool isLoop = isa<scf::ForOp, stablehlo::WhileOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        if (isLoop && isa<RankedTensorType>(argument.getType())) {
          extendTo(argument, before);
          extendTo(argument, after);
        }
      for (Operation &inner : block)
        measure(&inner);
    }
}

template <typename T>
T Places::lookup(const DenseMap<Value, T> &known, Value value) const {
  if (!inOneSlot.contains(value.getAsOpaquePointer()))
    return known.lookup(value);
  for (void *member : inOneSlot.members(value.getAsOpaquePointer()))
    if (auto found = known.find(Value::getFromOpaquePointer(member));
        found != known.end())
      return found->second;
  return {};
}

/// An index by the counters of `loops`, outermost first.
static AffineExpr expressionOf(Value index, ArrayRef<Operation *> loops) {
  MLIRContext *context = index.getContext();
  if (auto counter = dyn_cast<BlockArgument>(index))
    return getAffineDimExpr(
        llvm::find(loops, counter.getOwner()->getParentOp()) - loops.begin(),
        context);
  if (auto number = index.getDefiningOp<arith::ConstantIndexOp>())
    return getAffineConstantExpr(number.value(), context);
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> dims, symbols;
  for (auto [number, operand] : llvm::enumerate(apply.getMapOperands()))
    (number < map.getNumDims() ? dims : symbols)
        .push_back(expressionOf(operand, loops));
  return map.getResult(0).replaceDimsAndSymbols(dims, symbols);
}

AffineExpr Places::offsetIn(const Place &place, Value value,
                            ArrayRef<Operation *> loops) const {
  MLIRContext *context = value.getContext();
  if (Rows part = lookup(rows, value); part.whole)
    return offsetIn(place, part.whole, loops) +
           simplifyAffineExpr(expressionOf(part.at, loops) * part.rowBytes,
                              loops.size(), /*numSymbols=*/0);
  int64_t slotBytes = llvm::alignTo(place.bytes, alignmentOf(place.space));
  Slot slot = lookup(slots, value);
  if (!slot.loop)
    return getAffineConstantExpr(slot.fixed * slotBytes, context);
  scf::ForOp loop = slot.loop;
  int64_t lower = getConstantIntValue(loop.getLowerBound()).value_or(0),
          shift = (slot.shift - lower) & 1;
  unsigned depth = llvm::find(loops, loop.getOperation()) - loops.begin();
  return ((getAffineDimExpr(depth, context) + shift) % 2) * slotBytes;
}

PlaceAttr Places::placeOf(Value value, Operation *at) const {
  MLIRContext *context = value.getContext();
  SmallVector<Operation *> loops;
  for (Operation *parent = at->getParentOp();
       parent && !isa<func::FuncOp>(parent); parent = parent->getParentOp())
    if (isa<scf::ForOp>(parent))
      loops.insert(loops.begin(), parent);
  const Place &place = of(value);
  AffineExpr offset = offsetIn(place, value, loops) + place.offset;
  return PlaceAttr::get(
      context, place.space,
      AffineMapAttr::get(AffineMap::get(loops.size(), 0, offset)));
}
