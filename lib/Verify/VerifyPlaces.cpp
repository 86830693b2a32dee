//===- VerifyPlaces.cpp - What is read is still there ---------------------===//
//
// Runs the program on places instead of numbers: every read must find what was
// written for it, communication, on whichever stream, from its start to its
// wait. Loops run as often as slots take to come round, branches one after the
// other. Where a `while` repeats its body, those inside run once: places do not
// depend on their iterations, so all that a second one can meet was met the
// first time.
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "Rows.h"

#include "sp/IR/AffineEvaluation.h"
#include "sp/IR/CarriedValues.h"
#include "sp/IR/PlacedValues.h"
#include "sp/IR/Program.h"
#include "sp/IR/RankIndices.h"
#include "sp/IR/Storage.h"
#include "sp/IR/Waits.h"
#include "sp/StableHLO/StableHLO.h"
#include "sp/Verify/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/SaveAndRestore.h"

namespace mlir::sp {
#define GEN_PASS_DEF_VERIFYPLACESPASS
#include "sp/Verify/Passes.h.inc"
} // namespace mlir::sp

using namespace mlir;
using namespace mlir::sp;

namespace {

class PlaceRun {
public:
  PlaceRun(func::FuncOp func, int64_t groupSize)
      : func(func),
        indices(getMesh(func->getParentOp()), /*rank=*/0, groupSize) {}

  LogicalResult run();

private:
  LogicalResult runBlock(Block &block);
  LogicalResult runOperation(Operation *op);
  LogicalResult runFor(scf::ForOp loop);
  LogicalResult runWhile(stablehlo::WhileOp loop);
  LogicalResult runBranches(Operation *op);
  LogicalResult runReshape(stablehlo::ReshapeOp op);
  /// Where the rows of a stack that `op` names begin; all of them lie in it.
  template <typename OpT>
  FailureOr<int64_t> rowsOf(OpT op, const Held &whole, int64_t bytes);
  /// Whether they begin where they lie.
  template <typename OpT>
  LogicalResult checkRows(OpT op, const Held &whole, int64_t offset,
                          int64_t bytes);
  LogicalResult runTake(TakeOp op);
  LogicalResult runPut(PutOp op);
  LogicalResult runFetch(FetchRowsStartOp op);
  LogicalResult runEvict(EvictRowsStartOp op);

  /// Where a value begins that is placed by the loops that run now.
  int64_t offsetOf(Value value) const;
  Held make(Value value, Operation *writer);
  LogicalResult writeResults(Operation *op);
  LogicalResult checkWhole(Operation *op, const Held &wanted, Type type);
  LogicalResult checkHeld(Operation *op, Value value);
  LogicalResult checkReads(Operation *op);
  /// Binds carried values, which must lie where the loop expects them.
  LogicalResult bind(Operation *loop, ValueRange targets,
                     ArrayRef<Held> sources);
  SmallVector<Held> lookup(ValueRange values) const;

  func::FuncOp func;
  Arena arena;
  DenseMap<Value, Held> held;
  /// Counters of the `scf.for` loops around, outermost first.
  SmallVector<int64_t> counters;
  RankIndices indices;
  /// Whether a `while` around has run its body before.
  bool isRepeated = false;
};

int64_t PlaceRun::offsetOf(Value value) const {
  return *evaluate(placeOf(value).getOffset().getValue(), counters);
}

Held PlaceRun::make(Value value, Operation *writer) {
  return arena.make(placeOf(value).getSpace(), offsetOf(value),
                    storageBytes(value.getType()), writer);
}

LogicalResult PlaceRun::checkHeld(Operation *op, Value value) {
  return checkWhole(op, held.at(value), value.getType());
}

LogicalResult PlaceRun::checkWhole(Operation *op, const Held &wanted,
                                   Type type) {
  std::optional<Operation *> damage = arena.findDamage(wanted);
  if (!damage)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "expected " << wanted.bytes << " bytes of a " << type
                        << " at offset " << wanted.offset
                        << ", which something else has overwritten";
  if (*damage)
    diagnostic.attachNote((*damage)->getLoc()) << "written here";
  return diagnostic;
}

LogicalResult PlaceRun::checkReads(Operation *op) {
  for (Value operand : op->getOperands())
    if (isTensor(operand) && failed(checkHeld(op, operand)))
      return failure();
  return success();
}

/// Writes results, which may only meet operands that `op` writes over.
LogicalResult PlaceRun::writeResults(Operation *op) {
  for (Value result : op->getResults()) {
    if (!isTensor(result))
      continue;
    Held made = make(result, op);
    held[result] = made;
    arena.put(made);
  }
  for (auto [onto, result] : continuedBy(op))
    if (held[result].offset != held[onto->get()].offset)
      return op->emitOpError()
             << "expected the "
             << cast<ContinuationOpInterface>(op).nameContinued()
             << " to be continued in place";
  for (Value result : op->getResults())
    if (isTensor(result) && failed(checkHeld(op, result)))
      return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()) && !isOverwritten(operand) &&
        failed(checkHeld(op, operand.get())))
      return failure();
  return success();
}

