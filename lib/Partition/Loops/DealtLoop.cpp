//===- DealtLoop.cpp - A loop over rows as loops over parts of them -------===//

#include "Loops/DealtLoop.h"
#include "Loops/CumulativeWindow.h"
#include "sp/IR/LocalForms.h"
#include "sp/StableHLO/Builders.h"
#include "sp/StableHLO/Operations.h"
#include "sp/StableHLO/TensorTypes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::sp;

using Kind = ScanValue::Kind;

DealtLoop::DealtLoop(ScanLoop &scan, int64_t parts)
    : scan(scan), parts(parts), trips(scan.trips / parts), builder(scan.loop),
      loc(scan.loop.getLoc()), states(numbersOf(Kind::State)) {
  for (auto slice : scan.body().getOps<stablehlo::DynamicSliceOp>())
    if (std::optional<StackRows> rows = scan.rowsOf(slice))
      taken[slice] = *rows;
}

SmallVector<unsigned> DealtLoop::numbersOf(Kind kind) {
  SmallVector<unsigned> numbers;
  for (auto [number, carried] : llvm::enumerate(scan.carried))
    if (carried.kind == kind)
      numbers.push_back(number);
  return numbers;
}

std::string DealtLoop::check() {
  std::optional<bool> direction;
  bool isMixed = false;
  auto add = [&](StackRows rows) {
    isMixed |= direction.value_or(rows.isReversed) != rows.isReversed;
    direction = rows.isReversed;
  };
  for (unsigned number : numbersOf(Kind::Written))
    add(scan.carried[number].written);
  for (auto [slice, rows] : taken)
    add(rows);
  if (isMixed)
    return "it takes rows from both ends";
  isReversed = direction.value_or(false);
  for (unsigned number : states)
    if (std::string reason = StateSlope(scan, number).check(); !reason.empty())
      return reason;
  for (unsigned number : numbersOf(Kind::Sum))
    if (!isa<FloatType>(elementOf(scan.next(number))))
      return "it sums up integers";
  return "";
}

DealtLoop::Operations DealtLoop::sourcesOf(ValueRange values) {
  Operations found;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &scan.body() || !found.insert(op).second)
      continue;
    if (!taken.contains(op))
      forEachRead(op, [&](Value read) { open.push_back(read); });
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Rows of parts
//===----------------------------------------------------------------------===//

/// The order that brings a dimension to the front.
static SmallVector<int64_t> toFront(int64_t dim, int64_t rank) {
  SmallVector<int64_t> order = {dim};
  for (int64_t other = 0; other < rank; ++other)
    if (other != dim)
      order.push_back(other);
  return order;
}

Value DealtLoop::inParts(Value stack, StackRows rows) {
  SmallVector<int64_t> shape(shapeOf(stack));
  shape[rows.dim] = trips * rows.rows;
  shape.insert(shape.begin() + rows.dim, parts);
  Value cut = reshapeTo(builder, loc, stack, shape);
  return transposed(builder, loc, cut, toFront(rows.dim, rankOf(cut)));
}

Value DealtLoop::fromParts(Value stack, StackRows rows, Type whole) {
  SmallVector<int64_t> order(
      invertPermutationVector(toFront(rows.dim, rankOf(stack))));
  return reshapeTo(builder, loc, transposed(builder, loc, stack, order),
                   cast<RankedTensorType>(whole).getShape());
}

SmallVector<Value> DealtLoop::startsOf(Value stack, StackRows rows,
                                       Value trip) {
  auto type = cast<RankedTensorType>(trip.getType());
  auto number = [&](int64_t value) {
    return splat(builder, loc, type, builder.getI32IntegerAttr(value));
  };
  SmallVector<Value> starts(rankOf(stack), number(0));
  Value turn = trip;
  if (isReversed)
    turn = stablehlo::SubtractOp::create(builder, loc, number(trips - 1), turn);
  if (rows.rows != 1)
    turn = stablehlo::MulOp::create(builder, loc, turn, number(rows.rows));
  starts[rows.dim + 1] = turn;
  return starts;
}