SmallVector<Held> PlaceRun::lookup(ValueRange values) const {
  SmallVector<Held> found;
  for (Value value : values)
    if (isTensor(value))
      found.push_back(held.at(value));
  return found;
}

LogicalResult PlaceRun::bind(Operation *loop, ValueRange targets,
                             ArrayRef<Held> sources) {
  unsigned index = 0;
  for (Value target : targets) {
    if (!isTensor(target))
      continue;
    int64_t offset = offsetOf(target);
    const Held &source = sources[index];
    if (offset != source.offset || placeOf(target).getSpace() != source.space)
      return loop->emitOpError()
             << "expected carried value " << index << " at offset "
             << source.offset << ", where it was computed, but got " << offset;
    held[target] = source;
    ++index;
    if (failed(checkHeld(loop, target)))
      return failure();
  }
  return success();
}

LogicalResult PlaceRun::runFor(scf::ForOp loop) {
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  // Two slots: as many iterations as tell the last slot.
  int64_t count =
      std::max<int64_t>(indices.evaluate(loop.getUpperBound()) - *first, 0);
  count = count > 3 ? 2 + count % 2 : count;
  SmallVector<Held> carried = lookup(loop.getInitArgs());
  Block &body = *loop.getBody();
  for (int64_t step = 0; step < count; ++step) {
    counters.push_back(*first + step);
    indices.setCounter(loop.getInductionVar(), *first + step);
    if (failed(bind(loop, body.getArguments(), carried)) ||
        failed(runBlock(body)))
      return failure();
    counters.pop_back();
    carried = lookup(body.getTerminator()->getOperands());
  }
  // Where turns are not known results that nobody reads may lie elsewhere.
  bool isKnown = loop.getStaticTripCount().has_value();
  SmallVector<Value> results;
  SmallVector<Held> left;
  unsigned number = 0;
  for (OpResult result : loop.getResults()) {
    if (!isTensor(result))
      continue;
    if (isKnown || !result.use_empty()) {
      results.push_back(result);
      left.push_back(carried[number]);
    }
    ++number;
  }
  return bind(loop, results, left);
}

LogicalResult PlaceRun::runWhile(stablehlo::WhileOp loop) {
  SmallVector<Held> carried = lookup(loop->getOperands());
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  llvm::SaveAndRestore repeating(isRepeated, isRepeated);
  for (int64_t step = 0, steps = isRepeated ? 1 : 3; step < steps; ++step) {
    isRepeated |= step > 0;
    if (failed(bind(loop, cond.getArguments(), carried)) ||
        failed(runBlock(cond)) ||
        failed(bind(loop, body.getArguments(), carried)) ||
        failed(runBlock(body)))
      return failure();
    carried = lookup(body.getTerminator()->getOperands());
  }
  return bind(loop, loop->getResults(), carried);
}

LogicalResult PlaceRun::runBranches(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (failed(runBlock(region.front())) ||
        failed(bind(op, op->getResults(),
                    lookup(region.front().getTerminator()->getOperands()))))
      return failure();
  }
  return success();
}

LogicalResult PlaceRun::runReshape(stablehlo::ReshapeOp op) {
  int64_t offset = offsetOf(op.getResult());
  // A copy: the new entry may move the others.
  Held operand = held.at(op.getOperand());
  held[op.getResult()] = operand;
  if (offset == operand.offset)
    return success();
  return op.emitOpError() << "expected the offset of its operand, "
                          << held[op.getResult()].offset << ", but got "
                          << offset;
}

template <typename OpT>
FailureOr<int64_t> PlaceRun::rowsOf(OpT op, const Held &whole, int64_t bytes) {
  int64_t row = indices.evaluate(op.getAt()),
          begin = whole.offset +
                  row * rowBytesOf(op.getWhole().getType(), op.getDim());
  if (begin >= whole.offset && begin + bytes <= whole.end())
    return begin;
  return op.emitOpError() << "expected row " << row << " of " << bytes
                          << " bytes within the stack, from offset "
                          << whole.offset << " to " << whole.end()
                          << ", but it begins at " << begin;
}

template <typename OpT>
LogicalResult PlaceRun::checkRows(OpT op, const Held &whole, int64_t offset,
                                  int64_t bytes) {
  FailureOr<int64_t> begin = rowsOf(op, whole, bytes);
  if (failed(begin) || *begin == offset)
    return begin;
  return op.emitOpError() << "expected rows of the stack at offset " << *begin
                          << " but got offset " << offset;
}

LogicalResult PlaceRun::runTake(TakeOp op) {
  Held whole = held.at(op.getWhole());
  int64_t offset = offsetOf(op.getResult()), bytes = storageBytes(op.getType());
  if (failed(checkRows(op, whole, offset, bytes)))
    return failure();
  held[op.getResult()] = whole.part(offset, bytes);
  return success();
}

/// The rows lie in the stack already; all else of it is what it was.
LogicalResult PlaceRun::runPut(PutOp op) {
  Held whole = held.at(op.getWhole()), block = held.at(op.getBlock());
  int64_t offset = offsetOf(op.getResult());
  if (offset != whole.offset)
    return op.emitOpError() << "expected the stack to be continued in place";
  if (failed(checkRows(op, whole, block.offset, block.bytes)))
    return failure();
  held[op.getResult()] = whole.with(block);
  return checkHeld(op, op.getResult());
}

/// Of the stack it is only the rows that are read.
LogicalResult PlaceRun::runFetch(FetchRowsStartOp op) {
  const Held &whole = held.at(op.getWhole());
  int64_t bytes = storageBytes(op.getResult().getType());
  FailureOr<int64_t> begin = rowsOf(op, whole, bytes);
  if (failed(begin))
    return failure();
  Held rows = whole.part(*begin, bytes);
  if (failed(checkWhole(op, rows, op.getWhole().getType())))
    return failure();
  held[op.getResult()] = make(op.getResult(), op);
  arena.put(held[op.getResult()]);
  return checkWhole(op, rows, op.getWhole().getType());
}

/// The block becomes rows of the stack, of which the others stay.
LogicalResult PlaceRun::runEvict(EvictRowsStartOp op) {
  Held whole = held.at(op.getWhole());
  int64_t bytes = storageBytes(op.getBlock().getType());
  if (offsetOf(op.getResult()) != whole.offset)
    return op.emitOpError() << "expected the stack to be continued in place";
  FailureOr<int64_t> begin = rowsOf(op, whole, bytes);
  if (failed(begin) || failed(checkHeld(op, op.getBlock())))
    return failure();
  Held rows = arena.make(Space::Far, *begin, bytes, op);
  arena.put(rows);
  held[op.getResult()] = whole.with(rows);
  return checkHeld(op, op.getResult());
}

LogicalResult PlaceRun::runOperation(Operation *op) {
  if (auto put = dyn_cast<PutOp>(op))
    return runPut(put);
  if (auto fetch = dyn_cast<FetchRowsStartOp>(op))
    return runFetch(fetch);
  if (auto evict = dyn_cast<EvictRowsStartOp>(op))
    return runEvict(evict);
  if (failed(checkReads(op)))
    return failure();
  if (auto take = dyn_cast<TakeOp>(op))
    return runTake(take);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return runWhile(loop);
  if (isa<stablehlo::CaseOp, stablehlo::IfOp>(op))
    return runBranches(op);
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    return runReshape(reshape);
  auto wait = dyn_cast<WaitOp>(op);
  if (!wait)
    return writeResults(op);
  // What was started reads and writes until now.
  Operation *start = wait.getToken().getDefiningOp();
  if (!start)
    return op->emitOpError() << "expected the token of a started operation";
  for (Value result : start->getResults())
    if (isTensor(result) && failed(checkHeld(op, result)))
      return failure();
  for (OpOperand &operand : start->getOpOperands())
    if (isTensor(operand.get()) && !isOverwritten(operand) &&
        failed(checkHeld(op, operand.get())))
      return failure();
  return success();
}

LogicalResult PlaceRun::runBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOperation(&op)))
      return failure();
  return success();
}

/// Turns of larger groups lie as those of smaller ones.
static constexpr int64_t kMostGroup = 5;

LogicalResult PlaceRun::run() {
  Block &body = func.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    held[argument] = make(argument, func);
    arena.put(held[argument]);
  }
  if (failed(runBlock(body)))
    return failure();
  // The caller's arguments are still there, for the next run, but for those
  // that results replace.
  for (BlockArgument argument : body.getArguments())
    if (!donatedTo(func, argument.getArgNumber()) &&
        failed(checkHeld(func, argument)))
      return failure();
  return success();
}

struct VerifyPlacesPass
    : mlir::sp::impl::VerifyPlacesPassBase<VerifyPlacesPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = findProgram(getOperation());
    if (failed(func) || failed(checkLayouts(getOperation())) ||
        failed(checkWaits((*func).getBody())) || failed(checkRows(*func)) ||
        failed(checkPlaces(*func)))
      return signalPassFailure();
    for (int64_t size : groupSizesToProve(getOperation(), kMostGroup))
      if (failed(PlaceRun(*func, size).run()))
        return signalPassFailure();
  }
};

} // namespace