Value DealtLoop::rowsAt(Value stack, StackRows rows, Value trip) {
  if (!trip)
    return stack;
  SmallVector<int64_t> shape(shapeOf(stack));
  shape[rows.dim + 1] = rows.rows;
  return stablehlo::DynamicSliceOp::create(builder, loc,
                                           typeOf(stack).clone(shape), stack,
                                           startsOf(stack, rows, trip), shape);
}

Value DealtLoop::putRows(Value stack, Value update, StackRows rows,
                         Value trip) {
  if (!trip)
    return update;
  return stablehlo::DynamicUpdateSliceOp::create(builder, loc, stack.getType(),
                                                 stack, update,
                                                 startsOf(stack, rows, trip));
}

Value DealtLoop::numberAt(const Induction &number, Type type, Value trip) {
  // Of part p: p * trips + trip, or from the end.
  auto line = RankedTensorType::get({parts}, builder.getI32Type());
  auto constant = [&](int64_t value) {
    return splat(builder, loc, line, builder.getI32IntegerAttr(value));
  };
  Value at = stablehlo::IotaOp::create(builder, loc, line, 0);
  if (isReversed)
    at = stablehlo::SubtractOp::create(builder, loc, constant(parts - 1), at);
  at = stablehlo::MulOp::create(builder, loc, at, constant(trips));
  if (trip)
    at = stablehlo::AddOp::create(
        builder, loc, at,
        stablehlo::BroadcastInDimOp::create(builder, loc, line, trip,
                                            ArrayRef<int64_t>()));
  Type element = getElementTypeOrSelf(type);
  at = convertType(builder, loc, at, line.clone(element));
  auto scalar = [&](int64_t value) {
    return splat(builder, loc, line.clone(element),
                 builder.getIntegerAttr(element, value));
  };
  if (number.step != 1)
    at = stablehlo::MulOp::create(builder, loc, at, scalar(number.step));
  if (number.first != 0)
    at = stablehlo::AddOp::create(builder, loc, at, scalar(number.first));
  return at;
}

//===----------------------------------------------------------------------===//
// Trips
//===----------------------------------------------------------------------===//

LogicalResult DealtLoop::emitTrip(Batcher &batcher, Value trip,
                                  const Operations &needed) {
  for (auto [number, carried] : llvm::enumerate(scan.carried)) {
    BlockArgument argument = scan.body().getArgument(number);
    if (carried.kind == Kind::Same)
      batcher.share(argument, scan.loop->getOperand(number));
    if (carried.kind == Kind::Number && !argument.use_empty())
      batcher.vary(argument,
                   numberAt(*carried.induction, argument.getType(), trip));
  }
  for (Operation &op : scan.body()) {
    if (!needed.contains(&op))
      continue;
    auto rows = taken.find(&op);
    if (rows != taken.end())
      batcher.vary(op.getResult(0), rowsAt(stackOf(&op), rows->second, trip));
    else if (failed(batcher.emit(last = &op)))
      return failure();
  }
  return success();
}

FailureOr<SmallVector<Value>> DealtLoop::emitLoop(ValueRange inits,
                                                  EmitTrip emit) {
  if (trips == 1)
    return emit(Value(), inits);
  auto number = [&](int64_t value) {
    return splat(builder, loc, RankedTensorType::get({}, builder.getI32Type()),
                 builder.getI32IntegerAttr(value));
  };
  SmallVector<Value> operands = {number(0)};
  llvm::append_range(operands, inits);
  SmallVector<Location> locs(operands.size(), loc);
  auto types = llvm::to_vector(ValueRange(operands).getTypes());
  auto loop = stablehlo::WhileOp::create(builder, loc, types, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCond(), {}, types, locs);
  Value isLeft = stablehlo::CompareOp::create(
      builder, loc, condition->getArgument(0), number(trips),
      stablehlo::ComparisonDirection::LT);
  stablehlo::ReturnOp::create(builder, loc, isLeft);
  Block *inside = builder.createBlock(&loop.getBody(), {}, types, locs);
  FailureOr<SmallVector<Value>> next =
      emit(inside->getArgument(0), inside->getArguments().drop_front());
  if (failed(next))
    return failure();
  Value trip =
      stablehlo::AddOp::create(builder, loc, inside->getArgument(0), number(1));
  next->insert(next->begin(), trip);
  stablehlo::ReturnOp::create(builder, loc, *next);
  return llvm::to_vector(ValueRange(loop->getResults().drop_front()));
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

Value DealtLoop::before(Value value, int64_t by, Reduction kind) {
  return rowsBefore(builder, loc, value, 0, by, isReversed, kind);
}

FailureOr<SmallVector<Value>> DealtLoop::emitStarts() {
  SmallVector<Value> inits, next;
  SmallVector<bool> hasSlope, isSelected;
  Batcher types(builder, parts);
  for (unsigned number : states) {
    next.push_back(scan.next(number));
    RankedTensorType type = types.typeOf(next.back().getType());
    inits.push_back(neutralBroadcast(builder, loc, type, Reduction::Sum));
    hasSlope.push_back(!StateSlope(scan, number).isSum());
    isSelected.push_back(StateSlope(scan, number).isSelected());
    if (hasSlope.back())
      inits.push_back(neutralBroadcast(builder, loc, type, Reduction::Mul));
  }
  Operations needed = sourcesOf(next);
  FailureOr<SmallVector<Value>> ends = emitLoop(
      inits,
      [&](Value trip, ValueRange carried) -> FailureOr<SmallVector<Value>> {
        Batcher batcher(builder, parts);
        SmallVector<Value> slopes;
        for (auto [index, number] : llvm::enumerate(states)) {
          batcher.vary(scan.body().getArgument(number), carried.front());
          carried = carried.drop_front();
          slopes.push_back(hasSlope[index] ? carried.front() : Value());
          carried = carried.drop_front(hasSlope[index]);
        }
        if (failed(emitTrip(batcher, trip, needed)))
          return failure();
        SmallVector<Value> after;
        for (auto [number, slope] : llvm::zip_equal(states, slopes)) {
          after.push_back(batcher.batched(scan.next(number)));
          if (slope)
            after.push_back(stablehlo::MulOp::create(
                builder, loc, StateSlope(scan, number).emit(batcher, builder),
                slope));
        }
        return after;
      });
  if (failed(ends))
    return failure();
  SmallVector<Value> starts;
  ArrayRef<Value> made = *ends;
  for (auto [index, number] : llvm::enumerate(states)) {
    Value rest = made[0], slope = hasSlope[index] ? made[1] : Value();
    made = made.drop_front(hasSlope[index] ? 2 : 1);
    auto passedOn = [&, selects = bool(isSelected[index])](Value by,
                                                           Value state) {
      return by ? passOn(builder, loc, by, state, selects) : state;
    };
    for (int64_t by = 1; by < parts; by *= 2) {
      Value earlier = passedOn(slope, before(rest, by, Reduction::Sum));
      rest = stablehlo::AddOp::create(builder, loc, earlier, rest);
      if (slope)
        slope = stablehlo::MulOp::create(builder, loc, slope,
                                         before(slope, by, Reduction::Mul));
    }
    Value start = before(rest, 1, Reduction::Sum),
          first = scan.loop->getOperand(number);
    if (!isNeutral(first, Reduction::Sum)) {
      Value all = passedOn(slope ? before(slope, 1, Reduction::Mul) : Value(),
                           types.batched(first));
      start = stablehlo::AddOp::create(builder, loc, start, all);
    }
    starts.push_back(start);
  }
  return starts;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

LogicalResult DealtLoop::emitParts(ValueRange starts) {
  SmallVector<unsigned> written = numbersOf(Kind::Written),
                        sums = numbersOf(Kind::Sum);
  SmallVector<Value> inits(starts), roots;
  Batcher types(builder, parts);
  for (unsigned number : states)
    roots.push_back(scan.next(number));
  for (unsigned number : written) {
    ScanValue &carried = scan.carried[number];
    roots.push_back(carried.update.getUpdate());
    SmallVector<int64_t> shape(shapeOf(scan.next(number)));
    shape[carried.written.dim] = trips * carried.written.rows;
    auto type = cast<RankedTensorType>(scan.next(number).getType());
    inits.push_back(neutralBroadcast(
        builder, loc, types.typeOf(type.clone(shape)), Reduction::Sum));
  }
  for (unsigned number : sums) {
    llvm::append_range(roots, scan.carried[number].terms());
    inits.push_back(neutralBroadcast(builder, loc,
                                     types.typeOf(scan.next(number).getType()),
                                     Reduction::Sum));
  }
  Operations needed = sourcesOf(roots);
  FailureOr<SmallVector<Value>> ends = emitLoop(
      inits,
      [&](Value trip, ValueRange carried) -> FailureOr<SmallVector<Value>> {
        Batcher batcher(builder, parts);
        for (auto [index, number] : llvm::enumerate(states))
          batcher.vary(scan.body().getArgument(number), carried[index]);
        if (failed(emitTrip(batcher, trip, needed)))
          return failure();
        SmallVector<Value> after;
        for (unsigned number : states)
          after.push_back(batcher.batched(scan.next(number)));
        carried = carried.drop_front(states.size());
        for (auto [index, number] : llvm::enumerate(written)) {
          ScanValue &stack = scan.carried[number];
          after.push_back(putRows(carried[index],
                                  batcher.batched(stack.update.getUpdate()),
                                  stack.written, trip));
        }
        carried = carried.drop_front(written.size());
        for (auto [index, number] : llvm::enumerate(sums)) {
          Value sum = carried[index];
          for (Value term : scan.carried[number].added)
            sum = stablehlo::AddOp::create(builder, loc, sum,
                                           batcher.batched(term));
          for (Value term : scan.carried[number].subtracted)
            sum = stablehlo::SubtractOp::create(builder, loc, sum,
                                                batcher.batched(term));
          after.push_back(sum);
        }
        return after;
      });
  if (failed(ends))
    return failure();
  ArrayRef<Value> made = *ends;
  auto pop = [&] {
    Value front = made.front();
    made = made.drop_front();
    return front;
  };
  for (unsigned number : states)
    results[number] = rowOf(builder, loc, pop(), 0, isReversed ? 0 : parts - 1);
  for (unsigned number : written)
    results[number] = fromParts(pop(), scan.carried[number].written,
                                scan.next(number).getType());
  for (unsigned number : sums)
    results[number] =
        stablehlo::AddOp::create(builder, loc, scan.loop->getOperand(number),
                                 sumOver(builder, loc, pop(), 0));
  return success();
}

LogicalResult DealtLoop::replace() {
  Operation *before = scan.loop->getPrevNode();
  results.resize(scan.carried.size());
  for (auto [slice, rows] : taken)
    if (Value &cut = stackOf(slice); !cut)
      cut = inParts(scan.outside(slice->getOperand(0)), rows);
  FailureOr<SmallVector<Value>> starts = SmallVector<Value>();
  if (!states.empty())
    starts = emitStarts();
  if (failed(starts) || failed(emitParts(*starts))) {
    while (scan.loop->getPrevNode() != before)
      scan.loop->getPrevNode()->erase();
    return failure();
  }
  for (auto [number, carried] : llvm::enumerate(scan.carried)) {
    if (carried.kind == Kind::Same)
      results[number] = scan.loop->getOperand(number);
    if (carried.kind == Kind::Number) {
      auto type = cast<RankedTensorType>(scan.next(number).getType());
      results[number] =
          splat(builder, loc, type,
                builder.getIntegerAttr(type.getElementType(),
                                       carried.induction->at(scan.trips)));
    }
  }
  scan.loop->replaceAllUsesWith(results);
  scan.loop->erase();
  return success();
}
